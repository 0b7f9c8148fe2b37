/** Tests an idle Codex terminal, which Earpiece wakes through the queue of the Codex session. */
import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { openLoadedInbox } from '../../src/loaded-inbox.ts';
import { find } from '../model/find.ts';
import { proves } from '../verifies.ts';
import { address, earpiece, send } from './earpiece.ts';
import { temporaryDatabase, withHooks } from './hooked.ts';
import { processesOf } from './processes.ts';
import { inTerminal } from './terminal.ts';

/** The time within which a waiting process looks at a notification. */
const LOOKED_MS = 4_000;

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

  test('gets no queued line after Esc, because Codex would send the line after the next prompt', async () => {
    proves('hosts:wake-codex-esc');
    using database = temporaryDatabase();
    const { hooks, env } = withHooks('codex', database.path);
    const { promise: isAsked, resolve: asked } = Promise.withResolvers<void>();
    const { promise: held, resolve: answer } = Promise.withResolvers<undefined>();
    await inTerminal(
      'codex',
      {
        mcpServers: {},
        hooks: hooks ?? {},
        env: { ...env, EARPIECE_DB: database.path },
        script: [{ text: 'FIRST-DONE' }, { text: 'SECOND-DONE' }],
        onRequest: async ({ text }) => {
          if (!text.includes('Interrupt me') || text.includes('Go on')) return undefined;
          asked();
          return held;
        },
      },
      async (terminal) => {
        const { home, shows, enter, type } = terminal;
        await shows((screen) => screen.includes('mock-model'));
        await enter('Begin');
        await shows((screen) => screen.includes('FIRST-DONE'));
        await enter('Interrupt me');
        await isAsked;
        type('\u001B');
        await shows((screen) => screen.includes('Conversation interrupted'));
        answer(undefined);
        await send(home, database.path, 'WORD-WAKE the build ended', '--kind', 'user.message', '--as', 'Anna');
        await pause(LOOKED_MS);
        await enter('Go on');
        await shows((screen) => screen.includes('SECOND-DONE'));
        expect([find(terminal.main, 'WORD-WAKE').inLast, find(terminal.main, 'Earpiece: notifications wait').inLast]).toEqual([
          1, 0,
        ]);
        // Codex reads its queue every 10 s, so a queued line would start a turn only later. The record precedes the line.
        await using ear = await openLoadedInbox({ db: database.path, cwd: database.folder, env: { HOME: database.folder } });
        expect(await ear.store.read({ log: address as never, types: ['agent_woken'] })).toEqual([]);
      },
    );
  });
});
