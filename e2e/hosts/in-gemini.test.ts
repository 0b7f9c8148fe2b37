/** `earpiece in` with Gemini CLI's real terminal, which takes a quick Enter as a line break. */
import { setTimeout as pause } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { find } from '../model/find.ts';
import { proves } from '../verifies.ts';
import { entry, send } from './earpiece.ts';
import { temporaryDatabase, withHooks } from './hooked.ts';
import { inTerminal } from './terminal.ts';

test('an idle Gemini CLI is woken by one line that is sent', async () => {
  proves('hosts:in-enter');
  using database = temporaryDatabase();
  const { hooks, env } = withHooks('gemini', database.path);
  await inTerminal(
    'gemini',
    {
      mcpServers: {},
      hooks: hooks ?? {},
      env: { ...env, EARPIECE_DB: database.path },
      under: [process.execPath, entry, 'in', '--'],
      script: [{ text: 'FIRST-DONE' }, { text: 'SECOND-DONE' }, { text: 'THIRD-DONE' }],
    },
    async (terminal) => {
      const { home, shows, type } = terminal;
      await shows((screen) => screen.includes('Type your message'));
      type('Begin');
      await shows((screen) => screen.includes('Begin'));
      // The pause of a person: Gemini CLI takes an Enter within 30 ms of a key as a line break.
      await pause(100);
      type('\r');
      await shows((screen) => screen.includes('FIRST-DONE'));
      await send(home, database.path, 'WORD-WAKE the build ended', '--kind', 'user.message', '--as', 'Anna');
      await shows((screen) => screen.includes('SECOND-DONE'));
      expect(find(terminal.main, 'WORD-WAKE').inLast).toBe(1);
    },
  );
});
