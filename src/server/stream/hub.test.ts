/** Tests streams without a connection: the records that the hub sends when its own reads are delayed. */
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { proves } from '../../../e2e/verifies.ts';
import type { LogKey } from '../../core/address.ts';
import type { Store } from '../../core/ports.ts';
import type { Draft } from '../../core/records.ts';
import { memoryStore } from '../../stores/memory.ts';
import { Metrics } from '../metrics.ts';
import { NO_TELEMETRY } from '../telemetry.ts';
import { Tokens, type Principal } from '../tokens.ts';
import { Hub } from './hub.ts';

const LOG = 'shop/coder' as LogKey;
let store: Store;
let tokens: Tokens;
let hub: Hub;
let who: Principal;
/** The hub's own reads wait for this promise. Streams that catch up do not wait. */
let held: Promise<void> | undefined;

beforeEach(async () => {
  held = undefined;
  store = memoryStore();
  const read = store.read.bind(store);
  store.read = async (query, options) => {
    if (query.upTo === undefined) await held;
    return read(query, options);
  };
  tokens = new Tokens({ store, speaker: undefined });
  const { token } = await tokens.create({ kind: 'admin', name: 'x' });
  who = (await tokens.check(token)) as Principal;
  hub = new Hub({ store, tokens, metrics: new Metrics(), telemetry: NO_TELEMETRY, report: () => {} });
});
afterEach(() => hub.stop());

const write = async (n: number): Promise<void> => {
  for (let i = 0; i < n; i++) await store.append(LOG, [{ type: 'chat_response', message: 'x' }]);
};

/** Reads a stream, and collects the ids of its records. */
class Reader {
  readonly ids: number[] = [];
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>;

  constructor(body: ReadableStream<Uint8Array>) {
    this.#reader = body.getReader();
  }

  async until(n: number): Promise<readonly number[]> {
    while (this.ids.length < n) {
      const { value, done } = await this.#reader.read();
      if (done) break;
      for (const [, id] of new TextDecoder().decode(value).matchAll(/^id: (\d+)\nevent: record$/gmu)) this.ids.push(Number(id));
    }
    return this.ids;
  }
}

it('the streams of all sessions of a token count for the token', async () => {
  const few = new Hub({ store, tokens, metrics: new Metrics(), telemetry: NO_TELEMETRY, report: () => {}, maxStreams: 10 });
  const { token } = await tokens.create({ kind: 'project', project: 'shop', name: 'one' });
  const one = (await tokens.check(token)) as Principal;
  const sessions = await Promise.all(
    [1, 2].map(async () => (await tokens.check((await tokens.session(one, 60_000)).token)) as Principal),
  );
  const open = await Promise.all([few.open(one, {}), few.open(sessions[0]!, {})]);
  await expect(few.open(sessions[1]!, {})).rejects.toThrow('2 streams of this token are open, the maximum; close some streams');
  await open[0]?.cancel();
  await few.open(sessions[1]!, {});
  await few.open(who, {});
  await few.stop();
});

it('the hub does not repeat records that a stream has read itself', async () => {
  const early = new Reader(await hub.open(who, {}));
  let release: () => void = () => {};
  held = new Promise((resolve) => (release = resolve));
  await write(5);
  const late = new Reader(await hub.open(who, { after: 0 }));
  expect(await late.until(5)).toEqual([1, 2, 3, 4, 5]);
  release();
  held = undefined;
  await write(3);
  expect(await late.until(8)).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
  expect(await early.until(8)).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
});

it('records that are written while a stream catches up are not left out', async () => {
  await write(450);
  const reader = new Reader(await hub.open(who, { after: 0 }));
  const writing = write(50);
  const all = Array.from({ length: 500 }, (_, i) => i + 1);
  expect(await reader.until(500)).toEqual(all);
  await writing;
});

it('a failing store does not end the hub: the hub reports the failure once and tries again', async () => {
  const told: string[] = [];
  const failing = new Hub({ store, tokens, metrics: new Metrics(), telemetry: NO_TELEMETRY, report: (line) => told.push(line) });
  const reader = new Reader(await failing.open(who, {}));
  const changed = store.changed.bind(store);
  held = Promise.reject(new Error('disk gone'));
  held.catch(() => undefined);
  await write(1);
  while (told.length === 0) await new Promise(setImmediate);
  held = undefined;
  store.changed = changed;
  expect(await reader.until(1)).toEqual([1]);
  expect(told[0]).toBe('the database cannot be watched: disk gone; trying again');
  await failing.stop();
});

