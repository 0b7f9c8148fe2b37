import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { logKey, type ConversationId, type LogKey } from '../core/address.ts';
import { EarpieceError } from '../core/errors.ts';
import type { NotificationId } from '../core/notification.ts';
import { DEFAULT_POLICY, type Policy } from '../core/policy.ts';
import type { Store } from '../core/ports.ts';
import type { Draft, Owner } from '../core/records.ts';
import { memoryStore, openSqliteStore } from '../stores/index.ts';
import { Inbox, type Conversation } from './index.ts';
import { proves } from '../../e2e/verifies.ts';

const LOG = logKey('shop', 'coder');
const ME: Owner = { machine: 'here', pid: 1, startedAt: '1' };
const OTHER: Owner = { machine: 'here', pid: 2, startedAt: '1' };

const STORES: readonly { name: string; open: (clock: { now(): number }, folder: string) => Promise<Store> }[] = [
  { name: 'memory', open: async (clock) => memoryStore({ clock }) },
  { name: 'sqlite', open: async (clock, folder) => openSqliteStore({ path: join(folder, 'earpiece.db'), clock }) },
];

describe.each(STORES)('inbox over $name', ({ open }) => {
  let folder: string;
  let store: Store;
  let now: number;
  let policy: Policy;
  let dead: Set<number>;
  let inbox: Inbox;

  const openInbox = (owner: Owner = ME): Inbox =>
    new Inbox({
      store,
      policies: { policy: () => policy, decidedBy: () => ({ file: '/etc/xdg/earpiece/earpiece.toml:3', scope: 'user' }) },
      owner,
      isAlive: (o) => (o.machine === 'here' ? !dead.has(o.pid) : undefined),
      timeZone: 'UTC',
    });
  const talk = (
    id = 'main',
    options: ConstructorParameters<typeof Conversation>[3] = { pulls: true },
    of: Inbox = inbox,
  ): Conversation => of.conversation({ log: LOG, conversation: id as ConversationId }, options);
  const result = (id: string): { type: 'tool_call_response'; id: string; content: string; is_error: boolean } => ({
    type: 'tool_call_response',
    id,
    content: `result ${id}`,
    is_error: false,
  });
  const receipt = async (id: string): Promise<readonly string[] | undefined> =>
    (await inbox.why(id, LOG))?.items.map((i) => i.receipt);

  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'earpiece-inbox-'));
    now = 1_700_000_000_000;
    policy = DEFAULT_POLICY;
    dead = new Set();
    store = await open({ now: () => now }, folder);
    inbox = openInbox();
  });
  afterEach(async () => {
    await inbox.close();
    rmSync(folder, { recursive: true, force: true });
  });

  it.each([[[]], [['sk-\\w+']]])('data is stored as JSON at the time of queueing (redact %j)', async (redact) => {
    policy = { ...DEFAULT_POLICY, redact };
    const data = { at: new Date(0), left: undefined, list: [1, undefined] };
    const queued = inbox.queue('shop/coder', { message: 'x', key: 'k', id: 'n1', data: data as never });
    data.list.push(2);
    await queued;
    const [item] = await store.items(LOG, { kind: 'open' });
    expect(item?.notification.data).toEqual({ at: '1970-01-01T00:00:00.000Z', list: [1, null] });
  });

  describe('own transcript', () => {
    it('delivers a notification in one record that the model reads, and never again', async () => {
      proves('delivery:once', 'delivery:whole', 'delivery:nothing');
      await inbox.queue('shop/coder', { message: 'CI failed', kind: 'ci.failed', level: 'error', id: 'n1' });
      const first = await talk().carry(result('c1'), { at: 'tool_batch_end' });
      const second = await talk().carry(result('c2'), { at: 'tool_batch_end' });
      expect(first.text).toMatch(/^result c1\n\n\[ep .*CI failed/s);
      expect(second.text).toBe('result c2');
      expect(first.records.at(-1)?.body).toMatchObject({
        type: 'tool_call_response',
        id: 'c1',
        notifications: [{ id: 'n1', message: 'CI failed' }],
      });
      expect(second.records.at(-1)?.body).not.toHaveProperty('notifications');
      expect(await receipt('n1')).toEqual(['delivered']);
    });

    it('failing results and user messages carry notifications too', async () => {
      proves('delivery:carriers');
      await inbox.queue('shop/coder', { message: 'one' });
      expect((await talk().carry({ ...result('c1'), is_error: true }, { at: 'tool_batch_end' })).text).toContain('one');
      await inbox.queue('shop/coder', { message: 'two' });
      expect((await talk().carry({ type: 'chat_request', content: 'go on' }, { at: 'turn_start' })).text).toMatch(
        /^go on\n\n.*two/s,
      );
    });

    it('counts turns for notifications that wait for turns', async () => {
      proves('plan:moment');
      await inbox.queue('shop/coder', { message: 'later', deliver: { afterTurns: 2 }, id: 'n1' });
      const chat = talk('main', { points: ['turn_start', 'tool_batch_end'] });
      const turn = (): Promise<{ text: string }> =>
        chat.carry([{ type: 'turn_start' }, { type: 'chat_request', content: 'hi' }], { at: 'turn_start' });
      expect((await turn()).text).toBe('hi');
      expect((await turn()).text).toBe('hi');
      expect((await turn()).text).toContain('later');
    });

    it('closes a notification as known if the agent learned its fact by itself', async () => {
      proves('plan:relevance');
      await inbox.queue('shop/coder', { message: 'build ended', about: 'handle:build', id: 'n1' });
      expect((await talk().carry(result('c1'), { at: 'tool_batch_end', known: { 'handle:build': now } })).view).toBeUndefined();
      expect(await receipt('n1')).toEqual(['known']);
    });
  });

  describe('a lease', () => {
    it('closes its notifications when it is confirmed', async () => {
      await inbox.queue('shop/coder', { message: 'x', id: 'n1' });
      const offer = await talk().offer({ at: 'tool_result', on: 'read' });
      expect(offer?.ids).toEqual(['n1']);
      expect(await receipt('n1')).toEqual(['offered']);
      expect(await talk().offer({ at: 'tool_result' })).toBeUndefined();
      expect(await offer?.confirm()).toBe('confirmed');
      expect(await receipt('n1')).toEqual(['delivered']);
      expect(await talk().offer({ at: 'tool_result' })).toBeUndefined();
    });

    it('a released notification is offered again with the same id and item text, marked as repeated', async () => {
      proves('lease:released', 'view:stable');
      await inbox.queue('shop/coder', { message: 'x changed', id: 'n1' });
      const first = await talk().offer({ at: 'tool_result' });
      await first?.release('cancelled');
      await inbox.queue('shop/coder', { message: 'y changed', id: 'n2' });
      const second = await talk().offer({ at: 'tool_result' });
      expect(first?.view.repeated).toBeUndefined();
      expect(second?.view.repeated).toBe(true);
      expect(second?.view.text).toContain('repeated');
      expect(second?.view.items.find((i) => i.ids[0] === first?.ids[0])).toEqual({ ...first?.view.items[0], repeated: true });
    });

    it('the rest of a line is offered again without the withdrawn part, and keeps its new text', async () => {
      proves('lease:withdrawn', 'lease:repeated');
      await inbox.queue('shop/coder', { message: 'unit tests are red', kind: 'ci.failed', level: 'error', id: 'n1' });
      await inbox.queue('shop/coder', { message: 'lint is red', kind: 'ci.failed', level: 'error', id: 'n2' });
      const first = await talk().offer({ at: 'tool_result' });
      expect(first?.view.items).toMatchObject([{ ids: ['n1', 'n2'] }]);
      expect(first?.view.items[0]?.text).toContain('unit tests are red');
      await first?.release('cancelled');
      await inbox.withdraw('shop/coder', { id: 'n1' }, { by: 'me', reason: 'green again' });
      // A new notification does not join a line that was sent, because the whole line is marked as repeated.
      await inbox.queue('shop/coder', { message: 'docs are red', kind: 'ci.failed', level: 'error', id: 'n3' });
      const second = await talk().offer({ at: 'tool_result' });
      expect(second?.view.items).toMatchObject([{ ids: ['n2'], repeated: true }, { ids: ['n3'] }]);
      expect(second?.view.items[1]).not.toHaveProperty('repeated');
      expect(second?.view.items[0]?.text).toBe('ci error: lint is red');
      expect(second?.view.text).not.toContain('unit tests');
      expect(second?.view.text).toContain('2 notifications, 1 repeated');
      await second?.release('cancelled');
      const third = await talk().offer({ at: 'tool_result' });
      expect(third?.view.items.map(({ text }) => text)).toEqual(second?.view.items.map(({ text }) => text));
      expect(third?.view.text).toContain('2 notifications, repeated');
      expect(await store.verify()).toEqual([]);
    });

    it('an offer from before 0.1.0 that copied the text of a line with a closed part is still valid', async () => {
      for (const id of ['n1', 'n2']) await inbox.queue('shop/coder', { message: `${id} is red`, kind: 'ci.failed', id });
      const first = await talk().offer({ at: 'tool_result' });
      await first?.release('cancelled');
      await inbox.withdraw('shop/coder', { id: 'n1' }, { by: 'me', reason: 'green again' });
      const text = first?.view.items[0]?.text ?? '';
      const [offered] = await store.read({ log: LOG, types: ['carrier_offered'] });
      const again = { ...offered?.body, carrier: 'c-old', ids: ['n2'], view: { items: [{ ids: ['n2'], text, repeated: true }] } };
      expect(await store.append(LOG, [again as unknown as Draft])).toMatchObject({ kind: 'appended' });
      expect(await store.items(LOG, { kind: 'open', conversation: 'main' as ConversationId })).toMatchObject([
        { id: 'n2', text, group: ['n1', 'n2'] },
      ]);
    });

    it('the rest of a line with an expired part is never summarized', async () => {
      proves('lease:withdrawn');
      policy = { ...DEFAULT_POLICY, maxItems: 1 };
      const expiresAt = now + 10_000;
      await inbox.queue('shop/coder', { message: 'unit tests are slow', kind: 'ci.slow', level: 'warning', id: 'n1', expiresAt });
      await inbox.queue('shop/coder', { message: 'lint is slow', kind: 'ci.slow', level: 'warning', id: 'n2' });
      await (await talk().offer({ at: 'tool_result' }))?.release('cancelled');
      now += 10_001;
      await inbox.queue('shop/coder', { message: 'the disk is full', kind: 'disk.full', level: 'error', id: 'n3' });
      const second = await talk().offer({ at: 'tool_result' });
      expect(second?.view.items).toMatchObject([{ ids: ['n3'] }]);
      await second?.confirm();
      const third = await talk().offer({ at: 'tool_result' });
      expect(third?.view.items).toEqual([{ ids: ['n2'], text: 'ci warning: lint is slow', repeated: true }]);
    });

    it.each(['late', 'too_big'] as const)(
      'if an offer is released as %s, nothing was sent, and the next offer counts as the first offer',
      async (reason) => {
        proves('lease:released');
        await inbox.queue('shop/coder', { message: 'x changed', id: 'n1' });
        await (await talk().offer({ at: 'tool_result' }))?.release(reason);
        expect((await inbox.why('n1'))?.items[0]?.receipt).toBe('queued');
        const next = await talk().offer({ at: 'tool_result' });
        expect(next?.view.repeated).toBeUndefined();
        await next?.release('cancelled');
        await (await talk().offer({ at: 'tool_result' }))?.release(reason);
        expect((await talk().offer({ at: 'tool_result' }))?.view.repeated).toBe(true);
        expect(await store.verify()).toEqual([]);
      },
    );

    it('the offer of a dead owner ends at once, and the offer of a living owner ends with its lease', async () => {
      proves('lease:dead-owner');
      const other = openInbox(OTHER);
      await inbox.queue('shop/coder', { message: 'x', id: 'n1' });
      await talk('main', {}, other).offer({ at: 'tool_result' });
      expect(await talk().offer({ at: 'tool_result' })).toBeUndefined();
      dead.add(OTHER.pid);
      const again = await talk().offer({ at: 'tool_result' });
      expect(again?.ids).toEqual(['n1']);
      now += policy.leaseMs;
      expect((await talk().offer({ at: 'tool_result' }))?.ids).toEqual(['n1']);
    });

    it('the offer of another machine stays leased, even if the clock of that machine is some seconds ahead', async () => {
      proves('lease:dead-owner');
      policy = { ...DEFAULT_POLICY, leaseMs: 30_000 };
      const other = openInbox({ ...OTHER, machine: 'elsewhere' });
      await inbox.queue('shop/coder', { message: 'x', id: 'n1' });
      const offer = await talk('main', {}, other).offer({ at: 'tool_result' });
      now -= 5_000;
      expect(await talk().offer({ at: 'tool_result' })).toBeUndefined();
      expect(await offer?.confirm()).toBe('confirmed');
    });

    it('a late confirmation is recorded as late, and does not close the notification again', async () => {
      proves('lease:late-confirm');
      const other = openInbox(OTHER);
      await inbox.queue('shop/coder', { message: 'x', id: 'n1' });
      const first = await talk('main', {}, other).offer({ at: 'tool_result' });
      now += policy.leaseMs + 1;
      const second = await talk().offer({ at: 'tool_result' });
      await second?.confirm();
      expect(await first?.confirm()).toBe('late');
      const confirms = (await store.read({ log: LOG, types: ['carrier_confirmed'] })).map(({ body }) =>
        'late' in body ? 'late' : 'in time',
      );
      expect(confirms).toEqual(['in time', 'late']);
      expect((await store.items(LOG, { kind: 'ids', ids: ['n1' as never] })).map((i) => i.carrier)).toEqual([second?.carrier]);
    });

    it('is not taken if the view does not fit', async () => {
      await inbox.queue('shop/coder', { message: 'x', id: 'n1' });
      expect(await talk().offer({ at: 'tool_result', maxChars: 10 })).toBeUndefined();
      expect(await receipt('n1')).toEqual(['queued']);
    });

    it('its text is measured in bytes if the host counts bytes', async () => {
      await inbox.queue('shop/coder', { message: '字'.repeat(100), id: 'n1' });
      expect(await talk().offer({ at: 'tool_result', maxChars: 300, inBytes: true })).toBeUndefined();
      expect((await talk().offer({ at: 'tool_result', maxChars: 300 }))?.ids).toEqual(['n1']);
    });

    it('summarized notifications close when their carrier is confirmed, and not before', async () => {
      proves('pull:rest', 'plan:budget');
      policy = { ...DEFAULT_POLICY, maxItems: 1, coalesceMs: {} };
      for (const id of ['n1', 'n2', 'n3']) await inbox.queue('shop/coder', { message: id, id, kind: 'files.changed' });
      const offer = await talk().offer({ at: 'tool_result' });
      await offer?.release('cancelled');
      expect(await receipt('n3')).toEqual(['queued']);
      const again = await talk().offer({ at: 'tool_result' });
      await again?.confirm();
      expect(await receipt('n1')).toEqual(['delivered']);
      expect(await receipt('n3')).toEqual(['summarized']);
      expect(again?.view.text).toContain('2 more');
      const pulled = await talk().pull({ mark: true });
      expect(pulled.notifications.map((n) => n.id)).toEqual(['n3', 'n2']);
      await pulled.offer?.confirm();
      expect(await receipt('n3')).toEqual(['read']);
      expect((await talk().pull({ mark: true })).notifications).toEqual([]);
    });

    it('explains its mark once for each conversation', async () => {
      for (const message of ['one', 'two']) {
        await inbox.queue('shop/coder#a', { message });
        const offer = await talk('a').offer({ at: 'tool_result' });
        expect(/mark/.test(offer?.view.text ?? '')).toBe(message === 'one');
        await offer?.confirm();
      }
    });
  });

  describe('withdraw, requeue, mute', () => {
    it('a withdrawal reports whether it was in time', async () => {
      proves('lease:withdrawn');
      for (const id of ['early', 'seen', 'done'])
        await inbox.queue('shop/coder', { message: id, id, kind: `a.${id}`, instruction: 'x' });
      const why = { by: 'me', reason: 'test' };
      expect(await inbox.withdraw('shop/coder', { id: 'early' }, why)).toEqual([{ id: 'early', result: 'withdrawn' }]);
      const offer = await talk().offer({ at: 'tool_result' });
      expect(offer?.ids).toEqual(['seen', 'done']);
      expect(await inbox.withdraw('shop/coder', { id: 'seen' }, why)).toEqual([{ id: 'seen', result: 'maybe_seen' }]);
      await offer?.confirm();
      expect(await inbox.withdraw('shop/coder', { id: 'done' }, why)).toEqual([{ id: 'done', result: 'too_late' }]);
      expect(await inbox.withdraw('shop/coder', { id: 'never' }, why)).toEqual([{ id: 'never', result: 'unknown' }]);
      expect(await receipt('seen')).toEqual(['maybe_seen']);
      expect(await talk().offer({ at: 'tool_result' })).toBeUndefined();
    });

    it('a withdrawal may be repeated, and reports "maybe_seen" if the notification was offered, even if it expired', async () => {
      proves('lease:withdrawn');
      const why = { by: 'me', reason: 'test' };
      await inbox.queue('shop/coder', { message: 'x', id: 'seen' });
      await (await talk().offer({ at: 'tool_result' }))?.release('cancelled');
      expect(await inbox.withdraw('shop/coder', { id: 'seen' }, why)).toEqual([{ id: 'seen', result: 'maybe_seen' }]);
      expect(await inbox.withdraw('shop/coder', { id: 'seen' }, why)).toEqual([{ id: 'seen', result: 'maybe_seen' }]);
      await inbox.queue('shop/coder', { message: 'x', id: 'early' });
      for (const _again of [1, 2])
        expect(await inbox.withdraw('shop/coder', { id: 'early' }, why)).toEqual([{ id: 'early', result: 'withdrawn' }]);
      const expiresAt = now + 1_000;
      await inbox.queue('shop/coder', { message: 'x', id: 'expired', expiresAt });
      await (await talk().offer({ at: 'tool_result' }))?.release('cancelled');
      now += 1_001;
      expect(await talk().offer({ at: 'tool_result' })).toBeUndefined();
      expect(await inbox.withdraw('shop/coder', { id: 'expired' }, why)).toEqual([{ id: 'expired', result: 'maybe_seen' }]);
    });

    it('a withdrawn notification counts as maybe seen if one of several conversations had offered and released it', async () => {
      proves('lease:withdrawn');
      for (const name of ['a', 'b']) await talk(name).seen();
      await inbox.queue('shop/*', { message: 'x', id: 'n1', level: 'critical' });
      await (await talk('b').offer({ at: 'tool_result' }))?.release('client_died');
      await store.append('shop/coder' as LogKey, [
        {
          type: 'notification_closed',
          ids: ['n1' as NotificationId],
          conversation: 'b' as ConversationId,
          outcome: 'known',
          by: 'succession',
          reason: 'test',
        },
      ]);
      expect(await inbox.withdraw('shop/coder', { id: 'n1' }, { by: 'me', reason: 'test' })).toEqual([
        { id: 'n1', result: 'maybe_seen' },
      ]);
    });

    it.each([
      ['cancelled', 'maybe_seen'],
      ['late', 'superseded'],
    ] as const)('an older state that was released as %s is not offered again after the newer state', async (reason, ends) => {
      proves('plan:supersede');
      const other = openInbox(OTHER);
      const state = (message: string) => ({ message, id: message, kind: 'ci.state', key: 'ci', supersede: true }) as const;
      await inbox.queue('shop/coder', state('red'));
      const older = await talk('main', {}, other).offer({ at: 'tool_result' });
      expect(older?.ids).toEqual(['red']);
      await inbox.queue('shop/coder', state('green'));
      const newer = await talk().offer({ at: 'tool_result' });
      expect(newer?.ids).toEqual(['green']);
      await newer?.confirm();
      await older?.release(reason);
      expect(await talk().offer({ at: 'tool_result' })).toBeUndefined();
      expect(await receipt('red')).toEqual([ends]);
      expect(await store.verify()).toEqual([]);
    });

    it('a state that was in flight when a newer state was queued counts as delivered when it arrives', async () => {
      proves('plan:supersede');
      const other = openInbox(OTHER);
      const state = (message: string) => ({ message, id: message, kind: 'ci.state', key: 'ci', supersede: true }) as const;
      await inbox.queue('shop/coder', state('red'));
      const older = await talk('main', {}, other).offer({ at: 'tool_result' });
      await inbox.queue('shop/coder', state('green'));
      await (await talk().offer({ at: 'tool_result' }))?.confirm();
      expect(await older?.confirm()).toBe('confirmed');
      expect(await receipt('red')).toEqual(['delivered']);
    });

    it('a withdrawal by key withdraws every open notification of the key', async () => {
      await inbox.queue('shop/coder', { message: 'down', key: 'mcp:x', supersede: true });
      await inbox.queue('shop/coder', { message: 'down again', key: 'mcp:x', supersede: true });
      expect((await inbox.withdraw('shop/coder', { key: 'mcp:x' }, { by: 'mcp', reason: 'back' })).map((w) => w.result)).toEqual([
        'withdrawn',
        'withdrawn',
      ]);
      expect(await inbox.open('shop/coder')).toEqual([]);
    });

    it('a filtered notification can be queued again, under a new id', async () => {
      proves('plan:filtered-recorded');
      policy = { ...DEFAULT_POLICY, flat: { 'ci.ok': false } };
      await inbox.queue('shop/coder', { message: 'green', kind: 'ci.ok', id: 'n1' });
      expect(await talk().offer({ at: 'tool_result' })).toBeUndefined();
      expect(await receipt('n1')).toEqual(['filtered']);
      const origin = { file: '/etc/xdg/earpiece/earpiece.toml:3', scope: 'user' };
      expect((await inbox.why('n1', LOG))?.items[0]?.verdict).toMatchObject({ kind: 'filtered', ...origin });
      policy = DEFAULT_POLICY;
      const again = await inbox.requeue('shop/coder', 'n1', 'me');
      expect(again.id).not.toBe('n1');
      expect((await talk().offer({ at: 'tool_result' }))?.ids).toEqual([again.id]);
      await expect(inbox.requeue('shop/coder', again.id, 'me')).rejects.toThrow('only a closed notification');
      await expect(inbox.requeue('shop/coder', 'nope', 'me')).rejects.toThrow('no notification "nope"');
    });

    it('requeue queues the closed copies of a notification for several conversations again', async () => {
      const [a, b] = ['a', 'b'].map((id) => inbox.conversation({ log: LOG, conversation: id as ConversationId }, {}));
      await a?.seen();
      await b?.seen();
      await inbox.queue('shop/coder', { id: 'n1', message: 'stop', action: 'cancel' });
      await expect(inbox.requeue('shop/coder', 'n1', 'me')).rejects.toThrow('n1 is open');
      await (await b?.offer({ at: 'turn_start' }))?.confirm();
      expect(await inbox.requeue('shop/coder', 'n1', 'me')).toMatchObject({ kind: 'queued', to: ['shop/coder#b'] });
      await (await a?.offer({ at: 'turn_start' }))?.confirm();
      const both = ['shop/coder#a', 'shop/coder#b'];
      const again = await inbox.requeue('shop/coder', 'n1', 'me');
      expect([...again.to].toSorted()).toEqual(both);
      const open = await inbox.open('shop/coder');
      expect(
        open
          .filter(({ id }) => id === again.id)
          .map(({ audience }) => `shop/coder#${audience}`)
          .toSorted(),
      ).toEqual(both);
    });

    it('a muted kind is filtered until the time of the mute has passed', async () => {
      proves('queue:mute');
      await inbox.mute('shop/coder', 'ci', { by: 'me', forMs: 1_000 });
      await inbox.queue('shop/coder', { message: 'x', kind: 'ci.ok', id: 'n1' });
      expect(await talk().offer({ at: 'tool_result' })).toBeUndefined();
      now += 1_001;
      await inbox.queue('shop/coder', { message: 'y', kind: 'ci.ok', id: 'n2' });
      expect((await talk().offer({ at: 'tool_result' }))?.ids).toEqual(['n2']);
    });

    it('an id is queued once, even if it is queued again before and after its delivery', async () => {
      proves('log:idempotent');
      expect((await inbox.queue('shop/coder', { message: 'x', id: 'mine' })).kind).toBe('queued');
      expect((await inbox.queue('shop/coder', { message: 'x', id: 'mine' })).kind).toBe('duplicate');
      const offer = await talk().offer({ at: 'tool_result' });
      await offer?.confirm();
      expect((await inbox.queue('shop/coder', { message: 'x', id: 'mine' })).kind).toBe('duplicate');
      expect(await talk().offer({ at: 'tool_result' })).toBeUndefined();
    });

    it('notifications with one key are counted with their differences, until the first offer', async () => {
      proves('queue:fold');
      await inbox.queue('shop/coder', { message: 'timeout', key: 'k', kind: 'tool.failed', level: 'error', id: 'n1' });
      expect(
        await inbox.queue('shop/coder', { message: 'timeout', key: 'k', kind: 'tool.failed', level: 'error', id: 'n2' }),
      ).toMatchObject({ kind: 'folded', into: 'n1' });
      await inbox.queue('shop/coder', { message: 'refused', key: 'k', kind: 'tool.failed', level: 'error', id: 'n3' });
      expect(
        (await inbox.queue('shop/coder', { message: 'refused', key: 'k', kind: 'tool.failed', level: 'error', id: 'n3' })).kind,
      ).toBe('duplicate');
      const offer = await talk().offer({ at: 'tool_result' });
      expect(offer?.view.text).toMatch(/timeout; refused \(3 in all, last/);
      expect(
        (await inbox.queue('shop/coder', { message: 'timeout', key: 'k', kind: 'tool.failed', level: 'error', id: 'n4' })).kind,
      ).toBe('queued');
    });

    it('queueing succeeds if the notification is stored, even if the store then cannot count the open notifications', async () => {
      proves('store:unknown-outcome');
      const away = new EarpieceError('store_unavailable', 'away; try again', { retryable: true });
      store.countOpen = () => Promise.reject(away);
      expect(await inbox.queue('shop/coder', { message: 'a' })).toMatchObject({ kind: 'queued' });
      expect(await inbox.open('shop/coder')).toHaveLength(1);
      store.append = () => Promise.reject(away);
      await expect(inbox.queue('shop/coder', { message: 'b', id: 'b' })).rejects.toMatchObject({
        message: 'away; the notification may be stored nevertheless: queue again with the same id (b)',
        data: { id: 'b' },
      });
    });

    it('beyond maxOpen, no action and no critical notification of a person is dropped', async () => {
      policy = { ...DEFAULT_POLICY, maxOpen: 3 };
      await inbox.queue('shop/coder', { id: 'pause', kind: 'user.pause', message: 'wait', action: 'pause' });
      await inbox.queue('shop/coder', {
        id: 'stop',
        kind: 'ci.x',
        message: 'stop',
        level: 'critical',
        origin: { person: 'anna' },
      });
      for (let i = 0; i < 10; i++)
        await inbox.queue('shop/coder', { id: `n${i}`, kind: 'ci.x', message: `noise ${i}`, level: 'error' });
      const open = (await inbox.open('shop/coder')).map(({ id }) => id);
      expect(open).toContain('pause');
      expect(open).toContain('stop');
      expect(open).not.toContain('n0');
    });

    it('data follows its message, and get_notifications returns data that was too long for the line', async () => {
      proves('view:data');
      const data = { build: 12, log: ['a', 'b'] };
      await inbox.queue('shop/coder', { message: 'CI failed', kind: 'ci.failed', data, id: 'n1' });
      const first = await talk().offer({ at: 'tool_result' });
      expect(first?.view.text).toContain('ci info: CI failed\n    data: {"build":12,"log":["a","b"]}\n');
      await first?.confirm();
      const long = { log: 'x'.repeat(5_000) };
      await inbox.queue('shop/coder', { message: 'CI failed', kind: 'ci.failed', data: long, id: 'n2' });
      const second = await talk().offer({ at: 'tool_result' });
      expect(second?.view.text).toMatch(/data: more than 2,000 characters \(all of it: /);
      await second?.confirm();
      const { notifications } = await talk().pull({ mark: true });
      expect(notifications).toMatchObject([{ id: 'n2', data: long }]);
    });

    it('beyond maxOpen, the oldest notifications of the lowest level are dropped, with one summary', async () => {
      proves('queue:max-open');
      policy = { ...DEFAULT_POLICY, maxOpen: 10 };
      for (let i = 0; i < 8; i++) await inbox.queue('shop/coder', { message: `e${i}`, level: 'error', kind: 'ci.failed' });
      for (let i = 0; i < 30; i++) await inbox.queue('shop/coder', { message: `i${i}`, kind: 'files.changed' });
      const open = await inbox.open('shop/coder');
      expect(open.length).toBeLessThanOrEqual(11);
      expect(open.filter((i) => i.notification.level === 'error')).toHaveLength(8);
      const summaries = open.filter((i) => i.notification.kind.source === 'earpiece');
      expect(summaries).toHaveLength(1);
      const dropped = 38 - open.filter((i) => i.notification.kind.source !== 'earpiece').length;
      expect(summaries[0]?.notification.message).toContain(`${dropped} notifications were dropped`);
      expect(summaries[0]?.notification.data).toEqual({ 'files.changed info': dropped });
    });

    it('beyond maxOpen, the model reads that errors were dropped, even if many other notifications are due', async () => {
      proves('queue:max-open');
      policy = { ...DEFAULT_POLICY, maxOpen: 50 };
      for (let i = 0; i < 100; i++) await inbox.queue('shop/coder', { message: `e${i}`, level: 'error', kind: `ci.failed_${i}` });
      const texts: string[] = [];
      for (let offer = await talk().offer({ at: 'tool_result' }); offer; offer = await talk().offer({ at: 'tool_result' })) {
        texts.push(offer.view.text);
        await offer.confirm();
      }
      expect(texts.join('\n')).toMatch(/\d+ notifications were dropped because too many were waiting/u);
    });

    it('a notification expires by its level, when a carrier is composed and in a sweep', async () => {
      proves('queue:expiry');
      await inbox.queue('shop/coder', { message: 'x', id: 'n1' });
      await inbox.queue('shop/coder', { message: 'y', id: 'n2', level: 'warning' });
      now += 24 * 3_600_000;
      await openInbox(OTHER).witnesses.note();
      expect((await talk().offer({ at: 'tool_result' }))?.ids).toEqual(['n2']);
      expect(await receipt('n1')).toEqual(['expired']);
      now += 30 * 24 * 3_600_000;
      await openInbox(OTHER).witnesses.note();
      await inbox.sweep();
      expect(await receipt('n2')).toEqual(['maybe_seen']);
    });
  });

  describe('the gate', () => {
    const stop = (id = 'stop'): Promise<unknown> =>
      inbox.queue('shop/coder', {
        id,
        message: 'stop it',
        action: 'cancel',
        instruction: 'put the tools down',
        origin: { person: 'Ann' },
      });

    it('refuses all calls with one text, and is lowered by get_notifications', async () => {
      proves('gate:one-text', 'gate:lowered', 'pull:read-once');
      await talk().seen();
      await stop();
      const refusals = await Promise.all(Array.from({ length: 8 }, () => talk().refuse({ on: 'write_file' })));
      expect(new Set(refusals.map((r) => r?.text)).size).toBe(1);
      expect(refusals.every((r) => r?.ids.join() === 'stop')).toBe(true);
      expect(refusals.filter((r) => r?.repeated)).toHaveLength(7);
      await refusals.find((r) => r?.offer)?.offer?.confirm();
      expect((await talk().refuse({ on: 'x' }))?.repeated).toBe(true);
      const peek = await talk().pull({ mark: false });
      expect(peek.notifications).toMatchObject([
        { id: 'stop', type: 'interrupt', action: 'cancel', instruction: 'put the tools down', from: 'Ann' },
      ]);
      expect(await talk().gate()).toHaveLength(1);
      const pulled = await talk().pull({ mark: true });
      expect(pulled.notifications).toHaveLength(1);
      await pulled.offer?.confirm();
      expect(await talk().gate()).toEqual([]);
      expect(await talk().refuse({ on: 'x' })).toBeUndefined();
      expect((await store.read({ log: LOG, types: ['gate_refused'] })).length).toBe(9);
      expect(await receipt('stop')).toEqual(['read']);
    });

    it('if a refusal does not arrive, the next refusal delivers the interrupt', async () => {
      await stop();
      const first = await talk().refuse({ on: 'a' });
      await first?.offer?.release('cancelled');
      const second = await talk().refuse({ on: 'b' });
      expect(second?.repeated).toBe(false);
      expect(second?.text).toBe(first?.text.replace('1 notification,', '1 notification, repeated,'));
    });

    it('stays up after the interrupt was delivered with the result of a running call', async () => {
      await stop();
      const offer = await talk().offer({ at: 'tool_result' });
      expect(offer?.view.text).toContain('stop it');
      await offer?.confirm();
      expect(await talk().refuse({ on: 'x' })).toMatchObject({ ids: ['stop'], repeated: true });
    });

    it('is lowered if the interrupt is withdrawn before the agent saw it, and nothing is delivered', async () => {
      await talk().seen();
      await stop();
      expect(await inbox.withdraw('shop/coder', { id: 'stop' }, { by: 'Ann', reason: 'changed my mind' })).toEqual([
        { id: 'stop', result: 'withdrawn' },
      ]);
      expect(await talk().refuse({ on: 'x' })).toBeUndefined();
      expect(await talk().offer({ at: 'tool_result' })).toBeUndefined();
    });

    it('is lowered if the interrupt is withdrawn after the agent saw it', async () => {
      proves('gate:lowered');
      await stop();
      await (await talk().refuse({ on: 'x' }))?.offer?.confirm();
      expect(await inbox.withdraw('shop/coder', { id: 'stop' }, { by: 'Ann', reason: 'go on' })).toEqual([
        { id: 'stop', result: 'gate_lowered' },
      ]);
      expect(await talk().gate()).toEqual([]);
    });

    it('a resume lifts a pause that was seen, and withdraws an unseen pause', async () => {
      proves('gate:lowered');
      await talk().seen();
      await inbox.queue('shop/coder', { id: 'p1', message: 'wait', action: 'pause' });
      await (await talk().refuse({ on: 'x' }))?.offer?.confirm();
      await inbox.queue('shop/coder', { id: 'p2', message: 'wait more', action: 'pause' });
      expect(await talk().gate()).toHaveLength(2);
      await inbox.queue('shop/coder', { id: 'go', message: 'go on', action: 'resume' });
      expect(await talk().gate()).toEqual([]);
      expect(await receipt('p1')).toEqual(['delivered']);
      expect(await receipt('p2')).toEqual(['withdrawn']);
      expect((await talk().offer({ at: 'tool_result' }))?.ids).toEqual(['go']);
    });

    it('is lowered when the interrupt expires', async () => {
      proves('gate:lowered');
      await inbox.queue('shop/coder', { message: 'x', action: 'pause', ttlMs: 1_000 });
      now += 1_000;
      expect(await talk().gate()).toEqual([]);
    });

    it('is lowered at the next turn after the refusal if the host has no get_notifications', async () => {
      proves('gate:model-asked');
      const chat = talk('main', { pulls: false });
      await stop();
      await chat.answered('turn_start');
      expect(await chat.gate()).toHaveLength(1);
      await (await chat.refuse({ on: 'x' }))?.offer?.confirm();
      await chat.answered('turn_start');
      expect(await chat.gate()).toEqual([]);
    });

    it('applies only to conversations of the purpose that the interrupt names', async () => {
      proves('gate:purpose');
      const task = talk('t', { purpose: 'task', pulls: true });
      const chat = talk('c', { purpose: 'chat', pulls: true });
      await task.seen();
      await chat.seen();
      await inbox.queue('shop/coder', { id: 'stop', message: 'blocked', action: 'cancel', purpose: 'task' });
      expect(await chat.refuse({ on: 'x' })).toBeUndefined();
      expect((await chat.pull({ mark: true })).notifications).toEqual([]);
      expect(await task.refuse({ on: 'x' })).toMatchObject({ ids: ['stop'] });
    });

    it('an action reaches each active conversation once', async () => {
      proves('gate:purpose');
      await talk('a').seen();
      await talk('b').seen();
      await stop();
      for (const id of ['a', 'b']) {
        const refusal = await talk(id).refuse({ on: 'x' });
        expect(refusal?.repeated).toBe(false);
        await refusal?.offer?.confirm();
        await (await talk(id).pull({ mark: true })).offer?.confirm();
        expect(await talk(id).gate()).toEqual([]);
      }
    });

    it('a text that matches a redact pattern is stored nowhere', async () => {
      proves('queue:redact');
      policy = { ...DEFAULT_POLICY, redact: ['sk-[a-z0-9]+'] };
      await inbox.queue('shop/coder', {
        message: 'key sk-1 leaked',
        instruction: 'revoke sk-2',
        data: { keys: ['sk-3', 4], of: { ann: 'sk-5' } },
      });
      await talk().withhold('env', '{"content":[{"type":"text","text":"KEY=sk-6"}]}');
      const kept = JSON.stringify([
        await store.read({ log: LOG }),
        await inbox.open('shop/coder'),
        await talk().pull({ mark: false }),
      ]);
      expect(kept).toContain('KEY=[redacted]');
      expect(kept).toContain('revoke [redacted]');
      expect(kept).not.toMatch(/sk-\d/u);
    });

    it('withheld results are kept for the conversation that pulls', async () => {
      proves('pull:rest');
      await talk().withhold('write_file', '{"content":[]}');
      expect((await talk().pull({ mark: false })).withheld).toMatchObject([{ tool: 'write_file', result: '{"content":[]}' }]);
      expect((await talk('other').pull({ mark: true })).withheld).toEqual([]);
      expect((await talk().pull({ mark: true })).withheld).toHaveLength(1);
      expect((await talk().pull({ mark: true })).withheld).toEqual([]);
    });
  });

  describe('addresses', () => {
    it('a notification for an agent reaches its first conversation with a carrier; a notification for a conversation reaches only that conversation', async () => {
      proves('address:agent');
      await inbox.queue('shop/coder', { message: 'any', id: 'any' });
      await inbox.queue('shop/coder#b', { message: 'for b', id: 'b' });
      expect((await talk('a').offer({ at: 'tool_result' }))?.ids).toEqual(['any']);
      expect((await talk('b').offer({ at: 'tool_result' }))?.ids).toEqual(['b']);
    });

    it('a notification to project/* reaches each active conversation once, even if it is queued twice, and never an ended conversation', async () => {
      proves('address:fan-out');
      const writer = inbox.conversation('shop/writer#w');
      await talk('a').seen();
      await talk('b').seen();
      await writer.seen();
      await talk('gone').seen();
      await talk('gone').ended();
      now += 60_000;
      const queued = await inbox.queue('shop/*', { message: 'all', id: 'n1' });
      expect(queued.to.toSorted()).toEqual(['shop/coder#a', 'shop/coder#b', 'shop/writer#w']);
      expect((await inbox.queue('shop/*', { message: 'all', id: 'n1' })).kind).toBe('duplicate');
      for (const chat of [talk('a'), talk('b'), writer]) {
        const offer = await chat.offer({ at: 'tool_result' });
        expect(offer?.ids).toEqual(['n1']);
        await offer?.confirm();
        expect(await chat.offer({ at: 'tool_result' })).toBeUndefined();
      }
      expect(await talk('gone').offer({ at: 'tool_result' })).toBeUndefined();
    });

    it('a repetition for project/* is added to the count of the open notification, and the result says so', async () => {
      const on = (agent: string): Conversation =>
        inbox.conversation({ log: `shop/${agent}` as LogKey, conversation: 'main' as ConversationId });
      for (const agent of ['coder', 'tester']) await on(agent).seen();
      const failed = { key: 'ci', message: 'failed' };
      const first = await inbox.queue('shop/*', { ...failed, id: 'n1' });
      const second = await inbox.queue('shop/*', { ...failed, id: 'n2' });
      expect([first.kind, second]).toMatchObject(['queued', { kind: 'folded', id: 'n2', into: 'n1' }]);
      // The notification is queued, because one of the agents has no open notification of this key.
      await on('writer').seen();
      expect((await inbox.queue('shop/*', { ...failed, id: 'n3' })).kind).toBe('queued');
    });

    it('a notification to project/* is refused if no conversation is active', async () => {
      proves('address:nobody');
      await talk('a').seen();
      now += 31 * 60_000;
      await expect(inbox.queue('shop/*', { message: 'x' })).rejects.toMatchObject({ code: 'nobody_there' });
    });

    it('a conversation without contact for a long time is active while its process lives', async () => {
      await talk('a', { process: OTHER }).seen();
      now += 31 * 60_000;
      expect((await inbox.queue('shop/*', { message: 'x' })).to).toEqual(['shop/coder#a']);
      dead.add(OTHER.pid);
      await expect(inbox.queue('shop/*', { message: 'y' })).rejects.toMatchObject({ code: 'nobody_there' });
    });

    it('the next process finishes a fan-out that was cut off', async () => {
      proves('address:fan-out');
      await store.append('shop/*' as LogKey, [
        {
          type: 'fan_out',
          id: 'n1',
          notification: { id: 'n1', kind: { source: 'a', name: 'b' }, level: 'info', message: 'x' },
          targets: [{ log: LOG, conversations: ['a'] }],
        },
      ]);
      await talk('a').seen();
      await inbox.queue('shop/*', { message: 'y', id: 'n2' });
      expect((await talk('a').offer({ at: 'tool_result' }))?.ids).toEqual(['n1', 'n2']);
    });
  });

  it('a signal says that notifications wait until they are pulled, and closes no notification', async () => {
    proves('pull:signal');
    const chat = talk('main', { view: 'signal_en', pulls: true });
    expect(await chat.signal({ at: 'tool_result' })).toMatchObject({ waiting: false });
    await inbox.queue('shop/coder', { message: 'x', id: 'n1' });
    expect(await chat.offer({ at: 'tool_result' })).toBeUndefined();
    for (let i = 0; i < 3; i++) expect(await chat.signal({ at: 'tool_result' })).toMatchObject({ waiting: true });
    const pulled = await chat.pull({ mark: true });
    expect(pulled.notifications.map((n) => n.id)).toEqual(['n1']);
    await pulled.offer?.confirm();
    expect(await chat.signal({ at: 'tool_result' })).toMatchObject({ waiting: false });
    expect(await receipt('n1')).toEqual(['read']);
  });

  it("a pull shows the agent's own notifications, newest first; notifications in a lost answer can be pulled again", async () => {
    proves('pull:newest-first', 'pull:read-once', 'address:other-agent');
    await inbox.queue('shop/coder', { message: 'one', id: 'n1', data: { task_id: 't9' } });
    await inbox.queue('shop/coder', { message: 'two', id: 'n2' });
    await inbox.queue('shop/writer', { message: 'not mine', id: 'n3' });
    const first = await talk().pull({ mark: true });
    expect(first.notifications.map((n) => [n.id, n.task_id])).toEqual([
      ['n2', undefined],
      ['n1', 't9'],
    ]);
    expect((await talk().pull({ mark: true })).notifications).toEqual([]);
    await first.offer?.release('write_error');
    expect((await talk().pull({ mark: true })).notifications.map((n) => n.id)).toEqual(['n2', 'n1']);
  });

  it('`watch` yields the records of all inboxes of the store, once and in order', async () => {
    const stop = new AbortController();
    const seen: string[] = [];
    const enough = Promise.withResolvers<void>();
    const watching = (async () => {
      for await (const { body } of inbox.watch({ log: LOG, after: 0, signal: stop.signal })) {
        seen.push(String((body as { id?: string }).id));
        if (seen.length === 3) enough.resolve();
      }
    })();
    for (const id of ['n1', 'n2', 'n3']) await openInbox(OTHER).queue('shop/coder', { message: id, id });
    await enough.promise;
    stop.abort();
    await watching;
    expect(seen).toEqual(['n1', 'n2', 'n3']);
  });

  it('`why` shows the whole history of a notification', async () => {
    proves('delivery:receipts');
    await inbox.queue('shop/coder', { message: 'x', id: 'n1', deliver: 'turn_start' });
    expect((await inbox.why('n1'))?.items[0]?.now[0]?.decision).toMatchObject({
      kind: 'keep',
      step: 'moment',
      cause: { kind: 'moment', moment: 'turn_start' },
      reason: 'waits for turn_start',
    });
    const chat = talk('main', { points: ['tool_result'] });
    const offer = await chat.offer({ at: 'tool_result', on: 'read' });
    await offer?.release('cancelled');
    await (await chat.offer({ at: 'tool_result', on: 'write' }))?.confirm();
    const seen = { type: 'notification_observed', ids: ['n1'], evidence: 'transcript line 84' };
    await inbox.store.append(logKey('shop', 'coder'), [seen]);
    const story = await inbox.why('n1');
    expect(story?.items[0]?.receipt).toBe('observed');
    expect(story?.items[0]?.steps.map((s) => s.what)).toEqual([
      'queued',
      'offered',
      'released',
      'offered',
      'delivered',
      'observed',
    ]);
    expect(story?.items[0]?.steps[2]?.detail).toMatch(/^the client cancelled the call, carrier c_\w+$/u);
    expect(await inbox.why('nope')).toBeUndefined();
  });

  it('`why` names the call whose result carried a notification, and words each step for a person', async () => {
    await inbox.queue('shop/coder', { message: 'x', id: 'n1', level: 'error' });
    await talk('main').carry(result('call_7'), { at: 'tool_result', tools: ['bash'] });
    await inbox.markRead('shop/coder', ['n1'], 'browser of Mira');
    await inbox.queue('shop/coder', { message: 'x', id: 'o1', level: 'error', key: 'k', supersede: true });
    await inbox.queue('shop/coder', { message: 'y', id: 'o2', level: 'error', key: 'k', supersede: true });
    await talk('main').carry(result('call_8'), { at: 'tool_result' });
    const steps = async (id: string): Promise<unknown> =>
      (await inbox.why(id))?.items[0]?.steps.map(({ what, detail, call }) => [what, detail, call]);
    expect(await steps('n1')).toEqual([
      ['queued', undefined, undefined],
      ['delivered', 'in the result of call_7', 'call_7'],
      ['marked as read', 'by Mira in the console', undefined],
    ]);
    expect(await steps('o1')).toEqual([
      ['queued', undefined, undefined],
      ['superseded', 'o2 is newer with key k', undefined],
    ]);
  });

  it('the times of records and the deliveries stay in order if the clock runs backwards', async () => {
    proves('log:clock');
    await inbox.queue('shop/coder', { message: 'x', id: 'n1' });
    now -= 3_600_000;
    await inbox.queue('shop/coder', { message: 'y', id: 'n2', level: 'error' });
    const ats = (await store.read({ log: LOG })).map((r) => r.at);
    expect(ats).toEqual(ats.toSorted((a, b) => a - b));
    expect((await talk().offer({ at: 'tool_result' }))?.ids).toEqual(['n2', 'n1']);
  });

  it('`quiet` is never true while a notification of any process is open, is offered or holds the gate', async () => {
    const chat = talk('a');
    expect(chat.quiet()).toBe(false);
    await chat.seen();
    expect(chat.quiet()).toBe(true);
    expect(chat.quiet()).toBe(true);
    await openInbox(OTHER).queue('shop/coder', { message: 'x' });
    expect(chat.quiet()).toBe(false);
    const offer = await chat.offer({ at: 'tool_result' });
    expect(chat.quiet()).toBe(false);
    await offer?.confirm();
    expect(chat.quiet()).toBe(true);
    await inbox.queue('shop/coder#b', { message: 'for another' });
    expect(chat.quiet()).toBe(true);
    await inbox.queue('shop/coder#a', { message: 'stop', action: 'pause', id: 'p' });
    const rode = await chat.offer({ at: 'tool_result' });
    await rode?.confirm();
    expect(chat.quiet()).toBe(false);
    await inbox.resume('shop/coder', { person: 'Ann' });
    await (await chat.offer({ at: 'tool_result' }))?.confirm();
    expect(chat.quiet()).toBe(true);
    await openInbox(OTHER).store.touch({ log: LOG, conversation: chat.id, ended: true });
    expect(chat.quiet()).toBe(false);
    chat.forgetSeen();
    await chat.seen();
    expect(chat.quiet()).toBe(true);
    now += 60_000;
    expect(chat.quiet()).toBe(false);
  });

  it('an offer that does not mark an item as repeated is refused if an earlier offer of the item was released', async () => {
    await inbox.queue('shop/coder', { message: 'x', id: 'n1' });
    await (await talk().offer({ at: 'tool_result' }))?.release('cancelled');
    const unaware = {
      type: 'carrier_offered',
      carrier: 'c9',
      conversation: 'main',
      at_point: 'tool_result',
      ids: ['n1'],
      owner: ME,
      until: now + 1,
      view: { format: 'default', items: [], text: '' },
    };
    expect((await store.append(LOG, [unaware as unknown as Draft])).kind).toBe('conflict');
    expect((await talk().offer({ at: 'tool_result' }))?.view.repeated).toBe(true);
  });

  it('an offer that marks only one of two repeated items as repeated is refused', async () => {
    await inbox.queue('shop/coder', { message: 'x', id: 'n1', instruction: 'stands alone' });
    await (await talk().offer({ at: 'tool_result' }))?.release('cancelled');
    await inbox.queue('shop/coder', { message: 'y', id: 'n2', instruction: 'stands alone' });
    const knows = (repeated: readonly string[]): Draft =>
      ({
        type: 'carrier_offered',
        carrier: `c-${repeated.length}`,
        conversation: 'main',
        at_point: 'tool_result',
        ids: ['n1', 'n2'],
        owner: ME,
        until: now + 1,
        view: {
          format: 'default',
          items: ['n1', 'n2'].map((id) => ({ ids: [id], text: id, ...(repeated.includes(id) ? { repeated: true } : {}) })),
          text: '',
          repeated: true,
        },
      }) as unknown as Draft;
    const other = await talk().offer({ at: 'tool_result' });
    await other?.release('cancelled');
    expect((await store.append(LOG, [knows(['n1'])])).kind).toBe('conflict');
    expect((await store.append(LOG, [knows(['n1', 'n2'])])).kind).toBe('appended');
  });

  it('two carriers of one conversation never both get a notification', async () => {
    proves('delivery:two-carriers');
    const other = openInbox(OTHER);
    for (let i = 0; i < 40; i++) {
      await inbox.queue('shop/coder', { message: `m${i}`, id: `n${i}`, instruction: 'stands alone' });
      const offers = await Promise.all([
        talk().offer({ at: 'tool_result' }),
        talk('main', {}, other).offer({ at: 'tool_result' }),
      ]);
      expect(offers.filter((o) => o?.ids.includes(`n${i}` as never))).toHaveLength(1);
      for (const offer of offers) await offer?.confirm();
    }
  });
});
