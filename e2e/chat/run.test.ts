import { describe, expect, it } from 'vitest';
import { parsed } from '../cli/shell.ts';
import { proves } from '../verifies.ts';
import { call, ChatStage, count, Hold, readIn, text } from './stage.ts';

describe('earpiece run', { timeout: 90_000 }, () => {
  proves('run:exit-codes');

  it('prints its answer on stdout and its actions on stderr', async () => {
    await using stage = await ChatStage.open([
      { says: [text('I look.'), call('c1', 'run', { command: 'echo one; echo two' })] },
      { says: [text('Two lines.')] },
    ]);
    const { code, stdout, stderr } = await stage.run(['run', 'what', 'does it say?']);
    expect(code).toBe(0);
    expect(stdout).toBe('I look.\nTwo lines.\n');
    expect(stderr.trim()).toBe('⚙ run  echo one; echo two · one …');
    expect(readIn(stage.model.requests[0])).toContain('what does it say?');
  });

  it('reads its task from stdin, alone or after the words of the command line', async () => {
    await using stage = await ChatStage.open([{ says: [text('ok')] }]);
    expect(await stage.run(['run'], { input: 'from stdin\n' })).toMatchObject({ code: 0, stdout: 'ok\n' });
    expect(await stage.run(['run', 'describe', 'this:', '-'], { input: 'from stdin\n' })).toMatchObject({ code: 0 });
    expect(stage.model.requests.map((request) => readIn(request).split('\n').slice(-3).join('|'))).toEqual([
      expect.stringMatching(/from stdin$/u),
      'describe this:||from stdin',
    ]);
    expect(await stage.run(['run'], { input: ' ' })).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('stdin is empty'),
    });
  });

  it('with --json prints events, and finally how the turn ended', async () => {
    await using stage = await ChatStage.open([
      { refuses: { status: 400, body: { error: { message: 'no', type: 'invalid_request_error' } } } },
    ]);
    const { code, stdout, stderr } = await stage.run(['run', '--json', 'go']);
    expect({ code, stderr }).toEqual({ code: 1, stderr: '' });
    const events = parsed(stdout);
    expect(events[0]).toMatchObject({ type: 'opened' });
    expect(events.find(({ type }) => type === 'turn_ended')).toMatchObject({ how: 'failed' });
  });

  it.each([
    {
      ends: 'length',
      how: 'truncated',
      exit: 9,
      line: '✗ the answer is not complete: the answer reached its limit of output tokens',
    },
    { ends: 'refusal', how: 'refused', exit: 10, line: '✗ there is no answer: the provider refused to answer (content_filter)' },
  ] as const)(
    'an answer that ends with $ends has its own exit code, line on stderr and word in JSON',
    async ({ ends, how, exit, line }) => {
      proves('agent:endings');
      await using stage = await ChatStage.open([{ says: [text('the first half')], ends }]);
      const plain = await stage.run(['run', 'go']);
      expect(plain).toMatchObject({ code: exit, stdout: 'the first half\n', stderr: expect.stringContaining(line) });
      const json = await stage.run(['run', '--json', 'go']);
      expect(json.code).toBe(exit);
      expect(parsed(json.stdout).find(({ type }) => type === 'turn_ended')).toMatchObject({ how, error: expect.any(String) });
      expect(await stage.run(['chat'], { input: 'go\n' })).toMatchObject({ code: exit, stdout: expect.stringContaining(line) });
    },
  );

  it('--resume without a task continues an unfinished turn, and reports when there is none', async () => {
    const hold = new Hold();
    await using stage = await ChatStage.open([
      { says: [text('the first of many words')], at: [{ part: 0, delta: 2, do: hold.stop }] },
      { says: [text('and the rest')] },
    ]);
    const run = stage.begin(['run', 'go']);
    await hold.reached;
    run.process.kill('SIGKILL');
    await run.ended;
    expect(await stage.run(['run', '--resume'], { input: '' })).toMatchObject({ code: 0, stdout: 'and the rest\n' });
    expect(await stage.run(['run', '--resume'], { input: '' })).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('has ended; write the next prompt: earpiece run --resume'),
    });
    expect(stage.model.requests).toHaveLength(2);
  });

  it('Ctrl+C stops it with 130, and the partial work is kept', async () => {
    const hold = new Hold();
    await using stage = await ChatStage.open([
      { says: [text('the first of many words')], at: [{ part: 0, delta: 2, do: hold.stop }] },
      { says: [text('more')] },
    ]);
    const run = stage.begin(['run', 'go']);
    await hold.reached;
    await run.shows('the first');
    run.process.kill('SIGINT');
    expect(await run.ended).toMatchObject({ code: 130, signal: null, stdout: 'the first \n' });
    const late = await stage.run(['run', '--resume', '--timeout', '30s', 'go on']);
    expect(late).toMatchObject({ code: 0, stdout: 'more\n' });
    expect(readIn(stage.model.requests[1])).toContain('the first');
  });

  it('exits with 3 when it runs longer than --timeout', async () => {
    const hold = new Hold();
    await using stage = await ChatStage.open([{ says: [text('never')], before: hold.stop }]);
    const { code, stderr } = await stage.run(['run', '--timeout', '1s', 'go']);
    expect(code).toBe(3);
    expect(stderr).toMatch(
      /earpiece: stopped: the turn did not end within 1s; to continue the turn: earpiece run --resume run-\d{8}-\d{6}/u,
    );
    hold.letGo();
  });

  it('waits for its background tools', async () => {
    await using stage = await ChatStage.open([
      { says: [call('c1', 'run', { command: 'sleep 1; echo done > done', action: 'spawn', id: 'build' })] },
      { says: [text('It builds.')] },
    ]);
    expect(await stage.run(['run', 'build it'])).toMatchObject({ code: 0, stdout: 'It builds.\n' });
    expect((await stage.says(['log', 'coder'])).includes('lost')).toBe(false);
  });

  it('carries the waiting notifications of its agent', async () => {
    await using stage = await ChatStage.open([{ says: [text('I have heard.')] }]);
    await stage.send('--kind', 'ci.failed', '--level', 'error', 'lint is red');
    const { code, stderr } = await stage.run(['run', 'go']);
    expect(code).toBe(0);
    expect(stderr).toMatch(/┃ ▲ error ci\.failed, unnamed │ lint is red\n┃ {3}delivered with your message/u);
    expect(count(readIn(stage.model.requests[0]), 'lint is red')).toBe(1);
  });
});