it('no stream is opened while the end of the log is unknown', async () => {
  const head = store.head.bind(store);
  store.head = () => Promise.reject(new Error('disk gone'));
  const waiting = new Hub({ store, tokens, metrics: new Metrics(), telemetry: NO_TELEMETRY, report: () => {} });
  await expect(waiting.open(who, { after: 0 })).rejects.toThrow('the database cannot be read at the moment; try again');
  store.head = head;
  await waiting.stop();
});

it('after its end, a stream sends nothing and leaves nothing behind', async () => {
  const body = await hub.open(who, {});
  expect(hub.size).toBe(1);
  await body.cancel();
  expect(hub.size).toBe(0);
  const other = new Reader(await hub.open(who, {}));
  await tokens.revoke(who.id);
  await write(1);
  expect(await other.until(1)).toEqual([]);
  expect(hub.size).toBe(0);
});

const sentIn = (metrics: Metrics): number => Number(/^earpiece_stream_records_total (\d+)$/mu.exec(metrics.text({}))?.[1] ?? 0);
const settled = async (): Promise<void> => {
  for (let i = 0; i < 50; i++) await new Promise(setImmediate);
};

it('a stream of large records reads more records when its reader has received some', async () => {
  for (let i = 0; i < 60; i++) await store.append(LOG, [{ type: 'chat_response', message: 'x'.repeat(50_000) }]);
  const metrics = new Metrics();
  const own = new Hub({ store, tokens, metrics, telemetry: NO_TELEMETRY, report: () => {} });
  const reader = new Reader(await own.open(who, { after: 0 }));
  await settled();
  // Two of the records fill a page.
  expect(sentIn(metrics)).toBe(2);
  expect(await reader.until(60)).toEqual(Array.from({ length: 60 }, (_, i) => i + 1));
  await own.stop();
});

