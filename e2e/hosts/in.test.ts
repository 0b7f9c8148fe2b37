/** Tests `earpiece in` with Claude Code's real terminal, in which Earpiece and the person type. */
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { find } from '../model/find.ts';
import { proves } from '../verifies.ts';
import { address, earpiece, entry, hookCommand, send } from './earpiece.ts';
import { inClaudeTerminal, type ClaudeTerminal } from './terminal.ts';

const EVENTS = ['SessionStart', 'UserPromptSubmit', 'PreToolUse', 'PostToolBatch', 'Stop', 'SessionEnd'];
/** A person's message wakes an idle agent, even if the policy wakes no agent for the message's level. */
const toWake = ['--kind', 'user.message', '--as', 'Anna'];

async function inEarpiece(use: (terminal: ClaudeTerminal, database: string) => Promise<void>): Promise<void> {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'earpiece-in-test-'));
  const database = path.join(folder, 'earpiece.db');
  const command = hookCommand('claude', database);
  try {
    await inClaudeTerminal(
      {
        mcpServers: {},
        hooks: { commands: Object.fromEntries(EVENTS.map((event) => [event, command])) },
        env: { EARPIECE_ADDRESS: address, EARPIECE_DB: database },
        under: [process.execPath, entry, 'in', '--'],
        script: [{ text: 'FIRST-DONE' }, { text: 'SECOND-DONE' }, { text: 'THIRD-DONE' }],
      },
      (terminal) => use(terminal, database),
    );
  } finally {
    fs.rmSync(folder, { recursive: true, force: true });
  }
}

describe('an idle agent in the terminal of `earpiece in`', () => {
  test('is woken by one typed line, and reads the waiting notifications once', async () => {
    proves('hosts:in');
    await inEarpiece(async (terminal, database) => {
      const { home, shows, enter } = terminal;
      await shows((screen) => screen.includes('❯'));
      await enter('Begin');
      await shows((screen) => screen.includes('FIRST-DONE'));
      await send(home, database, 'WORD-WAKE the build ended', ...toWake);
      await shows((screen) => screen.includes('SECOND-DONE'));
      expect(find(terminal.main, 'WORD-WAKE').inLast).toBe(1);
      expect(find(terminal.main, 'Earpiece: notifications wait for you.').inLast).toBe(1);
      expect(await earpiece(home, database, 'inbox', '--all')).not.toContain('WORD-WAKE');
    });
  });

  test('keeps the text that its person has started to type', async () => {
    proves('hosts:in');
    await inEarpiece(async (terminal, database) => {
      const { home, shows, enter, type } = terminal;
      await shows((screen) => screen.includes('❯'));
      await enter('Begin');
      await shows((screen) => screen.includes('FIRST-DONE'));
      type('a half-written ques');
      await shows((screen) => screen.includes('a half-written ques'));
      const before = terminal.main.length;
      await send(home, database, 'WORD-WAKE the build ended', ...toWake);
      type('tion');
      await shows((screen) => screen.includes('a half-written question'));
      expect(terminal.main.length).toBe(before);
      type('\r');
      await shows((screen) => screen.includes('SECOND-DONE'));
      expect(find(terminal.main, 'WORD-WAKE').inLast).toBe(1);
      expect(find(terminal.main, 'Earpiece: notifications wait for you.').inLast).toBe(0);
    });
  });
});
