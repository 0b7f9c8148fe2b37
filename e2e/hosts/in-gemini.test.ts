/** Tests `earpiece in` with Gemini CLI's real terminal, which takes a quick Enter as a line break. */
import { setTimeout as pause } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { find } from '../model/find.ts';
import { proves } from '../verifies.ts';
import { entry, send } from './earpiece.ts';
import { temporaryDatabase, withHooks } from './hooked.ts';
import { inTerminal, type AgentTerminal } from './terminal.ts';

const NUDGE = 'Earpiece: notifications wait for you.';

/** Wakes an idle Gemini CLI, and calls `use` at once. */
async function woken(use: (terminal: AgentTerminal) => Promise<void>): Promise<void> {
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
      await enter(terminal);
      await shows((screen) => screen.includes('FIRST-DONE'));
      await send(home, database.path, 'WORD-WAKE the build ended', '--kind', 'user.message', '--as', 'Anna');
      await use(terminal);
    },
  );
}

/** Presses Enter as late as a person does, because Gemini CLI takes an Enter within 30 ms of a key as a line break. */
async function enter({ type }: AgentTerminal): Promise<void> {
  await pause(100);
  type('\r');
}

test('an idle Gemini CLI is woken by one typed line', async () => {
  proves('hosts:in-enter');
  await woken(async (terminal) => {
    await terminal.shows((screen) => screen.includes('SECOND-DONE'));
    expect(find(terminal.main, 'WORD-WAKE').inLast).toBe(1);
  });
});

test('keys that a person presses before the line is sent are in the next prompt of Gemini CLI', async () => {
  proves('hosts:in-keys');
  await woken(async (terminal) => {
    const { shows, type } = terminal;
    await shows((screen) => screen.includes(NUDGE));
    type('GINGER');
    type('BREAD');
    await shows((screen) => screen.includes('GINGERBREAD'));
    await enter(terminal);
    await shows((screen) => screen.includes('THIRD-DONE'));
    const prompts = terminal.main.map(({ text }) => [
      text.includes(NUDGE),
      text.includes('GINGERBREAD'),
      text.includes(`${NUDGE}GINGER`),
    ]);
    expect(prompts).toEqual([
      [false, false, false],
      [true, false, false],
      [true, true, false],
    ]);
  });
});
