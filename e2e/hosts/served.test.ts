/**
 * Tests a real Claude Code whose running MCP server answers the hook at the end of a batch. The tests run as installed, and
 * with this server missing or killed.
 */
import fs from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import type { Script } from '../model/script.ts';
import { textsOf } from '../model/texts.ts';
import { proves } from '../verifies.ts';
import { earpiece, entry } from './earpiece.ts';
import { installClaude } from './installed.ts';
import { end, processesOf } from './processes.ts';
import { run, type Run } from './run.ts';
import { told } from './told.ts';

const AGENT = 'work/claude-code';
const databaseIn = (home: string): string => path.join(home, '.local/state/earpiece/earpiece.db');

const send = (home: string, ...args: readonly string[]): Promise<string> =>
  earpiece(home, databaseIn(home), 'send', '--to', AGENT, ...args);

const SCRIPT: Script = [
  { calls: [{ shell: 'touch one' }, { shell: 'false' }] },
  { calls: [{ shell: 'touch two' }] },
  { calls: [{ shell: 'touch three' }] },
  { calls: [{ shell: 'touch refused' }] },
  { calls: [{ shell: 'touch five' }] },
  { text: 'ALL-DONE' },
];

/** Returns the name of the hook that gave the model this word. */
function placeOf(seen: Run, word: string): string | undefined {
  const last = seen.main.at(-1);
  const text = last === undefined ? undefined : textsOf(last).find((each) => each.message >= 0 && each.text.includes(word))?.text;
  return /(\w+)(?::\w+)? hook (?:additional context|error)/.exec(text ?? '')?.[1];
}

const SERVER = { earpiece: { command: process.execPath, args: [entry, 'mcp'] } };

test.for([
  { server: 'that runs', before: undefined, place: 'PostToolBatch' },
  { server: 'that is missing', before: undefined, place: 'PreToolUse' },
  { server: 'that was killed', before: 'kill', place: 'PostToolBatch' },
] as const)('Claude Code with a server $server reads each notification once, and a pause denies the next call', async (given) => {
  proves('hosts:served');
  using seen = await run('claude', {
    script: SCRIPT,
    mcpServers: given.server === 'that is missing' ? {} : SERVER,
    onPrepared: installClaude,
    async onToolStep({ step, home }) {
      if (step === 1) {
        await send(home, 'WORD-INFO the build ended');
        if (given.before === 'kill')
          for (const { pid, command } of processesOf(home)) if (command.endsWith(`${entry} mcp`)) end(pid, 'SIGKILL');
      }
      if (step === 3) await send(home, 'WORD-PAUSE wait for me', '--action', 'pause', '--level', 'critical');
      if (step === 4) await earpiece(home, databaseIn(home), 'resume', AGENT);
    },
  });
  expect({ exitCode: seen.exitCode, leftovers: seen.leftovers }).toEqual({ exitCode: 0, leftovers: [] });
  expect([told(seen, 'WORD-INFO'), told(seen, 'WORD-PAUSE')]).toEqual([1, 1]);
  if (given.before === undefined) expect(placeOf(seen, 'WORD-INFO')).toBe(given.place);
  expect(placeOf(seen, 'WORD-PAUSE')).toBe('PreToolUse');
  const files = fs.readdirSync(path.join(seen.home, 'work'));
  expect(files).toEqual(expect.arrayContaining(['one', 'two', 'three', 'five']));
  expect(files).not.toContain('refused');
});