it('a slow reader is not cut off, but a stuck reader is cut off', async () => {
  await write(5);
  for (let i = 0; i < 200; i++) await store.append(LOG, [{ type: 'chat_response', message: 'x'.repeat(30_000) }]);
  const metrics = new Metrics();
  const own = new Hub({ store, tokens, metrics, telemetry: NO_TELEMETRY, report: () => {}, heartbeatMs: 5 });
  const slow = (await own.open(who, { after: 0 })).getReader();
  const never = (await own.open(who, { after: 0 })).getReader();
  const cut = (): boolean => metrics.text({}).includes('earpiece_streams_cut_total 1');
  let taken = 0;
  while (!cut() || taken < 20) {
    expect((await slow.read()).done).toBe(false);
    taken++;
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  await expect(never.read().then(() => never.read())).rejects.toThrow('too slow');
  expect(own.size).toBe(1);
  await own.stop();
});

it('if an older copy replaces the log, every stream ends', async () => {
  await write(5);
  const reader = new Reader(await hub.open(who, {}));
  const older = memoryStore();
  await older.append(LOG, [{ type: 'chat_response', message: 'x' }]);
  store.head = older.head.bind(older);
  store.read = older.read.bind(older);
  await write(1);
  await expect(reader.until(1)).rejects.toThrow('the database was replaced');
  expect(hub.size).toBe(0);
});

it('an admin token may open four fifths of the streams, and any other token one fifth', async () => {
  const { token } = await tokens.create({ kind: 'project', name: 'x', project: 'shop' });
  const narrow = (await tokens.check(token)) as Principal;
  const own = new Hub({ store, tokens, metrics: new Metrics(), telemetry: NO_TELEMETRY, report: () => {}, maxStreams: 10 });
  const room = (of: Principal): string => {
    try {
      own.mustHavePlace(of);
      return 'room';
    } catch (error) {
      return (error as Error).message;
    }
  };
  const streams = [];
  for (let i = 0; i < 2; i++) streams.push(await own.open(narrow, { project: 'shop' }));
  expect([room(narrow), room(who)]).toEqual(['2 streams of this token are open, the maximum; close some streams', 'room']);
  for (let i = 0; i < 8; i++) await own.open(who, {});
  expect(room(who)).toBe('10 streams are open, the maximum; close some streams');
  for (const stream of streams) await stream.cancel();
  expect([room(who), room(narrow)]).toEqual(['8 streams of this token are open, the maximum; close some streams', 'room']);
  await own.stop();
});

it('a stream counts against the limit before it opens, and no longer counts if it fails', async () => {
  const own = new Hub({ store, tokens, metrics: new Metrics(), telemetry: NO_TELEMETRY, report: () => {}, maxStreams: 10 });
  const head = store.head.bind(store);
  let release: () => void = () => {};
  const slow = new Promise<void>((resolve) => (release = resolve));
  store.head = async () => {
    await slow;
    return head();
  };
  const opening = Array.from({ length: 12 }, () => own.open(who, {}));
  const settledAs = Promise.allSettled(opening);
  release();
  const statuses = (await settledAs).map(({ status }) => status);
  expect(statuses.filter((status) => status === 'fulfilled')).toHaveLength(8);
  expect(own.size).toBe(8);
  await own.stop();
  const again = new Hub({ store, tokens, metrics: new Metrics(), telemetry: NO_TELEMETRY, report: () => {}, maxStreams: 10 });
  for (let i = 0; i < 20; i++) await expect(again.open(who, { after: 99 })).rejects.toThrow('position 99 is after the newest');
  again.mustHavePlace(who);
  await again.stop();
});

it('simultaneous streams are opened in groups, so that other requests run between the groups', async () => {
  const bodies = Promise.all(Array.from({ length: 200 }, () => hub.open(who, {})));
  const sizes: number[] = [];
  while (sizes.at(-1) !== 200) {
    await new Promise(setImmediate);
    sizes.push(hub.size);
  }
  expect(sizes[0]).toBeLessThanOrEqual(2 * 64);
  expect(sizes.length).toBeGreaterThanOrEqual(3);
  await bodies;
});

it('one record for 1,000 streams is written in groups, so that other requests run between the groups', async () => {
  proves('server:many-streams');
  const bodies = [];
  for (let i = 0; i < 1_000; i++) bodies.push(await hub.open(who, {}));
  const readers = bodies.map((body) => new Reader(body));
  let turns = 0;
  let done = false;
  const count = (): void => {
    turns++;
    if (!done) setImmediate(count);
  };
  setImmediate(count);
  await write(1);
  const before = turns;
  await Promise.all(readers.map((reader) => reader.until(1)));
  done = true;
  expect(turns - before).toBeGreaterThanOrEqual(Math.floor(1_000 / 64));
  expect(readers.every(({ ids }) => ids.join() === '1')).toBe(true);
});

it('unread streams are cut off if their buffers together are too large', async () => {
  proves('server:many-streams');
  const metrics = new Metrics();
  const small = new Hub({ store, tokens, metrics, telemetry: NO_TELEMETRY, report: () => {}, maxHeldBytes: 1_000_000 });
  let cut = 0;
  for (let i = 0; i < 20; i++) await small.open(who, {}, () => void cut++);
  for (let i = 0; i < 10; i++) await store.append(LOG, [{ type: 'chat_response', message: 'x'.repeat(20_000) }]);
  // The size of each stream's unread records is 200 kB, so at most five of the 20 streams fit.
  await vi.waitFor(() => expect(cut).toBeGreaterThanOrEqual(15));
  await small.stop();
});

it('a live stream of a token for one conversation gets no record about notifications of another conversation', async () => {
  const { token } = await tokens.create({ kind: 'agent', name: 'a', project: 'shop', agent: 'coder', conversation: 'a' });
  const narrow = (await tokens.check(token)) as Principal;
  const queued = async (id: string, conversation: string): Promise<number> => {
    const body = { type: 'system_notification_queued', id, kind: { source: 'x', name: 'y' }, message: id, conversation };
    const appended = await store.append(LOG, [body as Draft]);
    return appended.kind === 'appended' ? (appended.records[0]?.seq ?? 0) : 0;
  };
  const closed = (ids: readonly string[]): Promise<unknown> =>
    store.append(LOG, [
      { type: 'notification_closed', ids, counts: ids.map(() => 1), outcome: 'withdrawn', by: 'x', reason: 'y' },
    ]);
  await queued('mine', 'a');
  await queued('other', 'b');
  const body = await hub.open(narrow, { project: 'shop', log: LOG, conversation: 'a' });
  const wide = new Reader(await hub.open(who, { log: LOG }));
  await queued('live', 'a');
  await wide.until(1);
  await closed(['other']);
  await queued('another', 'b');
  await closed(['mine', 'another']);
  await queued('last', 'a');
  await wide.until(5);
  let text = '';
  for await (const bytes of body) {
    text += new TextDecoder().decode(bytes);
    if (text.includes('"last"')) break;
  }
  expect(text).not.toContain('other');
  expect(text).toContain('"ids":["mine"]');
  expect(text).toContain('"counts":[1]');
});
