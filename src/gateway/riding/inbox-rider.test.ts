import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it, vi } from 'vitest';
import { logKey, type ConversationId } from '../../core/address.ts';
import { DEFAULT_POLICY } from '../../core/policy.ts';
import type { Store } from '../../core/ports.ts';
import type { GateRefusedRecord } from '../../core/records.ts';
import { Inbox } from '../../inbox/index.ts';
import { memoryStore } from '../../stores/index.ts';
import { GuardedRider } from './guarded.ts';
import { inboxRider, type InboxRider } from './inbox-rider.ts';
import { profileOf } from './profiles.ts';
import type { Call, Connection, Result } from './rider.ts';
import { proves } from '../../../e2e/verifies.ts';

const LOG = logKey('shop', 'coder');

/** Makes a store that waits for `waits` before each append, in order, and for `reads` before it returns the gate. */
function slowStore(waits: (drafts: string) => Promise<unknown> | undefined, reads?: () => Promise<unknown> | undefined): Store {
  const memory = memoryStore();
  let before: Promise<unknown> = Promise.resolve();
  return new Proxy(memory, {
    get: (target, name) => {
      const member: unknown = Reflect.get(target, name, target);
      if (typeof member !== 'function') return member;
      const call = (...args: unknown[]): unknown => Reflect.apply(member, target, args);
      if (name === 'items' && reads !== undefined)
        return async (...args: unknown[]) => {
          if (JSON.stringify(args).includes('"gate"')) await reads();
          return call(...args);
        };
      if (name !== 'append') return call;
      return (...args: unknown[]) => {
        const turn = before.then(() => waits(JSON.stringify(args))).then(() => call(...args));
        before = turn.catch(() => undefined);
        return turn;
      };
    },
  });
}

function riderOver(store: Store): { inbox: Inbox; rider: InboxRider; connection: Connection } {
  const inbox = new Inbox({
    store,
    policies: { policy: () => DEFAULT_POLICY },
    owner: { machine: 'here', pid: 1, startedAt: '1' },
    isAlive: () => true,
    timeZone: 'UTC',
  });
  const rider = inboxRider({
    inbox,
    identify: async () => ({ log: LOG, conversation: 'main' as ConversationId, by: 'given' }),
    carrier: 'gateway:test',
    complain: () => {},
  });
  return { inbox, rider, connection: { key: 'k', profile: profileOf(undefined) } };
}

it('a second pull right after the first does not show the same notifications again', async () => {
  proves('pull:repeated');
  // A store on a busy disk writes the receipt some time after the answer.
  const { inbox, rider, connection } = riderOver(
    slowStore((drafts) => (drafts.includes('notification_read') ? sleep(50) : undefined)),
  );
  const pull = async (requestId: string) => {
    const answer = await rider.callTool(connection, { tool: 'get_notifications', args: {}, requestId });
    answer.confirm();
    return JSON.stringify(answer.result);
  };
  await inbox.queue(LOG, { id: 'stop', level: 'critical', message: 'stop that' });
  expect(await pull('1')).toContain('stop that');
  expect(await pull('2')).not.toContain('stop that');
  await rider.idle();
  await inbox.close();
});

it('a call of get_next_action right after a pull treats the shown notifications as read', async () => {
  proves('tasks:tools');
  const { inbox, rider, connection } = riderOver(
    slowStore((drafts) => (drafts.includes('notification_read') ? sleep(50) : undefined)),
  );
  const does = async (tool: string) => {
    const answer = await rider.callTool(connection, { tool, args: {}, requestId: tool });
    answer.confirm();
    return JSON.stringify(answer.result);
  };
  await inbox.queue(LOG, { id: 'stop', level: 'critical', message: 'stop that' });
  expect(await does('get_next_action')).toContain('An interrupt is unread');
  expect(await does('get_notifications')).toContain('stop that');
  expect(await does('get_next_action')).toContain('There is nothing to do');
  await rider.idle();
  await inbox.close();
});

