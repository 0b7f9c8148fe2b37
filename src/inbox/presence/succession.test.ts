import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { logKey, type ConversationId, type LogKey } from '../../core/address.ts';
import { DEFAULT_POLICY } from '../../core/policy.ts';
import type { Store } from '../../core/ports.ts';
import type { Owner } from '../../core/records.ts';
import { memoryStore, openSqliteStore } from '../../stores/index.ts';
import { arrive, begin, Inbox, leave, type Conversation, type ConversationOptions, type Offer } from '../index.ts';
import { proves } from '../../../e2e/verifies.ts';

const LOG = logKey('shop', 'coder');
const STORES: readonly { name: string; open: (clock: { now(): number }, folder: string) => Promise<Store> }[] = [
  { name: 'memory', open: async (clock) => memoryStore({ clock }) },
  { name: 'sqlite', open: async (clock, folder) => openSqliteStore({ path: join(folder, 'earpiece.db'), clock }) },
];

describe.each(STORES)('an ended conversation, over $name', ({ open }) => {
  let folder: string;
  let store: Store;
  let now: number;
  let dead: Set<number>;
  let inbox: Inbox;

  const host = (pid: number): Owner => ({ machine: 'here', pid, startedAt: '1' });
  const inboxOf = (pid: number): Inbox =>
    new Inbox({
      store,
      policies: { policy: () => ({ ...DEFAULT_POLICY, coalesceMs: {} }) },
      owner: host(pid),
      isAlive: (owner) => (owner.machine === 'here' ? !dead.has(owner.pid) : undefined),
      timeZone: 'UTC',
    });
  /** Opens a window: a host process with its own gateway, whose pid is one higher. */
  const window = (id: string, pid: number, more: ConversationOptions = {}): Conversation =>
    inboxOf(pid + 1).conversation(
      { log: LOG, conversation: id as ConversationId },
      { pulls: true, process: host(pid), folder: '/home/ann/shop', ...more },
    );
  const starts = async (id: string, pid: number, more: ConversationOptions = {}): Promise<Conversation> => {
    now += 1_000;
    const conversation = window(id, pid, more);
    await arrive(conversation, { connection: String(pid + 1), pending: true });
    return conversation;
  };
  const works = async (id: string, pid: number, more: ConversationOptions = {}): Promise<Conversation> => {
    const conversation = await starts(id, pid, more);
    await begin(conversation);
    return conversation;
  };
  const dies = (pid: number): void => void dead.add(pid).add(pid + 1);
  const offered = async (conversation: Conversation): Promise<readonly string[]> => {
    const offer = await conversation.offer({ at: 'tool_result' });
    await offer?.confirm();
    return offer?.ids ?? [];
  };
  const gate = async (conversation: Conversation): Promise<readonly string[]> => (await conversation.gate()).map(({ id }) => id);
  const tell = (to: string, id: string, more: object = {}): Promise<unknown> =>
    inbox.queue(to, { id, message: `about ${id}`, kind: 'ci.failed', ...more });

  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'earpiece-succession-'));
    now = 1_700_000_000_000;
    dead = new Set();
    store = await open({ now: () => now }, folder);
    inbox = inboxOf(1);
  });
  afterEach(async () => {
    expect(await store.verify()).toEqual([]);
    await store.close();
    rmSync(folder, { recursive: true });
  });

  describe('differs from an active conversation:', () => {
    proves('presence:active');

    it('a conversation is no longer active when its process is dead, or when it has ended', async () => {
      await works('a', 10);
      const b = await works('b', 20);
      expect((await inbox.active({ log: LOG })).map((p) => p.conversation)).toEqual(['a', 'b']);
      dies(10);
      expect((await inbox.active({ log: LOG })).map((p) => p.conversation)).toEqual(['b']);
      await b.ended();
      expect(await inbox.active({ log: LOG })).toEqual([]);
      await expect(inbox.queue('shop/*', { message: 'x' })).rejects.toMatchObject({ code: 'nobody_there' });
    });

    it('a silent conversation is active while its process lives, or for 30 minutes if its process cannot be checked', async () => {
      await works('a', 10);
      await works('elsewhere', 20, { process: { machine: 'far', pid: 20, startedAt: '1' } });
      await works('http', 30, { process: host(30), shared: true });
      now += 31 * 60_000;
      expect((await inbox.active({ log: LOG })).map((p) => p.conversation)).toEqual(['a']);
    });

    it('a session of a shared process that continues in its own process is active while that process lives', async () => {
      await works('a', 10, { shared: true });
      await works('a', 20);
      await works('b', 10, { shared: true });
      await works('b', 10);
      now += 31 * 60_000;
      expect((await inbox.active({ log: LOG })).map((p) => p.conversation)).toEqual(['a']);
      dies(20);
      expect(await inbox.active({ log: LOG })).toEqual([]);
    });

    it('30 minutes after the last contact, a conversation may have an heir in another PID namespace of its machine', async () => {
      const before = { process: { machine: 'here pid:[4026532001]', pid: 7, startedAt: '1' } };
      await works('before', 10, before);
      await tell('shop/coder#before', 'n1');
      expect(await offered(await works('beside', 20, { process: { ...before.process, machine: 'here' } }))).toEqual([]);
      now += 31 * 60_000;
      expect(await offered(await works('far', 30, { process: { ...before.process, machine: 'far' } }))).toEqual([]);
      const after = { process: { ...before.process, machine: 'here pid:[4026532002]' } };
      expect(await offered(await works('after', 40, after))).toEqual(['n1']);
    });

    it('a conversation ends with the last of its connections, and is active again when it returns', async () => {
      const first = await works('a', 10);
      const second = inboxOf(12).conversation({ log: LOG, conversation: first.id }, first.options);
      await arrive(second, { connection: '12' });
      await leave(first, { connection: '11' });
      expect(await inbox.active({ log: LOG })).toHaveLength(1);
      await leave(second, { connection: '12' });
      expect(await inbox.active({ log: LOG })).toEqual([]);
      await begin(second);
      expect(await inbox.active({ log: LOG })).toHaveLength(1);
    });

    it('a conversation ends with its last connection if the gateways of the other connections were killed', async () => {
      const first = await works('a', 10);
      const second = inboxOf(12).conversation({ log: LOG, conversation: first.id }, first.options);
      await arrive(second, { connection: '12' });
      dead.add(12);
      await leave(first, { connection: '11' });
      expect(await inbox.active({ log: LOG })).toEqual([]);
    });

    it('a closed connection without a tool call does not count as a conversation', async () => {
      proves('presence:health-check');
      const check = await starts('check', 10);
      await inbox.queue(check.address, { id: 'own', kind: 'mcp.disconnected', message: 'gone' });
      await tell('shop/*', 'all');
      await leave(check, { connection: '11' });
      const [ghost] = await store.presence({ log: LOG });
      expect(ghost && inbox.wasConversation(ghost)).toBe(false);
      const next = await works('next', 20);
      expect(await offered(next)).toEqual(['all']);
    });
  });

  describe('passes on its unread notifications', () => {
    proves('succession:heir', 'succession:gate');

    it.each([
      ['died', async () => dies(10)],
      ['ended', (a: Conversation) => a.ended()],
    ])('if it %s, ids, counts, offered text and actions stay', async (_how, ends) => {
      const a = await works('a', 10);
      await tell(a.address, 'n1', { key: 'k' });
      await tell(a.address, 'n1b', { key: 'k' });
      await tell(a.address, 'n2', { level: 'error' });
      const offer = (await a.offer({ at: 'tool_result' })) as Offer;
      await offer.release('write_error');
      await tell(a.address, 'stop', { action: 'pause' });
      await ends(a);

      const b = await works('b', 20);
      expect(await gate(b)).toEqual(['stop']);
      const refusal = await b.refuse({ on: 'echo' });
      await refusal?.offer?.confirm();
      const again = await b.offer({ at: 'tool_result' });
      expect(again?.view.repeated).toBe(true);
      expect(again?.view.items.map(({ text }) => text)).toEqual(offer.view.items.map(({ text }) => text));
      await again?.confirm();
      const [n1] = await store.items(LOG, { kind: 'ids', ids: ['n1' as never] });
      expect(n1).toMatchObject({ audience: 'b', passedFrom: 'a', count: 2, offers: 2, state: 'closed', outcome: 'delivered' });
      const records = await store.read({ log: LOG, types: ['conversation_succeeded'] });
      expect(records).toHaveLength(1);
      expect(await store.presence({ log: LOG, conversation: a.id })).toMatchObject([{ passedTo: { conversation: 'b' } }]);
    });

    it('a gate that was up, with an unread refusal, stays up for the heir', async () => {
      const a = await works('a', 10);
      await tell('shop/coder', 'anyone', { level: 'critical' });
      await tell(a.address, 'own', { level: 'critical' });
      const refusal = await a.refuse({ on: 'echo' });
      await refusal?.offer?.confirm();
      dies(10);
      const b = await works('b', 20);
      expect(await gate(b)).toEqual(['anyone', 'own']);
      const pulled = await b.pull({ mark: true });
      await pulled.offer?.confirm();
      expect(pulled.notifications.map(({ id }) => id).toSorted()).toEqual(['anyone', 'own']);
      expect(await gate(b)).toEqual([]);
    });

    it('an heir gets nothing at its start, and everything before its first gate check', async () => {
      const a = await works('a', 10);
      await tell(a.address, 'n1', { level: 'critical' });
      dies(10);
      const b = await starts('b', 20);
      expect(await gate(b)).toEqual([]);
      expect(await store.read({ log: LOG, types: ['conversation_succeeded'] })).toEqual([]);
      await begin(b);
      expect(await gate(b)).toEqual(['n1']);
    });

    it('a notification in an offer of a living process passes on after the offer is released', async () => {
      const a = await works('a', 10);
      await tell(a.address, 'n1');
      const offer = await a.offer({ at: 'tool_result' });
      dead.add(10);
      const b = await starts('b', 20);
      expect(await begin(b)).toEqual({ from: [], waits: true });
      await offer?.release('write_error');
      expect(await begin(b)).toEqual({ from: ['a'], waits: false });
      expect(await offered(b)).toEqual(['n1']);
    });

    it('only one of two simultaneous heirs wins', async () => {
      const a = await works('a', 10);
      await Promise.all(Array.from({ length: 20 }, (_, i) => tell(a.address, `n${i}`)));
      dies(10);
      const [b, c] = [await starts('b', 20), await starts('c', 30)];
      await Promise.all([begin(b), begin(c)]);
      expect(await store.read({ log: LOG, types: ['conversation_succeeded'] })).toHaveLength(1);
      const taken = [(await b.pull({ mark: false })).notifications.length, (await c.pull({ mark: false })).notifications.length];
      expect(taken.toSorted((x, y) => x - y)).toEqual([0, 20]);
    });

    it('the heir of an heir gets everything', async () => {
      const a = await works('a', 10);
      await tell(a.address, 'n1', { level: 'critical' });
      dies(10);
      await works('b', 20);
      dies(20);
      const c = await works('c', 30);
      expect(await gate(c)).toEqual(['n1']);
    });

    it('a notification that is queued later for the ended conversation waits for the next conversation that begins', async () => {
      const a = await works('a', 10);
      dies(10);
      const b = await works('b', 20);
      await tell(a.address, 'late');
      expect(await offered(b)).toEqual([]);
      expect(await offered(await works('c', 30))).toEqual(['late']);
    });

    it('keeps its presence as long as a notification waits for it', async () => {
      const a = await works('a', 10);
      await tell(a.address, 'n1', { level: 'critical' });
      await a.ended();
      now += 40 * 24 * 3_600_000;
      await inbox.prune();
      expect(await gate(await works('b', 20))).toEqual(['n1']);
    });
  });

  describe('and conversations that are not its heirs', () => {
    proves('succession:heir');

    it('passes nothing on to a window that was active at the same time, even if that window was silent', async () => {
      const a = await works('a', 10);
      const sibling = await starts('b', 20);
      await tell(a.address, 'n1', { level: 'critical' });
      dies(10);
      await begin(sibling);
      expect(await gate(sibling)).toEqual([]);
      expect(await gate(await works('c', 30))).toEqual(['n1']);
    });

    it('passes nothing on to an older window', async () => {
      const old = await starts('old', 10);
      const a = await works('a', 20);
      await tell(a.address, 'n1');
      dies(20);
      await begin(old);
      expect(await offered(old)).toEqual([]);
    });

    it('passes nothing on after a restart of the gateway of a window that was active at the same time', async () => {
      const a = await works('a', 10);
      await works('b', 20);
      await tell(a.address, 'n1');
      dead.add(10).add(11).add(21);
      const again = inboxOf(22).conversation(
        { log: LOG, conversation: 'b' as ConversationId },
        { pulls: true, process: host(20), folder: '/home/ann/shop' },
      );
      await arrive(again, { connection: '22', pending: true });
      await begin(again);
      expect(await offered(again)).toEqual([]);
    });

    it('passes nothing on to another worktree, another purpose, or a host below another host', async () => {
      const a = await works('a', 10, { purpose: 'task' });
      await tell(a.address, 'n1');
      dies(10);
      expect(await offered(await works('worktree', 20, { folder: '/home/ann/shop-2' }))).toEqual([]);
      expect(await offered(await works('chat', 30, { purpose: 'chat' }))).toEqual([]);
      const nested = await starts('nested', 40);
      await begin(nested, { nested: true });
      expect(await offered(nested)).toEqual([]);
      expect(await offered(await works('next', 50))).toEqual(['n1']);
    });

    it('passes nothing on to a fork whose parent lives; when the parent has ended, the fork is an heir like any other', async () => {
      const parent = await works('parent', 10);
      await parent.carry({ type: 'chat_request', content: 'go' }, { at: 'turn_start' });
      const other = await works('other', 20);
      await tell(other.address, 'n1');
      dies(20);
      const { conversation } = await inbox.fork(parent, { to: 'fork' });
      const fork = await works(conversation, 30);
      expect(await offered(fork)).toEqual([]);
      dies(10);
      dies(30);
      expect(await offered(await works(conversation, 40))).toEqual(['n1']);
    });

    it('gets the notifications that no heir took, if it returns', async () => {
      const a = await works('a', 10);
      await tell(a.address, 'n1', { level: 'critical' });
      await a.ended();
      now += 1_000;
      await begin(a);
      expect(await gate(a)).toEqual(['n1']);
      expect(await gate(await works('b', 20))).toEqual([]);
      await a.ended();
      expect(await gate(await works('c', 30))).toEqual(['n1']);
      await begin(a);
      expect(await gate(a)).toEqual([]);
    });
  });

  describe('a new session of one host process continues the conversation', () => {
    proves('address:clear', 'succession:merge');

    it('takes over everything in flight: gate, offers and read states', async () => {
      const before = await works('env-session', 10);
      await tell(before.address, 'n1');
      await tell(before.address, 'stop', { level: 'critical' });
      const refusal = await before.refuse({ on: 'echo' });
      const offer = await before.offer({ at: 'tool_result' });
      await inbox.bind(host(10), { log: LOG, conversation: 's1' as ConversationId });
      const bound = window('s1', 10);
      expect(await gate(bound)).toEqual(['stop']);
      expect(await refusal?.offer?.confirm()).toBe('confirmed');
      expect(await offer?.confirm()).toBe('confirmed');
      expect(await offered(bound)).toEqual([]);
      await store.append(LOG, [
        { type: 'notification_read', conversation: before.id, ids: ['stop' as never], by: 'get_notifications' },
      ]);
      expect(await gate(bound)).toEqual([]);
    });

    it('does not get a notification again that the earlier session has read, although a gateway arrived under another name', async () => {
      await inbox.bind(host(10), { log: LOG, conversation: 's1' as ConversationId });
      const session = await works('s1', 10);
      await starts('pid-10-1', 10);
      await tell('shop/*', 'all');
      expect(await offered(session)).toEqual(['all']);
      await inbox.bind(host(10), { log: LOG, conversation: 's2' as ConversationId });
      expect(await offered(await works('s2', 10))).toEqual([]);
    });

    it('takes over a pause after each /clear', async () => {
      await works('pid', 10);
      for (const id of ['s1', 's2', 's3']) {
        await inbox.bind(host(10), { log: LOG, conversation: id as ConversationId });
        if (id === 's1') await tell(`${LOG}#s1`, 'stop', { action: 'pause' });
        expect(await gate(window(id, 10))).toEqual(['stop']);
        await window(id, 10).seen();
      }
      expect((await inbox.active({ log: LOG })).map((p) => p.conversation)).toEqual(['s3']);
    });
  });

  describe('with another window of its agent open', () => {
    proves('succession:told-once');

    it('an heir does not inherit a notification to the whole project if an earlier conversation has read it', async () => {
      const a = await works('a', 10);
      await works('b', 20);
      await tell('shop/*', 'all');
      await tell('shop/coder#b', 'only-b');
      expect(await offered(a)).toEqual(['all']);
      dies(10);
      dies(20);
      const c = await works('c', 30);
      expect(await offered(c)).toEqual(['only-b']);
      const of = await inbox.why('all');
      expect(of?.items.map(({ receipt }) => receipt)).toEqual(['delivered', 'known']);
    });

    it('if no earlier conversation has read a notification to the whole project, an heir inherits that notification once', async () => {
      const a = await works('a', 10);
      const b = await works('b', 20);
      await tell('shop/*', 'all');
      dies(10);
      dies(20);
      expect(await offered(await works('c', 30))).toEqual(['all']);
      await tell('shop/*', 'more');
      const d = await works('d', 40);
      await tell('shop/*', 'late');
      expect(await offered(d)).toEqual(['late']);
      dies(30);
      expect(await offered(d)).toEqual([]);
      dies(40);
      expect(await offered(await works('e', 50))).toEqual(['more']);
      expect([a.id, b.id]).toEqual(['a', 'b']);
    });

    it.each([
      ['a', 'b'],
      ['b', 'a'],
    ])(
      'for an heir of %s and then %s, a notification to the whole project is marked as repeated if it was offered to one of them',
      async (...ends) => {
        const windows = { a: await works('a', 10), b: await works('b', 20) };
        await tell('shop/*', 'all');
        await (await windows.b.offer({ at: 'tool_result' }))?.release('cancelled');
        for (const end of ends) await windows[end as 'a' | 'b'].ended();
        const c = await works('c', 30);
        expect((await c.pull({ mark: false })).notifications).toMatchObject([{ id: 'all', repeated: true }]);
        expect((await c.offer({ at: 'tool_result' }))?.view.text).toContain('repeated');
      },
    );

    it('an heir inherits a pause of the project, although another conversation has read the pause', async () => {
      const a = await works('a', 10);
      await works('b', 20);
      await inbox.queue('shop/*', { id: 'stop', action: 'pause', message: 'freeze' });
      expect(await offered(a)).toEqual(['stop']);
      dies(10);
      dies(20);
      expect(await gate(await works('c', 30))).toEqual(['stop']);
    });
  });

  describe('and the open interrupts of the project', () => {
    proves('address:standing');

    it('an interrupt also applies to conversations that begin while it is open, once each', async () => {
      const a = await works('a', 10);
      const sent = await inbox.queue('shop/*', { id: 'stop', action: 'pause', message: 'freeze' });
      expect(sent.to).toEqual([a.address, 'shop/*']);
      const b = await works('b', 20);
      expect([await gate(a), await gate(b)]).toEqual([['stop'], ['stop']]);
      const other = inboxOf(31).conversation('shop/writer#w', { pulls: true, process: host(30) });
      await begin(other);
      expect(await gate(other)).toEqual(['stop']);
      await begin(b);
      expect(await store.items(LOG, { kind: 'ids', ids: ['stop' as never] })).toHaveLength(2);
      await inbox.queue('shop/*', { action: 'resume', message: 'go on' });
      expect([await gate(a), await gate(b), await gate(other)]).toEqual([[], [], []]);
      expect(await gate(await works('c', 40))).toEqual([]);
    });

    it.each([
      ['that exists', ['shop/coder']],
      ['that is new', []],
    ])('an interrupt does not apply to a conversation that begins during its withdrawal, in a log %s', async (_, logs) => {
      if (logs.length > 0) await works('a', 10);
      await inbox.queue('shop/*', { id: 'stop', level: 'critical', message: 'freeze' });
      const whole = store;
      let asked = 0;
      // Another process withdraws the notification between the read and the copy.
      store = new Proxy(whole, {
        get: (of, name) => {
          const value: unknown = Reflect.get(of, name);
          if (typeof value !== 'function') return value;
          return async (...args: readonly unknown[]) => {
            const isCopy = name === 'append' && args[0] === LOG && JSON.stringify(args[1]).includes('"stop"');
            if (isCopy && asked++ === 0)
              for (const log of ['shop/*', ...logs]) await inbox.withdraw(log, { id: 'stop' }, { by: 'ann', reason: 'by hand' });
            return Reflect.apply(value, of, args) as unknown;
          };
        },
      });
      const b = await works('b', 20);
      store = whole;
      expect(asked).toBeGreaterThan(0);
      expect(await gate(b)).toEqual([]);
      expect(await offered(b)).toEqual([]);
    });

    it('a resume also lifts the pauses of absent conversations, so that no heir inherits a pause', async () => {
      const a = await works('a', 10);
      const b = await works('b', 20);
      await inbox.queue('shop/coder', { id: 'agent', action: 'pause', message: 'hold' });
      await inbox.queue('shop/*', { id: 'all', action: 'pause', message: 'freeze' });
      dies(10);
      await inbox.queue('shop/coder', { action: 'resume', message: 'go' });
      expect([await gate(b), await gate(a)]).toEqual([[], []]);
      await inbox.queue('shop/*', { id: 'again', action: 'pause', message: 'freeze' });
      dies(20);
      await inbox.queue('shop/*', { action: 'resume', message: 'go' });
      const c = await works('c', 30);
      expect(await gate(c)).toEqual([]);
      await expect(inbox.queue('elsewhere/*', { action: 'resume', message: 'go' })).rejects.toMatchObject({
        code: 'nobody_there',
      });
    });

    it('the next notification to the project completes the fan-out of an interrupt whose sender has died', async () => {
      proves('address:fan-out');
      const a = await works('a', 10);
      const body = { id: 'stop', kind: { source: 'user', name: 'interrupt' }, message: 'freeze', action: 'pause' };
      await store.append('shop/*' as LogKey, [
        { type: 'fan_out', id: 'stop', notification: body, targets: [] },
        { type: 'system_notification_queued', level: 'critical', expiresAt: null, ...body },
      ]);
      expect(await gate(a)).toEqual([]);
      await tell('shop/*', 'next');
      expect(await gate(a)).toEqual(['stop']);
    });

    it('an interrupt reaches the first conversation of a project without active conversations', async () => {
      await inbox.queue('shop/*', { id: 'stop', level: 'critical', message: 'freeze' });
      expect(await gate(await works('a', 10))).toEqual(['stop']);
    });

    it('a withdrawn or expired interrupt, and a notification that is not an interrupt, do not apply to later conversations', async () => {
      await works('a', 10);
      await inbox.queue('shop/*', { id: 'one', level: 'critical', message: 'x' });
      await inbox.queue('shop/*', { id: 'two', level: 'critical', message: 'x', ttlMs: 60_000 });
      await inbox.queue('shop/*', { id: 'news', message: 'x' });
      await inbox.withdraw('shop/*', { id: 'one' }, { by: 'Ann', reason: 'over' });
      expect(await gate(await works('b', 20))).toEqual(['two']);
      now += 61_000;
      const c = await works('c', 30);
      expect([await gate(c), await offered(c)]).toEqual([[], []]);
    });

    it('an heir gets the interrupt once, and a conversation that has read the interrupt does not get it again', async () => {
      const a = await works('a', 10);
      await inbox.queue('shop/*', { id: 'stop', level: 'critical', message: 'x' });
      dies(10);
      const b = await works('b', 20);
      const pulled = await b.pull({ mark: true });
      await pulled.offer?.confirm();
      expect(pulled.notifications).toHaveLength(1);
      await begin(b);
      expect([await gate(b), await gate(a)]).toEqual([[], []]);
    });
  });
});
