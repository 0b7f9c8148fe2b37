/**
 * Tests that a query for a time reads only records near that time, even if there are many later records. The test limits the
 * number of records that are read.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { createClient, type Client } from '../../src/wire/client/index.ts';
import { logKey } from '../../src/core/address.ts';
import { openLoadedInbox, type LoadedInbox } from '../../src/loaded-inbox.ts';
import { createServer, Tokens, type Server } from '../../src/server/index.ts';
import { proves } from '../verifies.ts';
import { Stage } from './stage.ts';

const HOUR = 3_600_000;
const T0 = Date.UTC(2026, 5, 1);
const HOURS = 40;
const AN_HOUR = 150;

let folder: string;
let ear: LoadedInbox;
let server: Server;
let client: Client;
let now = T0;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'earpiece-times-'));
  const env = { HOME: folder, XDG_STATE_HOME: folder, XDG_CONFIG_HOME: folder };
  ear = await openLoadedInbox({ db: join(folder, 'e.db'), cwd: folder, env, clock: { now: () => now } });
  // 150 notifications are queued each hour, and delivered half an hour later, except the last of each hour.
  for (let hour = 0; hour < HOURS; hour++) {
    now = T0 + hour * HOUR;
    const log = logKey('shop', hour % 2 === 0 ? 'even' : 'odd');
    const drafts = Array.from({ length: AN_HOUR }, (_, n) => ({
      type: 'system_notification_queued',
      id: `n${hour}-${n}`,
      kind: { source: 'ci', name: n === 0 ? 'first' : 'failed' },
      message: `${n} of hour ${hour}`,
    }));
    await ear.store.append(log, drafts);
    now += HOUR / 2;
    await ear.store.append(log, [
      {
        type: 'tool_call_response',
        conversation: 'main',
        id: `c${hour}`,
        content: 'ok',
        is_error: false,
        notifications: drafts.slice(0, -1).map(({ id, kind, message }) => ({ id, kind, message })),
      } as never,
    ]);
  }
  now = T0 + HOURS * HOUR;
  server = createServer({ inbox: ear, project: 'shop', version: '0.0.0' });
  const { url } = await server.listen({ port: 0 });
  const { token } = await new Tokens(ear).create({ kind: 'admin', name: 'tests', expiresInMs: 1e9 });
  client = createClient({ url, token });
});
afterAll(async () => {
  await server.stop();
  await ear.close();
  rmSync(folder, { recursive: true, force: true });
});

const ids = (items: readonly { readonly id: string }[]): string[] => items.map(({ id }) => id);

describe('the notifications of a period', () => {
  proves('server:times');

  it('an early period fills a page at once, and only records near that period are read', async () => {
    const items = vi.spyOn(ear.store, 'items');
    const read = vi.spyOn(ear.store, 'read');
    const from = T0 + 3 * HOUR;
    const page = await client.notifications({ from, to: from + HOUR, limit: 50 });
    expect(ids(page.items)).toEqual(Array.from({ length: 50 }, (_, n) => `n3-${149 - n}`));
    expect(page.next).not.toBeNull();
    const rows = await Promise.all(
      [...items.mock.results, ...read.mock.results].map(({ value }) => value as Promise<readonly unknown[]>),
    );
    expect(rows.reduce((sum, { length }) => sum + length, 0)).toBeLessThan(1_000);
    items.mockRestore();
    read.mockRestore();
    const rest: string[] = [];
    for (let before = page.next; before !== null;) {
      const more = await client.notifications({ from, to: from + HOUR, limit: 50, before });
      rest.push(...ids(more.items));
      before = more.next;
    }
    expect(rest).toEqual(Array.from({ length: 100 }, (_, n) => `n3-${99 - n}`));
  });

  it('are the notifications that were queued, delivered or waiting in that period', async () => {
    const at = T0 + 6 * HOUR + HOUR / 2;
    const delivered = await client.notifications({ from: at, to: at + 1, by: 'delivered', limit: 200 });
    expect(delivered.items).toHaveLength(149);
    expect(delivered.items.every(({ closedAt, outcome }) => closedAt === at && outcome === 'delivered')).toBe(true);
    const queued = await client.notifications({ from: T0, to: T0 + 2 * HOUR, kind: 'ci.first' });
    expect(ids(queued.items)).toEqual(['n1-0', 'n0-0']);
    // One notification of each of the hours 0 to 5 waits, and all 150 notifications of hour 6 wait.
    const waiting: string[] = [];
    let before: string | null = '';
    while (before !== null) {
      const page: Awaited<ReturnType<Client['notifications']>> = await client.notifications({
        to: T0 + 6 * HOUR + 1,
        by: 'waiting',
        limit: 200,
        ...(before === '' ? {} : { before }),
      });
      waiting.push(...ids(page.items));
      before = page.next;
    }
    expect(waiting).toHaveLength(150 + 6);
    expect(new Set(waiting).size).toBe(156);
    // The notifications of both logs are in one order.
    expect(waiting.slice(-6)).toEqual(['n5-149', 'n4-149', 'n3-149', 'n2-149', 'n1-149', 'n0-149']);
  });

  it('match the counts of the chart, and a search for words in that period finds them', async () => {
    const from = T0 + 2 * HOUR;
    const activity = await client.activity({ from, to: from + 2 * HOUR, bucketMs: HOUR });
    expect(activity.truncated).toBe(false);
    expect(activity.buckets.map(({ queued, delivered, waiting }) => [queued.info, delivered.info, waiting.info])).toEqual([
      [150, 149, 3],
      [150, 149, 4],
    ]);
    const found = await client.search('shop/even#main', { q: 'of hour 4', from: T0 + 4 * HOUR, to: T0 + 5 * HOUR, limit: 10 });
    expect(found.items).toHaveLength(10);
    expect(found.looked).toBeLessThan(20);
    const none = await client.search('shop/even#main', { q: 'n4-7', from: T0 + 6 * HOUR, to: T0 + 7 * HOUR });
    expect([none.items, none.next]).toEqual([[], null]);
  });

  it('are refused for an invalid period, with the name of the field', async () => {
    await expect(client.notifications({ from: 5, to: 5 })).rejects.toMatchObject({ status: 400, field: 'from' });
    await expect(client.notifications({ from: 5, before: '1.x' })).rejects.toMatchObject({ status: 400 });
  });
});

describe('a chart of an earlier day', () => {
  proves('server:activity');

  const DAY = 24 * HOUR;
  const LOG = logKey('shop', 'coder');

  /**
   * One notification waits from day 0 to day 11. `before` other notifications close on day 1, and `after` other notifications
   * close on day 12.
   */
  async function chartOfDay10(stage: Stage, { before, after }: { readonly before: number; readonly after: number }) {
    const { inbox, client: admin } = stage;
    const start = inbox.store.now();
    const dayIs = (day: number): void => stage.passes(start + day * DAY - inbox.store.now());
    const queue = (...names: readonly string[]): Promise<unknown> =>
      inbox.store.append(
        LOG,
        names.map((id) => ({
          type: 'system_notification_queued',
          id,
          kind: { source: 'ci', name: 'failed' },
          message: 'x',
          expires_at: null,
        })) as never,
      );
    const close = (...names: readonly string[]): Promise<unknown> =>
      inbox.store.append(LOG, [
        { type: 'notification_closed', ids: names, outcome: 'withdrawn', by: 'person', reason: 'over' },
      ] as never);
    const named = (name: string, n: number): string[] => Array.from({ length: n }, (_, i) => `${name}${i}`);
    await queue('old');
    dayIs(1);
    await queue(...named('early', before));
    await close(...named('early', before));
    dayIs(11);
    await close('old');
    dayIs(12);
    await queue(...named('late', after));
    await close(...named('late', after));
    dayIs(13);
    return admin.activity({ project: 'shop', from: start + 9 * DAY, to: start + 10 * DAY, bucketMs: DAY });
  }

  it('counts a notification that waited for longer than a week', async () => {
    await using stage = await Stage.open({ db: 'memory:' });
    const { buckets, truncated } = await chartOfDay10(stage, { before: 600, after: 10 });
    expect(buckets.map(({ waiting }) => waiting.info)).toEqual([1]);
    expect(truncated).toBe(false);
  });

  it('is incomplete if too many notifications have closed since that day', async () => {
    await using stage = await Stage.open({ db: 'memory:' });
    const { buckets, truncated } = await chartOfDay10(stage, { before: 600, after: 3_000 });
    expect(buckets.map(({ waiting }) => waiting.info)).toEqual([0]);
    expect(truncated).toBe(true);
  });
});