it('while the store hangs, a refusal from memory does not deliver an interrupt that is queued after the first refusal', async () => {
  proves('gate:one-text');
  const stuck = Promise.withResolvers<void>();
  let isStuck = false;
  const { inbox, rider, connection } = riderOver(
    slowStore(
      () => undefined,
      () => (isStuck ? stuck.promise : undefined),
    ),
  );
  const guarded = new GuardedRider(rider, () => {});
  const refused = async (requestId: string): Promise<string> => {
    const verdict = await guarded.before(connection, { server: 'files', tool: 'write', requestId });
    if (verdict.kind !== 'refuse') throw new Error(`call ${requestId} passed`);
    verdict.delivery?.confirm();
    return verdict.text;
  };
  await inbox.queue(LOG, { id: 'first', level: 'critical', message: 'the first' });
  expect(await refused('1')).toContain('the first');
  await rider.idle();

  isStuck = true;
  const late = refused('2');
  await inbox.queue(LOG, { id: 'second', level: 'critical', message: 'the second' });
  expect(await late).not.toContain('the second');
  isStuck = false;
  stuck.resolve();

  const pulled = await guarded.callTool(connection, { tool: 'get_notifications', args: {}, requestId: '3' });
  const { notifications } = JSON.parse((pulled.result.content as { text: string }[])[0]?.text ?? '') as {
    notifications: { id: string; repeated?: true }[];
  };
  pulled.confirm();
  expect(Object.fromEntries(notifications.map(({ id, repeated = false }) => [id, repeated]))).toEqual({
    first: true,
    second: false,
  });
  await rider.idle();
  await inbox.close();
});

it('all refusals of a connection have one text, even if the first was sent before its record was written', async () => {
  proves('gate:one-text', 'gate:unwritable');
  const stuck = Promise.withResolvers<void>();
  let isStuck = true;
  const { inbox, rider, connection } = riderOver(
    slowStore((drafts) => (isStuck && drafts.includes('carrier_offered') ? stuck.promise : undefined)),
  );
  const guarded = new GuardedRider(rider, () => {});
  const call = (requestId: string): Call => ({ server: 'files', tool: 'write', requestId });
  const refused = async (requestId: string): Promise<string> => {
    const verdict = await guarded.before(connection, call(requestId));
    if (verdict.kind !== 'refuse') throw new Error(`call ${requestId} passed`);
    verdict.delivery?.confirm();
    return verdict.text;
  };
  expect(await guarded.before(connection, call('1'))).toEqual({ kind: 'pass' });
  await inbox.queue(LOG, { id: 'hold', action: 'pause', message: 'hold on' });
  // The offer should be delivered with the result of a call that ran. The store does not answer, so the result is sent without
  // the offer.
  const result = { ...call('1'), isError: false, chars: 10, maxChars: Infinity, raw: () => '' } as Result;
  expect(await guarded.after(connection, result)).toEqual({ kind: 'none' });
  const first = await refused('2');
  expect(first).toContain('hold on');
  isStuck = false;
  stuck.resolve();
  await rider.idle();
  expect(await refused('3')).toBe(first);
  expect(await refused('4')).toBe(first);
  await rider.idle();
  await inbox.close();
});

