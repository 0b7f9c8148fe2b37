import { setTimeout as passing } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { logKey } from '../../src/core/address.ts';
import { ASKED_AGAIN_MS } from '../../src/inbox/conversation/gate.ts';
import { PERSON, Stage, textOf } from './stage.ts';
import { proves } from '../verifies.ts';

const LOG = logKey('shop', 'coder');

describe('the gate', () => {
  it('refuses 8 calls after an interrupt, with one delivery and 7 repetitions; get_notifications lowers the gate', async () => {
    proves('gate:refuses', 'gate:one-text', 'gate:own-tools', 'gate:lowered', 'pull:fields');
    await using stage = new Stage();
    const ear = await stage.open();
    const gateway = await stage.gateway();
    await gateway.call('echo', { text: 'before' });
    const sent = await stage.run([
      'send',
      '--to',
      'shop/coder',
      '--id',
      'stop',
      '--action',
      'cancel',
      '--as',
      'Ann',
      '--instruction',
      'put the tools down',
      'stop it',
    ]);
    expect(sent.code).toBe(0);

    const refused = await Promise.all(Array.from({ length: 8 }, (_, i) => gateway.call('echo', { text: `after ${i}` })));
    expect(stage.calls()).toEqual([{ tool: 'echo', text: 'before' }]);
    expect(new Set(refused.map((r) => textOf(r))).size).toBe(1);
    expect(refused.every((r) => r.isError === true)).toBe(true);
    expect(refused.map((r) => r._meta?.['earpiece/notifications'])).toEqual(Array.from({ length: 8 }, () => ['stop']));
    expect(await ear.store.read({ log: LOG, types: ['gate_refused'] })).toHaveLength(8);
    expect(await ear.store.read({ log: LOG, types: ['carrier_offered'] })).toHaveLength(1);

    const pulled = JSON.parse(textOf(await gateway.call('get_notifications'))) as { count: number; notifications: object[] };
    expect(pulled).toMatchObject({
      success: true,
      count: 1,
      notifications: [{ id: 'stop', type: 'interrupt', action: 'cancel', instruction: 'put the tools down' }],
    });
    expect(textOf(await gateway.call('echo', { text: 'again' }))).toBe('again');
    expect(stage.calls().map((c) => c.text)).toEqual(['before', 'again']);
    expect((await ear.why('stop'))?.items[0]?.receipt).toBe('read');
  });

  it('a refusal names the tool that lowers the gate as the client does, even if the server has a tool of that name', async () => {
    proves('gate:own-tools');
    await using stage = new Stage();
    const ear = await stage.open();
    const gateway = await stage.gateway({ env: { ALSO: 'get_notifications' } });
    const { tools } = (await gateway.request('tools/list', {})) as { tools: readonly { name: string }[] };
    const ours = tools.at(-1)?.name ?? '';
    expect(ours).toBe('earpiece_get_notifications');
    await gateway.call('echo', { text: 'before' });
    await ear.queue('shop/coder#main', { id: 'stop', message: 'stop it', level: 'critical' });
    expect(textOf(await gateway.call('echo', { text: 'refused' }))).toContain(
      'earpiece_get_notifications lets calls through again.',
    );
    expect(textOf(await gateway.call(ours))).toContain('stop it');
    expect(textOf(await gateway.call('get_notifications', { text: "the server's own" }))).toBe("the server's own");
    for (let i = 0; i < 14; i++) await ear.queue('shop/coder#main', { message: `note ${i}`, kind: `ci${i}.done` });
    expect(textOf(await gateway.call('echo', { text: 'x' }))).toMatch(/4 more: [^;]+; read with earpiece_get_notifications$/mu);
  });

  it('a running call returns its result and the interrupt; the next call is refused', async () => {
    proves('gate:before');
    await using stage = new Stage();
    const ear = await stage.open();
    const gateway = await stage.gateway();
    const running = gateway.call('echo', { text: 'running', held: true });
    // The server has the call by now, because frames arrive in order.
    await gateway.request('ping', {});
    await ear.queue('shop/coder#main', { id: 'stop', message: 'stop it', level: 'critical' });
    await gateway.request('release', {});
    const result = textOf(await running);
    expect(result).toMatch(/^running\n.*stop it/s);
    const refused = await gateway.call('echo', { text: 'next' });
    expect(refused.isError).toBe(true);
    expect(textOf(refused)).toContain('stop it');
    expect(stage.calls().map((c) => c.text)).toEqual(['running']);
  });

  it('with interrupt = "after", the call is made once, and its result is withheld and can be read later', async () => {
    proves('gate:after', 'pull:rest');
    await using stage = new Stage();
    stage.config('interrupt = "after"\n');
    expect((await stage.run(['trust'])).stdout).toContain('interrupt');
    const ear = await stage.open();
    const gateway = await stage.gateway();
    await ear.queue('shop/coder#main', { id: 'stop', message: 'stop it', action: 'cancel' });
    const replaced = await gateway.call('echo', { text: 'done it' });
    expect(textOf(replaced)).toContain('stop it');
    expect(textOf(replaced)).toContain('this call was made; its result is withheld until you have read this interrupt');
    expect(textOf(replaced)).not.toContain('was not made');
    expect(textOf(replaced)).not.toContain('done it');
    expect(stage.calls()).toEqual([{ tool: 'echo', text: 'done it' }]);
    const why = (await stage.run(['why', 'stop'])).stdout;
    expect(why).toContain('so far 1 tool call was made and its result is withheld');
    expect(why).toContain('echo: the call was made, and the agent got the interrupt afterwards');
    const log = (await stage.run(['log', '--all'])).stdout;
    expect(log).toMatch(/withheld.*result of echo:echo: the call was made, and the agent got the interrupt afterwards/u);
    expect(`${why}${log}`).not.toMatch(/\brefused\b/u);
    const pulled = JSON.parse(textOf(await gateway.call('get_notifications'))) as {
      withheld_results: { tool: string; result: string }[];
    };
    expect(pulled.withheld_results).toHaveLength(1);
    expect(pulled.withheld_results[0]?.result).toContain('done it');
    expect(textOf(await gateway.call('echo', { text: 'on' }))).toBe('on');
    expect(stage.calls()).toHaveLength(2);
    expect((await stage.run(['why', 'stop'])).stdout).toContain('in place of the result of echo:echo, which ran');
  });

  it('an interrupt that is withdrawn before the agent read it does not arrive', async () => {
    await using stage = new Stage();
    const gateway = await stage.gateway();
    await stage.run(['send', '--to', 'shop/coder', '--id', 'stop', '--action', 'cancel', '--key', 'task:1', 'blocked']);
    expect((await stage.run(['withdraw', '--key', 'task:1', '--to', 'shop/coder'], PERSON)).stdout).toContain('withdrawn');
    expect(textOf(await gateway.call('echo', { text: 'on' }))).toBe('on');
  });

  it('signal mode adds a fixed field and a text that repeats until get_notifications has shown the details', async () => {
    proves('pull:signal');
    await using stage = new Stage();
    stage.config('view = "signal_ja"\n');
    expect((await stage.run(['trust', '--yes'])).code).toBe(0);
    const ear = await stage.open();
    const gateway = await stage.gateway({ client: 'gemini-cli-mcp-client' });
    const quiet = await gateway.call('echo', { text: 'x' });
    expect([quiet.notification, quiet.content.length]).toEqual(['通知はありません', 1]);
    await ear.queue('shop/coder#main', { id: 'n1', message: 'hello' });
    for (let i = 0; i < 3; i++) {
      const result = await gateway.call('echo', { text: 'x' });
      expect(result.notification).toBe('【重要】通知があります。get_notifications を呼び出して確認してください。');
      expect(result.content[1]?.text).toBe(result.notification);
    }
    expect(textOf(await gateway.call('get_notifications'))).toContain('hello');
    expect((await gateway.call('echo', { text: 'x' })).notification).toBe('通知はありません');

    await ear.queue('shop/coder#main', { id: 'stop', message: 'stop', action: 'cancel' });
    expect(textOf(await gateway.call('echo', { text: 'x' }))).toBe(
      '通知があります。\n\n1. get_notifications() を呼び出して詳細を確認してください\n2. 通知の指示に従ってください',
    );
  });

  it('signal mode: an interrupt during a call is in its result, and only get_notifications lowers the gate', async () => {
    proves('pull:signal');
    await using stage = new Stage();
    stage.config('view = "signal_en"\n');
    expect((await stage.run(['trust', '--yes'])).code).toBe(0);
    const ear = await stage.open();
    const gateway = await stage.gateway();
    const stands = 'An interrupt is unread: tool calls are refused until you have called get_notifications.';
    const first = gateway.call('echo', { text: 'first', held: true });
    await gateway.request('ping', {});
    await ear.queue('shop/coder#main', { id: 'stop', message: 'do not drop the table', level: 'critical' });
    await gateway.request('release', {});
    const result = await first;
    expect(textOf(result)).toMatch(/^first\n/u);
    expect(textOf(result)).toContain(stands);
    expect(result.notification).toContain(stands);

    // In signal mode, the refusal shows no message, so a later call does not prove that the model has read the interrupt.
    expect((await gateway.call('echo', { text: 'refused' })).isError).toBe(true);
    // The wait is part of the test. Outside of signal mode, a call this long after a refusal proves that the model has read the
    // interrupt.
    await passing(ASKED_AGAIN_MS + 200);
    expect((await gateway.call('echo', { text: 'refused again' })).isError).toBe(true);
    expect(stage.calls().map(({ text }) => text)).toEqual(['first']);
    expect(textOf(await gateway.call('get_notifications'))).toContain('do not drop the table');
    expect(textOf(await gateway.call('echo', { text: 'on' }))).toBe('on');
  });

  it('signal mode: a call in flight reports a pause for which another call was refused', async () => {
    await using stage = new Stage();
    stage.config('view = "signal_en"\n');
    expect((await stage.run(['trust', '--yes'])).code).toBe(0);
    const gateway = await stage.gateway();
    const first = gateway.call('echo', { text: 'first', held: true });
    await gateway.request('ping', {});
    await stage.run(['send', '--to', 'shop/coder', '--action', 'pause', 'wait'], { env: { EARPIECE_ADDRESS: '' } });
    expect((await gateway.call('echo', { text: 'second' })).isError).toBe(true);
    await gateway.request('release', {});
    expect(textOf(await first)).toContain('A pause holds: no tool runs until a person lifts it');
  });

  it('signal mode with interrupt = "after" says that the call was made and its result is withheld', async () => {
    proves('gate:after');
    await using stage = new Stage();
    stage.config('view = "signal_en"\ninterrupt = "after"\n');
    expect((await stage.run(['trust', '--yes'])).code).toBe(0);
    const ear = await stage.open();
    const gateway = await stage.gateway();
    await ear.queue('shop/coder#main', { id: 'stop', message: 'stop', action: 'cancel' });
    expect(textOf(await gateway.call('echo', { text: 'done it' }))).toContain(
      'This call was made; its result is withheld until you have called get_notifications. Do not repeat the call.',
    );
    expect(stage.calls().map(({ text }) => text)).toEqual(['done it']);
    expect(textOf(await gateway.call('get_notifications'))).toContain('done it');
  });
});
