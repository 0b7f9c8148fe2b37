import { describe, expect, it } from 'vitest';
import { prefixChanges } from '../model/prefix.ts';
import { proves } from '../verifies.ts';
import { call, ChatStage, count, Hold, isAlive, readIn, text } from './stage.ts';

describe('earpiece chat --resume', { timeout: 120_000 }, () => {
  proves('chat:resume');

  it('continues the turn after kill -9: no notification is lost or repeated, and the prompt only grows', async () => {
    const hold = new Hold();
    await using stage = await ChatStage.open([
      {
        says: [
          text('I start it.'),
          call('c1', 'run', { command: 'echo $$ > pid; exec sleep 600', action: 'spawn', id: 'build' }),
        ],
      },
      { says: [text('Half of an answ')], at: [{ part: 0, delta: 2, do: hold.stop }] },
      { says: [text('It builds.')] },
      { says: [text('The build was lost, I start it again.')] },
    ]);
    await stage.send('--kind', 'ci.failed', '--level', 'error', 'lint is red');
    const chat = await stage.terminal(['chat']);
    await chat.shows('›');
    chat.type('build it\r');
    await hold.reached;
    const pid = await stage.pid('pid');
    expect(isAlive(pid)).toBe(true);
    await chat.kill();
    // The killed process could not end its background command, so the next process ends it.
    expect(isAlive(pid)).toBe(true);

    const again = await stage.terminal(['chat', '--resume']);
    await again.shows('I start it again.');
    expect(isAlive(pid)).toBe(false);
    expect(again.text).toMatch(
      /› build it\n⚙ 1 call\n┃ ▲ error ci\.failed, unnamed │ lint is red\nI start it\.\n\nThe last turn was cut off, and continues now\.\n/u,
    );
    expect(again.text).toMatch(/┃ ▲ error tool\.failed │ Background run "build" was lost when its agent ended; its process/u);

    const last = stage.model.requests.at(-1);
    expect(count(readIn(last), 'lint is red')).toBe(1);
    expect(count(readIn(last), 'was lost when its agent ended')).toBe(1);
    expect(prefixChanges(stage.model.requests)).toEqual([]);
  });

  it('uses the model and the system prompt that the conversation began with, and its history', async () => {
    await using stage = await ChatStage.open([{ says: [text('One.')] }, { says: [text('Two.')] }]);
    await stage.run(['chat', '--json', '--model', 'openai-chat:gpt-4.1', '--system', 'Be brief.'], { input: 'first\n' });
    const { code, stdout } = await stage.run(['chat', '--resume'], { input: 'second\n' });
    expect(code).toBe(0);
    // The message and the first check for notifications happen at about the same time. So a line about waiting notifications
    // may be printed before or after the message.
    expect(stdout).toMatch(
      /^shop\/coder#chat-\S+ · openai-chat:gpt-4\.1\n\n› first\nOne\.\n(?:\n┆ ○ info session\.resumed, agent shop\/coder │ [^\n]* waits for delivery\n)?\n› second\n\n(?:┆ [^\n]* waits for delivery\n)?┃ ○ info session\.resumed, agent shop\/coder │ session_resumed: \d+ entries loaded - last: \\?"first\\?"\n┃ {3}delivered with your message[^\n]*\n\nTwo\.\n$/u,
    );
    expect(stage.model.requests.map(({ path }) => path)).toEqual(['/v1/chat/completions', '/v1/chat/completions']);
    expect(prefixChanges(stage.model.requests)).toEqual([]);
  });

  it('an error names the existing conversations; a conversation that another process writes to is refused', async () => {
    await using stage = await ChatStage.open([{ says: [text('One.')] }]);
    expect(await stage.run(['chat', '--resume'])).toMatchObject({
      code: 7,
      stderr: expect.stringContaining('shop/coder has no conversation to resume'),
    });
    expect(await stage.run(['chat', '--resume', 'nope'])).toMatchObject({
      code: 7,
      stderr: expect.stringContaining('shop/coder has no conversation "nope"; without --resume, a new conversation begins'),
    });
    const chat = stage.begin(['chat', '--as', 'coder#first']);
    chat.process.stdin.write('hello\n');
    await chat.shows('One.');
    const { code, stderr } = await stage.run(['chat', '--resume', 'first']);
    expect(code).toBe(6);
    expect(stderr).toContain(`process ${chat.process.pid} already writes to shop/coder#first`);
    expect(await stage.run(['chat', '--resume', 'frist'])).toMatchObject({
      code: 7,
      stderr: expect.stringContaining('no conversation "frist"; the newest conversations are first'),
    });
    chat.process.stdin.end();
    expect(await chat.ended).toMatchObject({ code: 0 });
  });
});
