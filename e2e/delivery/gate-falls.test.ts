/**
 * Tests at real gateways when the gate goes down. The waits are real too, because the gate depends on the time between a refusal
 * and a later call.
 */
import { setTimeout as passing } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { logKey } from '../../src/core/address.ts';
import { isType } from '../../src/core/records.ts';
import type { LoadedInbox } from '../../src/loaded-inbox.ts';
import { HttpGateway } from './http-gateway.ts';
import { PERSON, Stage, textOf, type ToolResult } from './stage.ts';
import { proves } from '../verifies.ts';

const LOG = logKey('shop', 'coder');

type Caller = { call(name: string, args?: object): Promise<ToolResult> };

const WAYS: readonly { name: string; open: (stage: Stage, stack: AsyncDisposableStack) => Promise<Caller> }[] = [
  { name: 'stdio', open: (stage) => stage.gateway() },
  {
    name: 'HTTP',
    open: async (stage, stack) => stack.use(await HttpGateway.start(stage)).client('some-agent'),
  },
];

const stop = (ear: LoadedInbox): Promise<unknown> =>
  ear.queue('shop/coder#main', { id: 'stop', message: 'stop it', level: 'critical' });

describe.each(WAYS)('the gate of an agent that never calls get_notifications, over $name', ({ open }) => {
  it("refuses a whole serial batch, and goes down at the model's next request; why prints the number of refusals", async () => {
    proves('gate:batch', 'gate:asked-again');
    await using stage = new Stage();
    await using stack = new AsyncDisposableStack();
    const ear = await stage.open();
    const client = await open(stage, stack);
    await client.call('echo', { text: 'before' });
    await stop(ear);
    for (const text of ['a', 'b', 'c']) {
      expect(textOf(await client.call('echo', { text }))).toContain('stop it');
      await passing(30);
    }
    expect(stage.calls().map(({ text }) => text)).toEqual(['before']);
    await passing(1_050);
    expect(textOf(await client.call('echo', { text: 'on' }))).toBe('on');
    expect((await stage.run(['why', 'stop'])).stdout).toMatch(
      /read.*asked again 1\.\d s after the last of 3 refusals, calling .*echo/,
    );
  });

  it('refuses no call for an interrupt that get_notifications has shown', async () => {
    proves('gate:read-unasked');
    await using stage = new Stage();
    await using stack = new AsyncDisposableStack();
    const ear = await stage.open();
    const client = await open(stage, stack);
    await client.call('echo', { text: 'before' });
    for (let i = 0; i < 4; i++) {
      await ear.queue('shop/coder#main', { id: `stop-${i}`, message: `stop ${i}`, level: 'critical' });
      expect(textOf(await client.call('get_notifications'))).toContain(`stop ${i}`);
      expect(textOf(await client.call('echo', { text: `on ${i}` }))).toBe(`on ${i}`);
    }
    expect(await ear.store.read({ log: LOG, types: ['gate_refused'] })).toEqual([]);
  });

  it("refuses calls of a paused agent until earpiece resume, regardless of the agent's actions", async () => {
    proves('gate:pause', 'gate:resume');
    await using stage = new Stage();
    await using stack = new AsyncDisposableStack();
    const ear = await stage.open();
    const client = await open(stage, stack);
    await client.call('echo', { text: 'before' });
    await stage.run(['send', '--to', 'shop/coder#main', '--id', 'hold', '--action', 'pause', '--as', 'Ann', 'hold on']);
    const refused = textOf(await client.call('echo', { text: 'a' }));
    expect(refused).toContain('only after a person lifts the pause, with `earpiece resume shop/coder`');
    expect(textOf(await client.call('get_notifications'))).toContain(
      '"holds":"until a person lifts it: earpiece resume shop/coder',
    );
    await passing(1_050);
    expect(textOf(await client.call('echo', { text: 'b' }))).toBe(refused);
    for (const own of [['resume'], ['resume', 'shop/coder'], ['send', '--action', 'resume', 'go on'], ['withdraw', 'hold']])
      expect(await stage.run(own)).toMatchObject({
        code: 2,
        stderr: expect.stringContaining('this shell belongs to the agent "shop/coder#main" (EARPIECE_ADDRESS)') as string,
      });
    expect(textOf(await client.call('echo', { text: 'b' }))).toBe(refused);
    expect(await stage.run(['resume', 'shop/coder'], PERSON)).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(
        /^shop\/coder#main {2}continues; the pause by person Ann of \d\d:\d\d.* was lifted │ hold on\n$/,
      ) as string,
    });
    expect(textOf(await client.call('echo', { text: 'on' }))).toMatch(/^on\n.*Go on\./s);
    expect(stage.calls().map(({ text }) => text)).toEqual(['before', 'on']);
    expect(await stage.run(['resume', 'shop/coder'], PERSON)).toMatchObject({
      code: 0,
      stdout: 'nothing is paused for shop/coder\n',
    });
    expect((await ear.why('hold'))?.items[0]?.steps.map(({ what }) => what)).toEqual(
      expect.arrayContaining(['call refused', 'read', 'gate lowered']),
    );
  });
});