it('a refusal that was sent while the store fails is recorded once, when the store works again', async () => {
  proves('gate:early');
  let isFull = true;
  const { inbox, rider, connection } = riderOver(
    slowStore((drafts) => (isFull && drafts.includes('hold') ? Promise.reject(new Error('the disk is full')) : undefined)),
  );
  const guarded = new GuardedRider(rider, () => {});
  const call: Call = { server: 'files', tool: 'write', requestId: '1' };
  isFull = false;
  expect(await guarded.before(connection, call)).toEqual({ kind: 'pass' });
  await inbox.queue(LOG, { id: 'hold', action: 'pause', message: 'hold on', origin: { person: 'Ann' } });
  isFull = true;
  for (let requestId = 2; requestId < 202; requestId++)
    expect(await guarded.before(connection, { ...call, requestId: `${requestId}` })).toMatchObject({ kind: 'refuse' });
  isFull = false;
  const records = async (): Promise<readonly GateRefusedRecord[]> =>
    (await inbox.store.read({ log: LOG, types: ['gate_refused'] })).map(({ body }) => body as GateRefusedRecord);
  const refusals = async (): Promise<number> => (await records()).reduce((sum, { times = 1 }) => sum + times, 0);
  await expect.poll(refusals).toBe(200);
  // Equal refusals share a record, so that a long outage does not fill the log.
  expect((await records()).length).toBeLessThanOrEqual(2);
  expect((await inbox.why('hold'))?.items[0]?.item).toMatchObject({ state: 'open', offers: 1 });
  guarded.closed(connection);
  await rider.idle();
  expect(await refusals()).toBe(200);
  await inbox.close();
});

it('a refusal whose record failed is recorded 500 ms later, although no call follows', async () => {
  proves('gate:early');
  let isFull = false;
  let failures = 0;
  const failed = Promise.withResolvers<void>();
  const { inbox, rider, connection } = riderOver(
    slowStore((drafts) => {
      if (!isFull || !drafts.includes('gate_refused')) return undefined;
      // The write of `before` fails first. Then the first write of the early refusal fails.
      if (++failures === 2) failed.resolve();
      return Promise.reject(new Error('the disk is full'));
    }),
  );
  const guarded = new GuardedRider(rider, () => {});
  const call: Call = { server: 'files', tool: 'write', requestId: '1' };
  expect(await guarded.before(connection, call)).toEqual({ kind: 'pass' });
  await inbox.queue(LOG, { id: 'hold', action: 'pause', message: 'hold on', origin: { person: 'Ann' } });
  const refusals = async (): Promise<number> => (await inbox.store.read({ log: LOG, types: ['gate_refused'] })).length;
  expect(await guarded.before(connection, { ...call, requestId: '2' })).toMatchObject({ kind: 'refuse' });
  await rider.idle();
  const before = await refusals();

  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  try {
    isFull = true;
    expect(await guarded.before(connection, { ...call, requestId: '3' })).toMatchObject({ kind: 'refuse' });
    await failed.promise;
    isFull = false;
    await vi.advanceTimersByTimeAsync(499);
    expect(await refusals()).toBe(before);
    await vi.advanceTimersByTimeAsync(1);
    await expect.poll(refusals).toBe(before + 1);
  } finally {
    vi.useRealTimers();
  }
  await inbox.close();
});

it('equal refusals that were sent while the store hangs share their records', async () => {
  proves('gate:early');
  const stuck = Promise.withResolvers<void>();
  let isStuck = false;
  const { inbox, rider, connection } = riderOver(
    slowStore(
      () => undefined,
      () => (isStuck ? stuck.promise : undefined),
    ),
  );
  const guarded = new GuardedRider(rider, () => {});
  const call = (requestId: string): Call => ({ server: 'files', tool: 'write', requestId });
  await inbox.queue(LOG, { id: 'hold', action: 'pause', message: 'hold on', origin: { person: 'Ann' } });
  expect(await guarded.before(connection, call('0'))).toMatchObject({ kind: 'refuse' });
  await rider.idle();
  const records = async (): Promise<readonly GateRefusedRecord[]> =>
    (await inbox.store.read({ log: LOG, types: ['gate_refused'] })).map(({ body }) => body as GateRefusedRecord);
  const earlier = (await records()).length;

  isStuck = true;
  const sent = await Promise.all(Array.from({ length: 50 }, async (_, i) => guarded.before(connection, call(`${i + 1}`))));
  expect(new Set(sent.map(({ kind }) => kind))).toEqual(new Set(['refuse']));
  isStuck = false;
  stuck.reject(new Error('the disk is gone'));
  guarded.closed(connection);
  await rider.idle();
  const early = (await records()).slice(earlier);
  expect(early.reduce((sum, { times = 1 }) => sum + times, 0)).toBe(50);
  // A refusal that arrives during a write gets the next record.
  expect(early.length).toBeLessThan(25);
  await inbox.close();
});

