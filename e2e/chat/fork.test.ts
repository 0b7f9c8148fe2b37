import { describe, expect, it } from 'vitest';
import { prefixChanges } from '../model/prefix.ts';
import { proves } from '../verifies.ts';
import { ChatStage, count, Hold, readIn, text } from './stage.ts';

describe('earpiece chat --fork', { timeout: 120_000 }, () => {
  proves('log:fork', 'chat:fork');

  it("a fork begins as a copy: its model reads the original's history, and both conversations get each open notification once", async () => {
    await using stage = await ChatStage.open([
      { says: [text('One.')] },
      { says: [text('Two.')] },
      { says: [text('Two of the fork.')] },
      { says: [text('Three.')] },
    ]);
    await stage.send('--kind', 'ci.failed', '--level', 'error', 'lint is red');
    await stage.run(['chat', '--as', 'coder#first', '--system', 'Be brief.'], { input: 'first question\n' });
    await stage.run(['send', '--to', 'coder#first', '--kind', 'ci.failed', '--level', 'error', 'the build is red']);

    const fork = await stage.run(['chat', '--as', 'coder#second', '--fork', 'first'], { input: 'what of it?\n' });
    expect(fork).toMatchObject({ code: 0, stdout: expect.stringContaining('› first question\n') });
    const again = await stage.run(['chat', '--resume', 'first'], { input: 'and now?\n' });
    expect(again.code).toBe(0);

    const [first, forked, resumed] = stage.model.requests;
    expect(count(readIn(first), 'lint is red')).toBe(1);
    for (const request of [forked, resumed]) {
      expect(count(readIn(request), 'lint is red')).toBe(1);
      expect(count(readIn(request), 'the build is red')).toBe(1);
    }
    expect(count(readIn(forked), 'what of it?')).toBe(1);
    expect(count(readIn(resumed), 'what of it?')).toBe(0);
    for (const later of [forked, resumed]) expect(prefixChanges([first, later].flatMap((request) => request ?? []))).toEqual([]);

    const third = await stage.run(['chat', '--resume', 'second'], { input: 'go on\n' });
    expect(third.code).toBe(0);
    expect(prefixChanges([first, forked, stage.model.requests.at(-1)].flatMap((request) => request ?? []))).toEqual([]);
  });

  it('a fork up to a turn omits later turns and a turn that still runs', async () => {
    const hold = new Hold();
    await using stage = await ChatStage.open([
      { says: [text('One.')] },
      { says: [text('Two.')] },
      { says: [text('Half of an answ')], at: [{ part: 0, delta: 2, do: hold.stop }] },
      { says: [text('Other.')] },
    ]);
    const chat = stage.begin(['chat', '--as', 'coder#first']);
    chat.process.stdin.write('question one\n');
    await chat.shows('One.');
    chat.process.stdin.write('question two\n');
    await chat.shows('Two.');
    chat.process.stdin.write('question three\n');
    await hold.reached;

    const fork = await stage.run(['chat', '--as', 'coder', '--fork', 'first', '--turns', '1'], { input: 'another two\n' });
    expect(fork.code).toBe(0);
    const read = readIn(stage.model.requests.at(-1));
    expect(read).toContain('question one');
    expect(count(read, 'question two')).toBe(0);
    expect(count(read, 'another two')).toBe(1);
    chat.process.kill('SIGKILL');
  });

  it('a conversation that cannot be forked is refused, and the error names the conversations that can be forked', async () => {
    await using stage = await ChatStage.open([{ says: [text('One.')] }]);
    expect(await stage.run(['chat', '--fork'])).toMatchObject({
      code: 7,
      stderr: expect.stringContaining('shop/coder has no conversation to fork; without --fork, a new conversation begins'),
    });
    await stage.run(['chat', '--as', 'coder#first'], { input: 'hello\n' });
    const refused = async (...options: string[]): Promise<string> => {
      const { code, stderr } = await stage.run(['chat', ...options]);
      return `${code} ${stderr.trim()}`;
    };
    const mistakes: readonly (readonly [string[], RegExp])[] = [
      [['--fork', 'frist'], /^7 .*no conversation "frist"; the newest conversations are first$/u],
      [['--fork', 'first', '--turns', '2'], /^2 .*--turns must be at most 1, the number of turns of shop\/coder#first, got 2$/u],
      [['--fork', 'first', '--turns', 'x'], /^2 .*--turns "x" is not a whole number from 1 to 1000000/u],
      [['--turns', '2'], /^2 .*add --fork$/u],
      [['--fork', 'first', '--resume', 'first'], /^2 .*begins a copy of a conversation\), got both$/u],
      [['--as', 'coder#first', '--fork', 'first'], /^2 .*choose another name for the fork$/u],
    ];
    const answers = await Promise.all(mistakes.map(([options]) => refused(...options)));
    for (const [i, [, answer]] of mistakes.entries()) expect(answers[i]).toMatch(answer);
  });
});
