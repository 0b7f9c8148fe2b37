import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { logKey, type ConversationId } from '../../core/address.ts';
import type { NotificationInput } from '../../core/notification.ts';
import { DEFAULT_POLICY } from '../../core/policy.ts';
import type { Store } from '../../core/ports.ts';
import type { Draft, Owner } from '../../core/records.ts';
import { memoryStore, openSqliteStore } from '../../stores/index.ts';
import { proves } from '../../../e2e/verifies.ts';
import { Inbox, type Conversation } from '../index.ts';

const LOG = logKey('shop', 'coder');
const ME: Owner = { machine: 'here', pid: 1, startedAt: '1' };
const OTHER: Owner = { machine: 'here', pid: 2, startedAt: '1' };
const STORES: readonly { name: string; open: (clock: { now(): number }, folder: string) => Promise<Store> }[] = [
  { name: 'memory', open: async (clock) => memoryStore({ clock }) },
  { name: 'sqlite', open: async (clock, folder) => openSqliteStore({ path: join(folder, 'earpiece.db'), clock }) },
];

/** Whether the append delivers, closes or claims notifications. */
const takes = (drafts: readonly Draft[]): boolean =>
  drafts.some(({ type, notifications }: Draft & { notifications?: unknown }) =>
    type === 'tool_call_response' ? notifications !== undefined : type === 'carrier_offered' || type === 'notification_closed',
  );

describe.each(STORES)('a notification that is counted between a plan and its append, over $name', ({ open }) => {
  let folder: string;
  let store: Store;
  let now: number;
  let dead: Set<number>;
  let producer: Inbox;
  let made: number;
  /** Runs before each append for which `takes` returns true. */
  let before: (drafts: readonly Draft[]) => Promise<void>;

  const openInbox = (over: Store, owner: Owner): Inbox =>
    new Inbox({
      store: over,
      policies: { policy: () => DEFAULT_POLICY },
      owner,
      isAlive: (o) => !dead.has(o.pid),
      timeZone: 'UTC',
    });
  /** Opens a conversation of another process, which appends only after `before`. */
  const reader = (): Conversation => {
    const slow = new Proxy(store, {
      get: (of, name) => {
        const value: unknown = Reflect.get(of, name);
        if (typeof value !== 'function') return value;
        if (name !== 'append') return value.bind(of) as unknown;
        return async (...args: readonly unknown[]) => {
          if (takes(args[1] as readonly Draft[])) await before(args[1] as readonly Draft[]);
          return Reflect.apply(value, of, args) as unknown;
        };
      },
    });
    return openInbox(slow, ME).conversation({ log: LOG, conversation: 'main' as ConversationId }, { pulls: true });
  };
  const produce = async (more: Partial<NotificationInput> = {}): Promise<void> => {
    now += 10;
    await producer.queue('shop/coder', { message: `<${made++}>`, key: 'k', kind: 'log.matched', level: 'error', ...more });
  };
  const numbersIn = (text: string): number[] => [...text.matchAll(/<(\d+)>/gu)].map(([, n]) => Number(n));
  const all = (): number[] => Array.from({ length: made }, (_, n) => n);

  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'earpiece-counted-'));
    now = 1_700_000_000_000;
    dead = new Set();
    made = 0;
    before = async () => {};
    store = await open({ now: () => now }, folder);
    producer = openInbox(store, OTHER);
  });
  afterEach(async () => {
    await producer.close();
    rmSync(folder, { recursive: true, force: true });
  });

  const WAYS: readonly { name: string; take: (reads: Conversation) => Promise<string> }[] = [
    {
      name: 'an offer',
      take: async (reads) => {
        const offer = await reads.offer({ at: 'tool_result' });
        await offer?.confirm();
        return offer?.view.text ?? '';
      },
    },
    {
      name: "the program's own transcript",
      take: async (reads) => {
        const result = { type: 'tool_call_response', id: 'c1', content: '', is_error: false } as const;
        return (await reads.carry(result, { at: 'tool_batch_end' })).text;
      },
    },
    {
      name: 'get_notifications',
      take: async (reads) => {
        const { notifications, offer } = await reads.pull({ mark: true });
        await offer?.confirm();
        return notifications.map(({ message }) => message).join('\n');
      },
    },
  ];
  it.each(WAYS)('$name shows all notifications, although the producer is faster than each attempt', async ({ take }) => {
    proves('queue:counted-told');
    const reads = reader();
    const shown: number[] = [];
    await produce();
    before = () => produce();
    for (let carriers = 0; carriers < 5; carriers++) {
      const text = await take(reads);
      expect(numbersIn(text)).not.toEqual([]);
      shown.push(...numbersIn(text));
    }
    before = async () => {};
    shown.push(...numbersIn(await take(reads)));
    expect(shown.toSorted((a, b) => a - b)).toEqual(all());
    expect(await store.countOpen(LOG)).toBe(0);
  });

  it('a repeated offer shows the notifications that were counted before the first offer', async () => {
    proves('queue:counted-told');
    const reads = reader();
    await produce();
    let appends = 0;
    before = async () => {
      if (appends++ === 0) await produce();
    };
    const first = await reads.offer({ at: 'tool_result' });
    await produce();
    await first?.confirm();
    await first?.reopen();
    const again = await reads.offer({ at: 'tool_result' });
    expect(numbersIn(first?.view.text ?? '')).toEqual([0, 1]);
    expect(numbersIn(again?.view.text ?? '')).toEqual([0, 1, 2]);
    expect(again?.view.items.map(({ repeated, text }) => [repeated, numbersIn(text)])).toEqual([
      [true, [0, 1]],
      [undefined, [2]],
    ]);
  });

  it('a notification that a dead process had claimed is open and unseen', async () => {
    proves('queue:counted-told');
    const reads = reader();
    await produce();
    before = async (drafts) => {
      if (drafts.some(({ type }) => type === 'carrier_released')) throw new Error('killed');
      await produce();
    };
    await expect(reads.offer({ at: 'tool_result' })).rejects.toThrow('killed');
    dead.add(ME.pid);
    const next = producer.conversation({ log: LOG, conversation: 'main' as ConversationId }, { pulls: true });
    const offer = await next.offer({ at: 'tool_result' });
    expect(numbersIn(offer?.view.text ?? '')).toEqual(all());
    expect(offer?.view.repeated).toBeUndefined();
  });

  it('a known fact does not close a notification into which a newer notification was counted after the plan', async () => {
    proves('queue:counted-told');
    const reads = reader();
    await produce({ about: 'file@a' });
    const known = { 'file@a': now };
    before = async () => {
      if (made === 1) await produce({ about: 'file@a' });
    };
    const offer = await reads.offer({ at: 'tool_result', known });
    expect(numbersIn(offer?.view.text ?? '')).toEqual([0, 1]);
  });

  it.each(WAYS)('after $name with the newest state, no later carrier has an older state', async ({ take }) => {
    proves('plan:supersede', 'queue:counted-told');
    const reads = reader();
    const state = { key: 'deploy', kind: 'deploy.state', supersede: true } as const;
    await producer.queue('shop/coder', { ...state, message: 'RUNNING' });
    await producer.queue('shop/coder', { ...state, message: 'FAILED' });
    await produce();
    before = () => produce();
    const first = await take(reads);
    expect(first).toContain('FAILED');
    expect(first).not.toContain('RUNNING');
    before = async () => {};
    const next = await reads.offer({ at: 'tool_result' });
    expect(next?.view.text).not.toContain('RUNNING');
  });
});
