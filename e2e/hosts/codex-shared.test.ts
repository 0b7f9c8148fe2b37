/** Tests Codex terminals whose sessions run in the server that all terminals share. */
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { find } from '../model/find.ts';
import { proves } from '../verifies.ts';
import { earpiece, entry } from './earpiece.ts';
import { temporaryDatabase, withHooks } from './hooked.ts';
import { processesOf } from './processes.ts';
import { inTerminal, type Screen, type TerminalOptions } from './terminal.ts';

/**
 * Returns the options for Codex with its shared server, Earpiece's hooks and Earpiece's MCP server. Each session follows the
 * same script.
 */
const options = (database: string): TerminalOptions => {
  const { hooks, env } = withHooks('codex', database);
  const mine = { ...env, EARPIECE_DB: database };
  return {
    mcpServers: { earpiece: { command: process.execPath, args: [entry, 'mcp'], env: mine } },
    hooks: hooks ?? {},
    env: mine,
    asksForHooks: true,
    script: [
      { text: 'FIRST-DONE' },
      { calls: [{ mcp: 'earpiece', tool: 'get_notifications', args: {} }] },
      { text: 'SECOND-DONE' },
      { text: 'THIRD-DONE' },
    ],
  };
};

const AN_AGENT = expect.stringContaining('#') as string;

async function trustHooks({ shows, type }: Screen): Promise<void> {
  await shows((screen) => screen.includes('Trust all and continue'));
  // Codex drops keys that arrive just after the question.
  await sleep(1_000);
  type('\u001B[B');
  await shows((screen) => /› 2\. Trust all/.test(screen));
  type('\r');
}

async function prompts({ shows, enter }: Screen, line: string, answer: string): Promise<void> {
  await shows((screen) => screen.includes('mock-model default'));
  await enter(line);
  await shows((screen) => screen.includes(answer));
}

describe('a Codex terminal with the shared server', () => {
  test('is one conversation, wakes when idle, and is not active after its terminal has closed', async () => {
    proves('hosts:codex-shared');
    using database = temporaryDatabase();
    await inTerminal('codex', options(database.path), async (terminal) => {
      const { home, shows, enter, ended } = terminal;
      const say = (message: string): Promise<string> =>
        earpiece(home, database.path, 'send', '--to', 'fixture/*', '--kind', 'user.message', '--as', 'Anna', message);
      await trustHooks(terminal);
      await prompts(terminal, 'Begin', 'FIRST-DONE');
      expect(processesOf(home).some(({ command }) => command.includes('--managed-daemon'))).toBe(true);
      expect((await say('WORD-WAKE the build ended')).match(/fixture\/agent#/g)).toHaveLength(1);
      await shows((screen) => screen.includes('SECOND-DONE'));
      expect(find(terminal.main, 'WORD-WAKE').inLast).toBe(1);
      await enter('/quit');
      await ended;
      await expect(say('WORD-LATE')).rejects.toThrow('no conversation is active');
    });
  });

  test('does not end the session of another terminal in its folder when it resumes a session', async () => {
    using database = temporaryDatabase();
    await inTerminal('codex', options(database.path), async (terminal) => {
      const agents = async (): Promise<readonly string[]> =>
        (await earpiece(terminal.home, database.path, 'agents', '--all')).match(/●.*/g) ?? [];
      await trustHooks(terminal);
      await prompts(terminal, 'Begin', 'FIRST-DONE');
      const second = terminal.another();
      await prompts(second, 'Begin here', 'FIRST-DONE');
      expect(await agents()).toEqual([AN_AGENT, AN_AGENT]);
      await second.enter('/quit');
      await second.ended;
      // Earpiece counts a session that began within 2 s of its terminal as the terminal's own first session.
      await sleep(3_000);
      const resumed = terminal.another('resume', '--last');
      await prompts(resumed, 'Go on here', 'SECOND-DONE');
      expect(await agents()).toEqual([AN_AGENT, AN_AGENT]);
      await prompts(terminal, 'Go on', 'SECOND-DONE');
      expect(await agents()).toEqual([AN_AGENT, AN_AGENT]);
    });
  });
});
