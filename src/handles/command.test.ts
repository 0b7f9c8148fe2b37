import { expect, it } from 'vitest';
import { parseCommand, spawnedId } from './command.ts';
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
