import { describe, expect, it } from 'vitest';
import { parsed } from '../cli/shell.ts';
import { proves } from '../verifies.ts';
import { ChatStage, text } from './stage.ts';

const { DatabaseSync } = process.getBuiltinModule('node:sqlite');

/** Makes each read of notifications fail (`broken`), or work again. */
function notifications(stage: ChatStage, state: 'broken' | 'whole'): void {
  const [from, to] = state === 'broken' ? ['items', 'hidden_items'] : ['hidden_items', 'items'];
  const db = new DatabaseSync(stage.db);
  db.exec('PRAGMA busy_timeout = 5000');
  db.exec(`ALTER TABLE ${from} RENAME TO ${to}`);
  db.close();
}

describe('a chat goes on after an error of the store', { timeout: 90_000 }, () => {
  proves('chat:scripts');

  it('in a terminal, a command shows the error', async () => {
    await using stage = await ChatStage.open([{ says: [text('Good.')] }]);
    const chat = await stage.terminal(['chat']);
    await chat.shows('›');
    notifications(stage, 'broken');
    chat.type('/pending\r');
    await chat.shows(/no such table/u);
    notifications(stage, 'whole');
    chat.type('/pending\r');
    await chat.shows('nothing waits');
    chat.type('\u0004');
    expect(await chat.ended).toBe(0);
  });

  it('without a terminal, a command prints the error on stderr', async () => {
    await using stage = await ChatStage.open([{ says: [text('Good.')] }]);
    const chat = stage.begin(['chat']);
    await chat.shows('openai:gpt-5');
    notifications(stage, 'broken');
    chat.process.stdin.write('/pending\n/help\n');
    await chat.shows('/quit');
    notifications(stage, 'whole');
    chat.process.stdin.end('/pending\n');
    const { code, stdout, stderr } = await chat.ended;
    expect(stderr).toMatch(/^earpiece: .*no such table/mu);
    expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringContaining('nothing waits') });
  });

  it('with --json, an order to wake prints the error as an event', async () => {
    await using stage = await ChatStage.open([{ says: [text('Good.')] }]);
    const chat = stage.begin(['chat', '--json']);
    await chat.shows('"type":"opened"');
    notifications(stage, 'broken');
    chat.process.stdin.write('{"type":"wake"}\n');
    await chat.shows('no such table');
    notifications(stage, 'whole');
    chat.process.stdin.end('{"type":"wake"}\n');
    const { code, stdout } = await chat.ended;
    expect(code).toBe(0);
    expect(parsed(stdout).at(-1)).toEqual({ type: 'error', message: 'there is no notification to deliver' });
  });
});