it('after one agent was resumed, a resume of the project notifies only the agents that are still paused', async () => {
  proves('gate:resume');
  await using stage = new Stage();
  const ear = await stage.open();
  const coder = ear.conversation('shop/coder#main');
  const writer = ear.conversation('shop/writer#main');
  for (const each of [coder, writer]) await each.seen();
  await ear.queue('shop/*', { id: 'p', action: 'pause', message: 'hold on' });
  for (const each of [coder, writer]) await (await each.refuse({ on: 'echo' }))?.offer?.confirm();
  await ear.resume('shop/coder', { person: 'Ann' });
  const lifted = await ear.resume('shop/*', { person: 'Ann' });
  expect(lifted.map(({ log }) => log).toSorted()).toEqual(['shop/*', 'shop/writer']);
  for (const log of ['shop/coder', 'shop/writer'])
    expect((await ear.open(log)).map(({ notification }) => notification.message)).toEqual(['Go on.']);
  expect([await coder.gate(), await writer.gate(), await ear.resume('shop/*', { person: 'Ann' })]).toEqual([[], [], []]);
  // No interrupt is left for later conversations.
  const later = ear.conversation('shop/tester#main');
  await later.seen();
  expect(await later.gate()).toEqual([]);
});

describe('two gateways of one conversation', () => {
  it('a refusal at one gateway counts at the other gateway', async () => {
    proves('gate:batch', 'gate:asked-again');
    await using stage = new Stage();
    const ear = await stage.open();
    const [a, b] = [await stage.gateway(), await stage.gateway()];
    await Promise.all([a.call('echo', { text: 'a' }), b.call('echo', { text: 'b' })]);
    await stop(ear);
    for (const client of [a, b, a]) expect(textOf(await client.call('echo', { text: 'refused' }))).toContain('stop it');
    await passing(1_050);
    expect(textOf(await b.call('echo', { text: 'on' }))).toBe('on');
    expect(textOf(await a.call('echo', { text: 'on' }))).toBe('on');
    expect(stage.calls().filter(({ text }) => text === 'refused')).toEqual([]);
  });

  it('an interrupt that one gateway has just shown is flagged as repeated at the other gateway', async () => {
    proves('pull:repeated');
    await using stage = new Stage();
    const ear = await stage.open();
    const [a, b] = [await stage.gateway(), await stage.gateway()];
    await Promise.all([a.call('echo', { text: 'a' }), b.call('echo', { text: 'b' })]);
    const pulled = async (client: Caller): Promise<readonly object[]> =>
      (JSON.parse(textOf(await client.call('get_notifications'))) as { notifications: object[] }).notifications;
    for (let i = 0; i < 3; i++) {
      await ear.queue('shop/coder#main', { id: `stop-${i}`, message: `stop ${i}`, level: 'critical' });
      const first = await pulled(a);
      expect(first).toMatchObject([{ id: `stop-${i}` }]);
      expect(first[0]).not.toHaveProperty('repeated');
      // On a slow machine the first answer may be confirmed by now. The other gateway then shows nothing.
      for (const again of await pulled(b)) expect(again).toMatchObject({ id: `stop-${i}`, repeated: true });
    }
  });
});

