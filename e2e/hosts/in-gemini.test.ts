/** Tests `earpiece in` with Gemini CLI's real terminal, which takes a quick Enter as a line break. */
import { setTimeout as pause } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { find } from '../model/find.ts';
import { proves } from '../verifies.ts';
import { earpiece, entry, send } from './earpiece.ts';
import { temporaryDatabase, withHooks } from './hooked.ts';
import { end, processesOf } from './processes.ts';
import { inTerminal, type AgentTerminal } from './terminal.ts';

const NUDGE = 'Earpiece: notifications wait for you.';
/** A person's message wakes an idle agent, even if the policy wakes no agent for the message's level. */
const TO_WAKE = ['WORD-WAKE the build ended', '--kind', 'user.message', '--as', 'Anna'] as const;

/** Wakes an idle Gemini CLI, and calls `use` at once. */
const woken = (use: (terminal: AgentTerminal) => Promise<void>): Promise<void> =>
  idle(async (terminal, database) => {
    await send(terminal.home, database, ...TO_WAKE);
    await use(terminal);
  });

/** Starts Gemini CLI, and calls `use` after its first turn. */
async function idle(use: (terminal: AgentTerminal, database: string) => Promise<void>): Promise<void> {
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
      const { shows, type } = terminal;
      await shows((screen) => screen.includes('Type your message'));
      type('Begin');
      await shows((screen) => screen.includes('Begin'));
      await enter(terminal);
      await shows((screen) => screen.includes('FIRST-DONE'));
      await use(terminal, database.path);
    },
  );
}

/** Presses Enter as late as a person does, because Gemini CLI takes an Enter within 30 ms of a key as a line break. */
async function enter({ type }: AgentTerminal): Promise<void> {
  await pause(100);
  type('\r');
}

test('an idle Gemini CLI is woken by one typed line, and reads the waiting notifications once', async () => {
  proves('hosts:in', 'hosts:in-enter');
  await idle(async (terminal, database) => {
    const { home, shows } = terminal;
    await send(home, database, ...TO_WAKE);
    await shows((screen) => screen.includes('SECOND-DONE'));
    expect([find(terminal.main, 'WORD-WAKE').inLast, find(terminal.main, NUDGE).inLast]).toEqual([1, 1]);
    expect(await earpiece(home, database, 'inbox', '--all')).not.toContain('WORD-WAKE');
  });
});

test('an idle Gemini CLI keeps the text that its person has started to type', async () => {
  proves('hosts:in');
  await idle(async (terminal, database) => {
    const { home, shows, type } = terminal;
    type('a half-written ques');
    await shows((screen) => screen.includes('a half-written ques'));
    const before = terminal.main.length;
    await send(home, database, ...TO_WAKE);
    type('tion');
    await shows((screen) => screen.includes('a half-written question'));
    expect(terminal.main.length).toBe(before);
    await enter(terminal);
    await shows((screen) => screen.includes('SECOND-DONE'));
    expect([find(terminal.main, 'WORD-WAKE').inLast, find(terminal.main, NUDGE).inLast]).toEqual([1, 0]);
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

test.each([
  ['its terminal closes', ({ close }: AgentTerminal) => close()],
  [
    '`earpiece in` gets SIGTERM',
    ({ home }: AgentTerminal) =>
      processesOf(home).forEach(({ pid, command }) => command.includes(' in -- ') && end(pid, 'SIGTERM')),
  ],
])('Gemini CLI ends when %s', async (_, ending) => {
  proves('hosts:in-ends');
  await idle(async (terminal) => {
    ending(terminal);
    await terminal.ended;
    await expect.poll(() => processesOf(terminal.home).map(({ command }) => command), { timeout: 15_000 }).toEqual([]);
  });
});
