import { expect, it } from 'vitest';
import { parseCommand, spawnedId } from './command.ts';
import { runTool } from './run.ts';
import type { StatefulTool } from './stateful-tool.ts';

const tool: StatefulTool = {
  name: 'work',
  description: 'Works.',
  parameters: { properties: {} },
  actions: ['fetch'],
  spawns: () => true,
  run: async () => '',
};

it.each([[{ id: 'job' }], [{ id: 'job', action: null }], [{ id: 'job', action: 'spawn' }]])(
  'the command %j spawns a handle, and its batch knows the name',
  (raw) => {
    expect(parseCommand(tool, raw)).toMatchObject({ kind: 'spawn', id: 'job' });
    expect(spawnedId(tool, raw)).toBe('job');
  },
);

it('an argument that is null counts as left out', () => {
  const run = runTool();
  const nothing = { id: null, input: null, keys: null, from: null, lines: null, from_byte: null, bytes: null };
  const optional = { background: null, pty: null, stdin: null, cwd: null, timeout_secs: null };
  expect(parseCommand(run, { command: 'make', action: null, ...nothing, ...optional })).toMatchObject({ kind: 'call' });
  expect(parseCommand(run, { ...nothing, action: 'fetch', id: 'job' })).toEqual({ kind: 'fetch', id: 'job' });
  expect(parseCommand(run, { ...nothing, action: 'fetch' })).toMatchObject({
    kind: 'bad',
    message: 'run: fetch needs an id, the name of the handle',
  });
  expect(parseCommand(run, { ...nothing, action: 'apply', id: 'job' })).toMatchObject({
    kind: 'bad',
    message: 'run: apply needs input or keys',
  });
  expect(parseCommand(run, { command: null })).toMatchObject({
    kind: 'bad',
    message: 'run: command must be a command line, got null',
  });
});
