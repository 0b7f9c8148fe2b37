/** Codex terminals whose sessions run in the server that all terminals share. */
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { find } from '../model/find.ts';
import { proves } from '../verifies.ts';
import { earpiece, entry } from './earpiece.ts';
import { temporaryDatabase, withHooks } from './hooked.ts';
import { processesOf } from './processes.ts';
import { inTerminal } from './terminal.ts';

describe('a Codex terminal with the shared server', () => {
  test('is one conversation, wakes when idle, and is not active after its terminal has closed', async () => {
    proves('hosts:codex-shared');
    using database = temporaryDatabase();
    const { hooks, env } = withHooks('codex', database.path);
    const mine = { ...env, EARPIECE_DB: database.path };
    await inTerminal(
      'codex',
      {
        mcpServers: { earpiece: { command: process.execPath, args: [entry, 'mcp'], env: mine } },
        hooks: hooks ?? {},
        env: mine,
        asksForHooks: true,
        script: [
          { text: 'FIRST-DONE' },
          { calls: [{ mcp: 'earpiece', tool: 'get_notifications', args: {} }] },
          { text: 'SECOND-DONE' },
        ],
      },
      async (terminal) => {
        const { home, shows, enter, type, ended } = terminal;
        const say = (message: string): Promise<string> =>
          earpiece(home, database.path, 'send', '--to', 'fixture/*', '--kind', 'user.message', '--as', 'Anna', message);
        await shows((screen) => screen.includes('Trust all and continue'));
        // Codex drops keys that arrive just after the question.
        await sleep(1_000);
        type('\u001B[B');
        await shows((screen) => /› 2\. Trust all/.test(screen));
        type('\r');
        await shows((screen) => screen.includes('mock-model default'));
        await enter('Begin');
        await shows((screen) => screen.includes('FIRST-DONE'));
        expect(processesOf(home).some(({ command }) => command.includes('--managed-daemon'))).toBe(true);
        expect((await say('WORD-WAKE the build ended')).match(/fixture\/agent#/g)).toHaveLength(1);
        await shows((screen) => screen.includes('SECOND-DONE'));
        expect(find(terminal.main, 'WORD-WAKE').inLast).toBe(1);
        await enter('/quit');
        await ended;
        await expect(say('WORD-LATE')).rejects.toThrow('no conversation is active');
      },
    );
  });
});
