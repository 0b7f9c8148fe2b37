import { execFileSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { textOf } from '../delivery/stage.ts';
import { proves, verifies } from '../verifies.ts';
import type { LoadedInbox } from '../../src/loaded-inbox.ts';
import { Shell } from './shell.ts';

async function untilQueued(ear: LoadedInbox): Promise<void> {
  for await (const record of ear.watch({ after: 0 })) if (record.body.type === 'system_notification_queued') return;
}

describe('send', () => {
  proves('cli:commands');

  it('queues the notification, names the receiver, and keeps the notification in the log', async () => {
    await using shell = new Shell();
    expect(await shell.says(['send', '--to', 'coder', '--id', 'b1', 'the', 'build', 'failed'])).toBe(
      'b1  queued for shop/coder\n',
    );
    const ear = await shell.open();
    expect((await ear.open('shop/coder'))[0]?.notification).toMatchObject({
      id: 'b1',
      level: 'info',
      kind: { source: 'user', name: 'message' },
      message: 'the build failed',
    });
  });

  it('for an agent that was never seen, suggests a similar name', async () => {
    await using shell = new Shell();
    const ear = await shell.open();
    await ear.conversation('shop/claude-code').seen();
    expect(await shell.run(['send', '--to', 'claud-code', '--id', 'n1', 'hello'])).toEqual({
      code: 0,
      stdout: 'n1  queued for shop/claud-code\n',
      stderr:
        'earpiece: no agent shop/claud-code has been seen yet; did you mean shop/claude-code? To withdraw the notification: earpiece withdraw n1\n',
    });
    for (const to of ['claude-code', 'claude-code#s2', 'other/claud-code', 'shop/*'])
      await shell.says(['send', '--to', to, 'hello']);
  });

  it('accepts every field of a notification', async () => {
    await using shell = new Shell();
    const before = Date.now();
    const flags = ['--level', 'error', '--kind', 'ci.failed', '--key', 'ci', '--supersede', '--data', '{"run":7}'];
    const more = [
      '--action',
      'pause',
      '--instruction',
      'wait',
      '--deliver',
      'turns:2',
      '--ttl',
      '1h',
      '--purpose',
      'review',
      '--as',
      'anna',
    ];
    const { code, stderr } = await shell.run(['send', '--to', 'shop/coder#s1', ...flags, ...more, 'hold on']);
    expect({ code, stderr }).toEqual({
      code: 0,
      stderr: 'earpiece: --deliver has no effect, because an interrupt waits for no moment; leave --deliver out\n',
    });
    const ear = await shell.open();
    const [item] = await ear.open('shop/coder');
    expect(item?.audience).toBe('s1');
    expect(item?.notification).toMatchObject({
      level: 'error',
      kind: { source: 'ci', name: 'failed' },
      key: 'ci',
      supersede: true,
      data: { run: 7 },
      action: 'pause',
      instruction: 'wait',
      deliver: { afterTurns: 2 },
      purpose: 'review',
      origin: { person: 'anna' },
    });
    expect(item?.notification.expiresAt).toBeGreaterThanOrEqual(before + 3_600_000);
    expect(item?.notification.expiresAt).toBeLessThan(Date.now() + 3_600_000 + 1);
  });

  it('--data reaches the model, without what `redact` matches', async () => {
    proves('view:data');
    await using shell = new Shell('redact = ["sk-[a-z0-9]+"]\n');
    const gateway = await shell.gateway({ args: ['--as', 'coder'], client: 'claude-code' });
    await shell.says(['send', '--to', 'coder', '--kind', 'ci.failed', '--data', '{"build":12,"key":"sk-abc123"}', 'CI failed']);
    const read = textOf(await gateway.call('echo', { text: 'x' }));
    expect(read).toMatch(/ci info: CI failed\n {4}data: \{"build":12,"key":"[^"]*"\}\n/);
    expect(read).not.toContain('sk-abc123');
    await shell.says(['send', '--to', 'coder', '--data', '{"build":13}', 'x']);
    // The gateway confirms the first delivery 250 ms after its answer.
    await expect.poll(async () => (await shell.json(['inbox', 'coder'])).map(({ data }) => data)).toEqual([{ build: 13 }]);
    expect(textOf(await gateway.call('get_notifications'))).toContain('"data":{"build":13}');
  });

  it.each([
    { given: ['--action', 'pause'], level: 'critical' },
    { given: ['--action', 'cancel'], level: 'critical' },
    { given: ['--action', 'resume'], level: 'info' },
    { given: ['--action', 'pause', '--level', 'warning'], level: 'warning' },
    { given: [], level: 'info' },
  ])('with $given, the level is $level', async ({ given, level }) => {
    await using shell = new Shell();
    await shell.says(['send', '--to', 'shop/coder#s1', ...given, 'hold on']);
    const ear = await shell.open();
    const [item] = await ear.open('shop/coder');
    expect(item?.notification.level).toBe(level);
    expect(item?.notification.expiresAt === null).toBe(level === 'critical');
  });

  it.each([[['send', '--to', 'coder']], [['send', '--to', 'coder', '-']]])('reads its text from stdin: %j', async (args) => {
    await using shell = new Shell();
    await shell.says(args, { input: 'two\nlines\n\n' });
    const ear = await shell.open();
    expect((await ear.open('shop/coder')).map((item) => item.notification.message)).toEqual(['two\nlines']);
  });

  it('names a person without the blanks around the name', async () => {
    await using shell = new Shell();
    await shell.says(['send', '--to', 'coder', '--action', 'pause', '--as', ' Ann', 'hold on']);
    const ear = await shell.open();
    expect((await ear.open('shop/coder')).map(({ notification }) => notification.origin?.person)).toEqual(['Ann']);
    expect(await shell.json(['resume', 'coder', '--as', 'Ann '])).toMatchObject([{ person: 'Ann' }]);
    expect(await shell.json(['tasks', 'add', '--as', ' Ann ', 'Fix it'])).toMatchObject([{ createdBy: { name: 'Ann' } }]);
  });

  it('accepts a message that begins with "-" after --', async () => {
    await using shell = new Shell();
    await shell.says(['send', '--to', 'coder', '--', '-5', 'degrees']);
    const ear = await shell.open();
    expect((await ear.open('shop/coder'))[0]?.notification.message).toBe('-5 degrees');
  });

  it('reports a fold into another notification, and a repeated id', async () => {
    await using shell = new Shell();
    const first = ['send', '--to', 'coder', '--key', 'k', '--id', 'k1', 'one'];
    await shell.says(first);
    expect(await shell.says(first)).toBe('k1  was already queued for shop/coder; nothing changed\n');
    expect(await shell.says(['send', '--to', 'coder', '--key', 'k', '--id', 'k2', 'two'])).toBe(
      'k2  counted into k1, which waits for shop/coder\n',
    );
    expect(await shell.json(first)).toEqual([{ kind: 'duplicate', id: 'k1', to: ['shop/coder'] }]);
    expect(await shell.json(['send', '--to', 'coder', '--key', 'k', '--id', 'k3', 'three'])).toEqual([
      { kind: 'folded', id: 'k3', into: 'k1', to: ['shop/coder'] },
    ]);
  });

  verifies('queue:own-id', "a pause with the id of an agent's notification is refused and pauses nothing", async () => {
    await using shell = new Shell();
    await shell.says(['send', '--to', 'coder', '--id', 'stop-now', 'hi'], {
      env: { EARPIECE_HANDLE: 'h1', EARPIECE_HANDLE_OF: 'shop/coder' },
    });
    const pause = ['send', '--to', 'coder', '--as', 'anna', '--action', 'pause', 'stop', '--id'];
    expect(await shell.run([...pause, 'stop-now'])).toMatchObject({
      code: 12,
      stdout: '',
      stderr: expect.stringContaining(
        'id "stop-now" belongs to a notification from the agent shop/coder in shop/coder; this notification has another sender, so it was not queued; choose another id',
      ) as unknown,
    });
    expect(await shell.says([...pause, 'stop-2'])).toBe('stop-2  queued for shop/coder\n');
    expect(await shell.says([...pause, 'stop-2'])).toBe('stop-2  was already queued for shop/coder; nothing changed\n');
  });

  it("sends to every active conversation in the repository's project, and to no other conversation", async () => {
    await using shell = new Shell();
    const ear = await shell.open();
    await ear.conversation('shop/coder#s1').seen();
    await ear.conversation('shop/writer#s2').seen();
    await ear.conversation('other/coder#s3').seen();
    await ear.conversation('shop/gone#s4').ended();
    execFileSync('git', ['init', '-q'], { cwd: shell.folder });
    const deep = join(shell.folder, 'src', 'deep');
    mkdirSync(deep, { recursive: true });
    const [queued] = await shell.json(['send', 'to all'], { cwd: deep });
    expect(queued).toMatchObject({ kind: 'queued', to: ['shop/coder#s1', 'shop/writer#s2'] });
  });

  it('by default sends to the address of the configuration or the environment', async () => {
    await using shell = new Shell('address = "coder"');
    expect(await shell.json(['send', 'x'])).toMatchObject([{ to: ['shop/coder'] }]);
    expect(await shell.json(['send', 'x'], { env: { EARPIECE_ADDRESS: 'shop/writer#w' } })).toMatchObject([
      { to: ['shop/writer#w'] },
    ]);
  });

  verifies(
    'address:nobody',
    'if no agent would get the notification, the error says what to do, and the exit code is 5',
    async () => {
      await using shell = new Shell();
      const { code, stdout, stderr } = await shell.run(['send', 'is anybody there']);
      expect({ code, stdout }).toEqual({ code: 5, stdout: '' });
      expect(stderr).toBe(
        'earpiece: no conversation is active in project "shop"; start an agent that is connected (earpiece install connects coding agents), or name one agent: shop/<agent> keeps the notification until that agent arrives (--to names the agent)\n',
      );
      const ear = await shell.open();
      await ear.conversation('shop/coder#s1').ended();
      expect((await shell.run(['send', 'and now'])).stderr).toContain(
        'name one agent: shop/coder keeps the notification until that agent returns (--to names the agent)\n',
      );
    },
  );
});

describe('send --wait', () => {
  proves('cli:send-wait', 'cli:exit-codes');

  it('exits with 0 when a message to the agent carries the notification during the wait', async () => {
    await using shell = new Shell();
    const gateway = await shell.gateway({ env: { EARPIECE_ADDRESS: 'shop/coder#main' } });
    const sent = shell.run([
      'send',
      '--to',
      'coder',
      '--id',
      'n1',
      '--wait',
      'delivered',
      '--timeout',
      '20s',
      'the build has ended',
    ]);
    const ear = await shell.open();
    await untilQueued(ear);
    await gateway.call('echo', { text: 'x' });
    expect(await sent).toEqual({ code: 0, stdout: 'n1  queued for shop/coder; delivered\n', stderr: '' });
  });

  it('exits with 0 when the agent reads the notification in its inbox', async () => {
    await using shell = new Shell();
    const sent = shell.begin(['send', '--to', 'coder', '--id', 'n1', '--wait', 'read', '--timeout', '20s', '--json', 'stop']);
    const ear = await shell.open();
    await untilQueued(ear);
    await shell.says(['inbox'], { env: { EARPIECE_ADDRESS: 'shop/coder' } });
    const { code, stdout } = await sent.ended;
    expect({ code, answer: JSON.parse(stdout) as unknown }).toEqual({
      code: 0,
      answer: { kind: 'queued', id: 'n1', to: ['shop/coder'], receipt: 'read' },
    });
  });

  it('exits with 3 at the time limit, while the notification still waits', async () => {
    await using shell = new Shell();
    const args = ['send', '--to', 'coder', '--id', 'n1', '--wait', 'delivered', '--timeout', '50ms', 'x'];
    expect(await shell.run(args)).toEqual({
      code: 3,
      stdout: 'n1  queued for shop/coder; not delivered within 50ms: the notification is still waiting\n',
      stderr: '',
    });
    const ear = await shell.open();
    expect((await ear.open('shop/coder')).map((item) => item.id)).toEqual(['n1']);
  });

  it('exits with 4 when the notification ended without delivery', async () => {
    await using shell = new Shell();
    const sent = shell.begin(['send', '--to', 'coder', '--id', 'n1', '--wait', 'delivered', '--timeout', '20s', 'x']);
    const ear = await shell.open();
    await untilQueued(ear);
    await ear.withdraw('shop/coder', { id: 'n1' }, { by: 'test', reason: 'no longer' });
    expect(await sent.ended).toMatchObject({
      code: 4,
      stdout: 'n1  queued for shop/coder; the notification ended as withdrawn, not delivered\n',
    });
  });

  it('exits with 4 when the notification expires during the wait', async () => {
    await using shell = new Shell();
    expect(
      await shell.run(['send', '--to', 'coder', '--id', 'n1', '--ttl', '100ms', '--wait', 'delivered', '--timeout', '60s', 'x']),
    ).toEqual({ code: 4, stdout: 'n1  queued for shop/coder; the notification ended as expired, not delivered\n', stderr: '' });
  });

  it('if an id was counted into another notification, waits for that notification, also when the id is sent again', async () => {
    await using shell = new Shell();
    const ear = await shell.open();
    await ear.queue('shop/coder', { id: 'k1', key: 'k', message: 'one' });
    await ear.queue('shop/coder', { id: 'k2', key: 'k', message: 'two' });
    await ear.conversation('shop/coder#main').carry({ type: 'chat_request', content: 'hi' }, { at: 'turn_start' });
    expect(await shell.run(['send', '--to', 'coder', '--key', 'k', '--id', 'k2', '--wait', 'delivered', 'two'])).toMatchObject({
      code: 0,
      stdout: 'k2  was already queued for shop/coder; nothing changed; delivered\n',
    });
  });
});
