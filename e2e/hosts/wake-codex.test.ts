/** Tests an idle Codex terminal, which Earpiece wakes through the queue of the Codex session. */
import { describe, expect, test } from 'vitest';
import { find } from '../model/find.ts';
import { proves } from '../verifies.ts';
import { earpiece, send } from './earpiece.ts';
import { temporaryDatabase, withHooks } from './hooked.ts';
import { processesOf } from './processes.ts';
import { inTerminal } from './terminal.ts';

describe('an idle Codex terminal', () => {
  test('wakes once for a notification that may wake an agent, and not for other notifications', async () => {
    proves('hosts:wake-codex');
    using database = temporaryDatabase();
    const { hooks, env } = withHooks('codex', database.path);
    await inTerminal(
      'codex',
      {
        mcpServers: {},
        hooks: hooks ?? {},
        env: { ...env, EARPIECE_DB: database.path },
        script: [{ text: 'FIRST-DONE' }, { text: 'SECOND-DONE' }, { text: 'THIRD-DONE' }],
      },
      async (terminal) => {
        const { home, shows, enter } = terminal;
        const waiters = (): number => processesOf(home).filter(({ command }) => command.includes('--beside')).length;
        await shows((screen) => screen.includes('mock-model'));
        await enter('Begin');
        await shows((screen) => screen.includes('FIRST-DONE'));
        await send(home, database.path, 'WORD-INFO can wait');
        await send(home, database.path, 'WORD-WAKE the build ended', '--kind', 'user.message', '--as', 'Anna');
        await shows((screen) => screen.includes('SECOND-DONE'));
        expect([find(terminal.main, 'WORD-WAKE').inLast, find(terminal.main, 'WORD-INFO').inLast]).toEqual([1, 1]);
        expect(find(terminal.main, 'Earpiece: notifications wait for you.').inLast).toBe(1);
        expect(await earpiece(home, database.path, 'inbox', '--all')).not.toContain('WORD-WAKE');
        expect(waiters()).toBe(1);
        await enter('Go on');
        await shows((screen) => screen.includes('THIRD-DONE'));
        expect(terminal.main).toHaveLength(3);
        expect(waiters()).toBe(1);
      },
    );
  });
});
