/** Tests `/clear` in Claude Code's real terminal: the context ends, but the process and its gateway continue. */
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { expect, test } from 'vitest';
import { find } from '../model/find.ts';
import { proves } from '../verifies.ts';
import { send, wrappedFixture } from './earpiece.ts';
import { inClaudeTerminal } from './terminal.ts';

test('after /clear the mark appears again, and a waiting notification arrives once', async () => {
  proves('hosts:clear');
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'earpiece-hosts-'));
  const database = path.join(folder, 'earpiece.db');
  const note = (text: string) => ({ calls: [{ mcp: 'fixture', tool: 'note', args: { text } }] });
  try {
    await inClaudeTerminal(
      { mcpServers: { fixture: wrappedFixture(database) }, script: [note('one'), note('two'), { text: 'ALL-DONE' }] },
      async (terminal) => {
        const { home, shows, enter } = terminal;
        await shows((screen) => screen.includes('❯'));
        await send(home, database, 'WORD-BEFORE the build ended');
        await enter('Take the first notes');
        await shows((screen) => screen.includes('ALL-DONE'));
        const before = terminal.main.length;
        await send(home, database, 'WORD-WAITING it waits while nobody asks');
        await enter('/clear');
        await shows((screen) => !screen.includes('ALL-DONE'));
        await send(home, database, 'WORD-AFTER it came behind the clear');
        await enter('Take the second notes');
        await shows((screen) => screen.includes('ALL-DONE'));

        const first = terminal.main.slice(0, before);
        const second = terminal.main.slice(before);
        expect(find(first, 'WORD-BEFORE').inLast).toBe(1);
        expect(find(second, 'WORD-BEFORE').inLast).toBe(0);
        expect(['WORD-WAITING', 'WORD-AFTER'].map((marker) => find(second, marker).counts)).toEqual([
          [0, 1, 1],
          [0, 1, 1],
        ]);
        // The new context contains the mark before its first frame, like the old context. Two messages of one kind within seconds
        // share a line.
        const mark = /\[ep (\w+)\] (?:1 notification|2 notifications),/.exec(second.at(-1)?.text ?? '')?.[1];
        const said = `in a frame with the mark ${mark}`;
        // The client's first request can leave before the server has answered, so only the later requests of the first context count.
        expect(find(first, said).counts.slice(1)).toEqual([1, 1]);
        expect(find(second, said).counts).toEqual([1, 1, 1]);
      },
    );
  } finally {
    fs.rmSync(folder, { recursive: true, force: true });
  }
});