it('a tools/call without an id does not pass a pause', async () => {
  proves('gate:no-id');
  await using stage = new Stage();
  const ear = await stage.open();
  const gateway = await stage.gateway();
  await gateway.call('echo', { text: 'before' });
  await ear.queue('shop/coder#main', { id: 'hold', message: 'hold on', action: 'pause' });
  gateway.send({ method: 'tools/call', params: { name: 'echo', arguments: { text: 'without an id' } } });
  expect(textOf(await gateway.call('echo', { text: 'refused' }))).toContain('hold on');
  await ear.resume('shop/coder', { person: 'Ann' });
  expect(textOf(await gateway.call('echo', { text: 'on' }))).toMatch(/^on/);
  expect(stage.calls().map(({ text }) => text)).toEqual(['before', 'on']);
  expect(gateway.stderr).toContain('tools/call of "echo" without an id');
});

describe('a pause with interrupt = "after"', () => {
  it('withholds the results of all calls until it is lifted', async () => {
    proves('gate:pause', 'gate:after');
    await using stage = new Stage();
    stage.config('interrupt = "after"\n');
    await stage.run(['trust']);
    const ear = await stage.open();
    const gateway = await stage.gateway();
    await ear.queue('shop/coder#main', { id: 'hold', message: 'hold on', action: 'pause' });
    for (const text of ['one', 'two']) {
      expect(textOf(await gateway.call('echo', { text }))).toContain('hold on');
      expect(textOf(await gateway.call('get_notifications'))).toContain(text);
    }
    await ear.resume('shop/coder', { person: 'Ann' });
    expect(textOf(await gateway.call('echo', { text: 'on' }))).toMatch(/^on\n/);
  });
});

describe('get_notifications after kill -9', () => {
  it.each(['pull, then pull', 'frame, then pull', 'pull, then frame'])(
    '%s: the second time, the notification is marked as repeated',
    async (way) => {
      proves('pull:repeated', 'lease:repeated');
      await using stage = new Stage();
      const ear = await stage.open();
      const [first, second] = way.split(', then ');
      const doomed = await stage.gateway({ env: { EARPIECE_FAULT: 'confirm.before:1' } });
      await doomed.call('echo', { text: 'before' });
      await ear.queue('shop/coder#main', { id: 'n1', message: 'the build has ended' });
      const take = async (client: Caller, how: string | undefined): Promise<string> =>
        textOf(how === 'pull' ? await client.call('get_notifications') : await client.call('echo', { text: 'x' }));
      const shown = await take(doomed, first);
      expect(shown).toContain('the build has ended');
      expect(shown).not.toContain('repeated');
      doomed.send({ method: 'notifications/initialized' });
      expect(await doomed.exited).toBe('SIGKILL');

      const next = await stage.gateway();
      const again = await take(next, second);
      expect(again).toContain('the build has ended');
      if (second === 'pull') expect(JSON.parse(again)).toMatchObject({ notifications: [{ id: 'n1', repeated: true }] });
      else expect(again).toContain('1 notification, repeated');
      expect(await take(next, 'frame')).toBe('x');
      const offers = (await ear.store.read({ log: LOG, types: ['carrier_offered'] })).flatMap(({ body }) =>
        isType(body, 'carrier_offered') ? [body] : [],
      );
      expect(offers.map((offer) => [offer.ids, offer.view.repeated ?? false])).toEqual([
        [['n1'], false],
        [['n1'], true],
      ]);
    },
  );

  it('get_notifications shows a notification that a budget only counted; a second call marks that notification as repeated', async () => {
    proves('pull:repeated');
    await using stage = new Stage();
    stage.config('budget.max_items = 1\n');
    const ear = await stage.open();
    await ear.queue('shop/coder#main', { id: 'n1', message: 'one', kind: 'a.x' });
    await ear.queue('shop/coder#main', { id: 'n2', message: 'two', kind: 'b.x' });
    const doomed = await stage.gateway({ env: { EARPIECE_FAULT: 'confirm.before:2' } });
    expect(textOf(await doomed.call('echo', { text: 'x' }))).toContain('1 more');
    const first = JSON.parse(textOf(await doomed.call('get_notifications'))) as { notifications: { id: string }[] };
    expect(first.notifications).toHaveLength(1);
    expect(first.notifications[0]).not.toHaveProperty('repeated');
    doomed.send({ method: 'notifications/initialized' });
    expect(await doomed.exited).toBe('SIGKILL');
    const next = await stage.gateway();
    expect(JSON.parse(textOf(await next.call('get_notifications')))).toMatchObject({
      notifications: [{ id: first.notifications[0]?.id, repeated: true }],
    });
  });
});
