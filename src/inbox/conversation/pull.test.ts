import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { logKey, type ConversationId } from '../../core/address.ts';
import { DEFAULT_POLICY } from '../../core/policy.ts';
import type { Store } from '../../core/ports.ts';
import { memoryStore, openSqliteStore } from '../../stores/index.ts';
import { Inbox } from '../index.ts';
import type { Pulled } from './pull.ts';
import { proves } from '../../../e2e/verifies.ts';

const STORES: readonly { name: string; open: (clock: { now(): number }, folder: string) => Promise<Store> }[] = [
  { name: 'memory', open: async (clock) => memoryStore({ clock }) },
  { name: 'sqlite', open: async (clock, folder) => openSqliteStore({ path: join(folder, 'earpiece.db'), clock }) },
];

describe.each(STORES)('a pull over $name', ({ open }) => {
  let folder: string;
  let store: Store;
  let now: number;

  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'earpiece-pull-'));
    now = 1_700_000_000_000;
    store = await open({ now: () => now }, folder);
  });
  afterEach(async () => {
    await store.close();
    rmSync(folder, { recursive: true });
  });

  it('shows a notification with a delivery time only after that time, and a notification that waits for a turn at once', async () => {
    proves('pull:due');
    const inbox = new Inbox({ store, policies: { policy: () => DEFAULT_POLICY }, timeZone: 'UTC' });
    const coder = inbox.conversation({ log: logKey('shop', 'coder'), conversation: 'main' as ConversationId }, { pulls: true });
    const pulled = async (): Promise<readonly string[]> => {
      const { notifications, offer } = await coder.pull({ mark: true });
      await offer?.confirm();
      return notifications.map(({ id }) => id);
    };
    await inbox.queue('shop/coder', { id: 'later', message: 'look at the build', deliver: { at: now + 60_000 } });
    await inbox.queue('shop/coder', { id: 'turn', message: 'the tests have passed', deliver: 'turn_start' });
    expect(await pulled()).toEqual(['turn']);
    expect(await pulled()).toEqual([]);
    now += 60_000;
    expect(await pulled()).toEqual(['later']);
  });

  it('shows an unread interrupt although more newer notifications wait than one answer can hold', async () => {
    const inbox = new Inbox({ store, policies: { policy: () => DEFAULT_POLICY }, timeZone: 'UTC' });
    const coder = inbox.conversation({ log: logKey('shop', 'coder'), conversation: 'main' as ConversationId }, { pulls: true });
    await inbox.queue('shop/coder', { id: 'stop', message: 'stop it', level: 'critical' });
    for (const id of ['n1', 'n2', 'n3']) await inbox.queue('shop/coder', { id, message: id });
    const { notifications, more } = await coder.pull({ mark: false, limit: 2 });
    expect(notifications.map(({ id }) => id)).toEqual(['n3', 'stop']);
    expect(more).toBe(2);
  });

  it('says how many notifications are only counted if the log keeps only the first 51 different ones', async () => {
    const inbox = new Inbox({ store, policies: { policy: () => DEFAULT_POLICY }, timeZone: 'UTC' });
    const coder = inbox.conversation({ log: logKey('shop', 'coder'), conversation: 'main' as ConversationId }, { pulls: true });
    const lines = async (): Promise<readonly string[] | undefined> =>
      (await coder.pull({ mark: false })).notifications[0]?.message.split('\n');
    const remarks = Array.from({ length: 53 }, (_, n) => `remark ${n}`);
    for (const message of remarks.slice(0, 51)) await inbox.queue('shop/coder', { message, kind: 'pr.comment', key: 'comments' });
    expect(await lines()).toEqual(remarks.slice(0, 51));
    for (const message of remarks.slice(51)) await inbox.queue('shop/coder', { message, kind: 'pr.comment', key: 'comments' });
    expect(await lines()).toEqual([
      ...remarks.slice(0, 51),
      '(the first 51 different notifications of 53; the others are only counted)',
    ]);
  });

  it('marks an interrupt as repeated if another carrier holds it and may have shown it', async () => {
    proves('pull:repeated');
    const inboxes = [1, 2].map(() => new Inbox({ store, policies: { policy: () => DEFAULT_POLICY }, timeZone: 'UTC' }));
    const [first, second] = inboxes.map((inbox) =>
      inbox.conversation({ log: logKey('shop', 'coder'), conversation: 'main' as ConversationId }, { pulls: true }),
    );
    await inboxes[0]!.queue('shop/coder', { id: 'stop', message: 'stop the deploy', level: 'critical' });
    await inboxes[0]!.queue('shop/coder', { id: 'hold', message: 'wait for me', action: 'pause', origin: { person: 'ann' } });
    const flags = ({ notifications }: Pulled): object =>
      Object.fromEntries(notifications.map((n) => [n.id, n.repeated ?? false]));
    const one = await first!.pull({ mark: true });
    expect(flags(one)).toEqual({ stop: false, hold: false });
    const two = await second!.pull({ mark: true });
    expect(flags(two)).toEqual({ stop: true, hold: true });
    await one.offer?.confirm();
    await two.offer?.confirm();
    expect(flags(await second!.pull({ mark: true }))).toEqual({ hold: true });
  });

  it('a notification that a pull has shown is marked as repeated in the next carrier, although its offer was never sent', async () => {
    proves('pull:repeated');
    const [inbox, other] = [1, 2].map(
      () => new Inbox({ store, policies: { policy: () => DEFAULT_POLICY }, timeZone: 'UTC' }),
    ) as [Inbox, Inbox];
    const here = { log: logKey('shop', 'coder'), conversation: 'main' as ConversationId };
    const coder = inbox.conversation(here, { pulls: true });
    await inbox.queue('shop/coder', { id: 'stop', message: 'stop the deploy', level: 'critical' });
    const offer = await coder.offer({ at: 'tool_result' });
    const { notifications, offer: answer } = await other.conversation(here, { pulls: true }).pull({ mark: true });
    expect(notifications.map(({ id, repeated }) => [id, repeated])).toEqual([['stop', true]]);
    await answer?.confirm();
    await offer?.release('too_big');
    const next = await coder.offer({ at: 'tool_result' });
    expect(next?.view.items.map(({ ids, repeated }) => [ids, repeated])).toEqual([[['stop'], true]]);
  });

  describe('after a summary has counted notifications', () => {
    const LOG = logKey('shop', 'coder');
    const state = { key: 'deploy', kind: 'deploy.state', supersede: true } as const;
    const begun = async (): Promise<{
      inbox: Inbox;
      carried: () => Promise<string>;
      pulled: () => Promise<readonly string[]>;
    }> => {
      const inbox = new Inbox({ store, policies: { policy: () => DEFAULT_POLICY }, timeZone: 'UTC' });
      const coder = inbox.conversation({ log: LOG, conversation: 'main' as ConversationId }, { pulls: true });
      const carried = async (): Promise<string> => {
        const offer = await coder.offer({ at: 'tool_result' });
        await offer?.confirm();
        return offer?.view.text ?? '';
      };
      const pulled = async (): Promise<readonly string[]> => {
        const { notifications, offer } = await coder.pull({ mark: true });
        await offer?.confirm();
        return notifications.map(({ id }) => id);
      };
      for (let n = 0; n < DEFAULT_POLICY.maxItems; n++)
        await inbox.queue('shop/coder', { message: `filler ${n}`, kind: `ci.step_${n}` });
      return { inbox, carried, pulled };
    };
    const verdict = async (inbox: Inbox, id: string): Promise<object | undefined> =>
      (await inbox.why(id, LOG))?.items[0]?.verdict;

    it('shows no state whose newer state was delivered since', async () => {
      proves('pull:rest', 'plan:supersede');
      const { inbox, carried, pulled } = await begun();
      await inbox.queue('shop/coder', { ...state, id: 'v1', message: 'RUNNING' });
      await inbox.queue('shop/coder', { id: 'other', message: 'other', kind: 'ci.other' });
      expect(await carried()).toContain('2 more');
      expect(await verdict(inbox, 'v1')).toMatchObject({ kind: 'summarized', read: false });
      await inbox.queue('shop/coder', { ...state, id: 'v2', message: 'FAILED' });
      expect(await verdict(inbox, 'v1')).toMatchObject({ kind: 'superseded', by: 'v2', over: false });
      expect(await carried()).toContain('FAILED');
      expect(await verdict(inbox, 'v1')).toMatchObject({ kind: 'superseded', by: 'v2', over: false });
      expect(await pulled()).toEqual(['other']);
      expect(await verdict(inbox, 'v1')).toMatchObject({ kind: 'superseded', by: 'v2', over: true });
      expect(await store.verify()).toEqual([]);
    });

    it('shows only the newest of several states', async () => {
      proves('pull:rest', 'plan:supersede');
      const { inbox, carried, pulled } = await begun();
      await inbox.queue('shop/coder', { ...state, id: 'v1', message: 'RUNNING' });
      await carried();
      await inbox.queue('shop/coder', { ...state, id: 'v2', message: 'FAILED' });
      expect(await pulled()).toEqual(['v2']);
      expect(await pulled()).toEqual([]);
    });

    it('shows no notification that has expired since', async () => {
      proves('pull:rest', 'plan:relevance');
      const { inbox, carried, pulled } = await begun();
      await inbox.queue('shop/coder', { id: 'short', message: 'short', expiresAt: now + 3_000 });
      await inbox.queue('shop/coder', { id: 'lasts', message: 'lasts', kind: 'ci.other' });
      expect(await carried()).toContain('2 more');
      now += 3_000;
      expect(await verdict(inbox, 'short')).toMatchObject({ kind: 'expired' });
      expect(await pulled()).toEqual(['lasts']);
    });

    it('shows no notification that was withdrawn since, by its id or its key', async () => {
      proves('pull:rest', 'plan:relevance');
      const { inbox, carried, pulled } = await begun();
      const by = { by: 'Ann', reason: 'it is over' };
      for (const id of ['d1', 'd2', 'd3'])
        await inbox.queue('shop/coder', { id, key: `mcp:${id}`, message: `${id} is down`, kind: `ci.${id}` });
      expect(await carried()).toContain('3 more');
      expect(await inbox.withdraw('shop/coder', { id: 'd1' }, by)).toEqual([{ id: 'd1', result: 'withdrawn' }]);
      expect(await inbox.withdraw('shop/coder', { key: 'mcp:d2' }, by)).toEqual([{ id: 'd2', result: 'withdrawn' }]);
      expect(await pulled()).toEqual(['d3']);
      expect(await inbox.withdraw('shop/coder', { id: 'd3' }, by)).toEqual([{ id: 'd3', result: 'too_late' }]);
      expect(await inbox.withdraw('shop/coder', { key: 'mcp:d3' }, by)).toEqual([]);
      expect(await verdict(inbox, 'd1')).toMatchObject({ kind: 'withdrawn', by: 'Ann', maybeSeen: false });
      expect(await store.verify()).toEqual([]);
    });
  });
});