it.each([
  ['any tool', 'after_tool', false],
  ['this tool', { afterTool: 'deploy' }, false],
  ['another tool', { afterTool: 'test' }, true],
] as const)('a late text with an older state is checked against a newer state that waits for %s', async (_, deliver, stands) => {
  proves('gateway:late-checked', 'plan:supersede');
  const { inbox, rider, connection } = riderOver(memoryStore());
  const state = { key: 'prod', supersede: true } as const;
  const result = { server: 's', tool: 'echo', requestId: '1', isError: false, chars: 0, maxChars: 10_000, raw: () => '' };
  await inbox.queue(LOG, { ...state, message: 'prod is down' });
  const ride = await rider.after(connection, result);
  if (ride.kind !== 'ride') throw new Error('no text');
  await inbox.queue(LOG, { ...state, message: 'prod is up', deliver });
  expect(await ride.stands?.()).toBe(deliver !== 'after_tool');
  expect(await ride.stands?.({ ...result, tool: 'deploy' })).toBe(stands);
  await rider.idle();
  await inbox.close();
});

it('a late text that is sent after its release has failed counts as delivered', async () => {
  proves('gateway:late-checked');
  let isFull = true;
  const { inbox, rider, connection } = riderOver(
    slowStore((drafts) =>
      isFull && drafts.includes('carrier_released') ? Promise.reject(new Error('the disk is full')) : undefined,
    ),
  );
  await inbox.queue(LOG, { id: 'n', message: 'the build has ended' });
  const result: Result = {
    server: 's',
    tool: 't',
    requestId: '1',
    isError: false,
    chars: 0,
    maxChars: Number.POSITIVE_INFINITY,
    raw: () => '',
  };
  const ride = await rider.after(connection, result);
  if (ride.kind !== 'ride') throw new Error('no text');
  await inbox.queue(LOG, { id: 'hold', message: 'hold on', action: 'pause', origin: { person: 'Ann' } });
  await expect(ride.stands?.()).rejects.toThrow('the disk is full');
  await inbox.withdraw(LOG, { id: 'hold' }, { by: 'Ann', reason: 'resumed' });
  isFull = false;
  expect(await ride.stands?.()).toBe(true);
  ride.delivery.confirm();
  await rider.idle();
  expect((await inbox.why('n'))?.items[0]?.receipt).toBe('delivered');
  await inbox.close();
});

it('a gateway that arrives while a hook reports the session does not stay a separate conversation', async () => {
  const host = { machine: 'here', pid: 7, startedAt: '1' };
  const inbox = new Inbox({
    store: memoryStore(),
    policies: { policy: () => DEFAULT_POLICY },
    owner: { machine: 'here', pid: 1, startedAt: '1' },
    isAlive: () => true,
    timeZone: 'UTC',
  });
  const about = { log: LOG, host: { agent: 'coder', process: host, nested: false } };
  const session = { log: LOG, conversation: 's1' as ConversationId };
  const rider = inboxRider({
    inbox,
    identify: async () => {
      if ((await inbox.store.binding(host)) !== undefined) return { ...about, ...session, by: 'binding' };
      // The hook binds the session just after this lookup.
      await inbox.bind(host, session);
      return { ...about, conversation: 'pid-7-1' as ConversationId, by: 'host process' };
    },
    carrier: 'gateway:test',
    complain: () => {},
  });
  rider.opened({ key: 'k', profile: profileOf(undefined) });
  await rider.idle();
  expect((await inbox.active({ log: LOG })).map(({ conversation }) => conversation)).toEqual(['s1']);
  await inbox.close();
});
