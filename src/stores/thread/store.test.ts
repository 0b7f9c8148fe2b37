import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ConversationId, LogKey } from '../../core/address.ts';
import type { Draft } from '../../core/records.ts';
import { queued } from '../contract/drafts.ts';
import { proves } from '../../../e2e/verifies.ts';
import { openSqliteStore, type SqliteStore } from '../sqlite/store.ts';
import { openThreadStore } from './store.ts';

const LOG = 'shop/coder' as LogKey;
const ME = 'main' as ConversationId;

describe('a database in a separate thread', () => {
  let folder: string;
  let path: string;
  const opened: SqliteStore[] = [];
  const open = async (options: { fault?: string; busyMs?: number } = {}): Promise<SqliteStore> => {
    const store = await openThreadStore({ path, ...options });
    opened.push(store);
    return store;
  };
  const ids = async (): Promise<string[]> => {
    const store = await openSqliteStore({ path });
    try {
      expect(await store.verify()).toEqual([]);
      return (await store.items(LOG, { kind: 'open' })).map(({ id }) => id);
    } finally {
      await store.close();
    }
  };

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'earpiece-thread-'));
    path = join(folder, 'earpiece.db');
  });
  afterEach(async () => {
    await Promise.all(opened.splice(0).map((store) => store.close()));
    rmSync(folder, { recursive: true, force: true });
  });

  it('answers each of 64 callers separately: one conflicts, one is refused, one meets a fault, 61 are committed', async () => {
    proves('store:thread');
    const store = await open({ fault: 'append.record_written:31:throw' });
    const wrong: Readonly<Record<number, Draft>> = {
      10: { type: 'notification_closed', ids: ['nobody'], outcome: 'withdrawn', by: 'x', reason: 'x' },
      20: { ...queued('n20'), data: 1n },
    };
    const before = await store.head();
    const answers = await Promise.allSettled(
      Array.from({ length: 64 }, (_, n) => store.append(LOG, [wrong[n] ?? queued(`n${n}`)])),
    );
    const said = answers.map((answer) => (answer.status === 'fulfilled' ? answer.value.kind : String(answer.reason)));
    expect(said[10]).toBe('conflict');
    expect(said[20]).toMatch(/BigInt/);
    const failed = said.flatMap((text, n) => (text.includes('EARPIECE_FAULT') ? [n] : []));
    expect(failed).toHaveLength(1);
    expect(said.filter((text) => text === 'appended')).toHaveLength(61);
    const kept = said.flatMap((text, n) => (text === 'appended' ? [`n${n}`] : []));
    expect((await ids()).toSorted()).toEqual(kept.toSorted());
    expect(await store.head()).toBe(before + 61);
  });

  it('commits simultaneous writes together, with few syncs for many callers', async () => {
    const store = await open();
    const before = commitsIn(`${path}-wal`);
    await Promise.all(Array.from({ length: 200 }, (_, n) => store.append(LOG, [queued(`n${n}`)])));
    const commits = commitsIn(`${path}-wal`) - before;
    expect(commits).toBeGreaterThan(0);
    expect(commits).toBeLessThanOrEqual(20);
    expect(await ids()).toHaveLength(200);
  });

  it('keeps the event loop of its callers running while another process holds the lock, and writes after its release', async () => {
    proves('store:thread');
    const store = await open({ busyMs: 300 });
    await store.append(LOG, [queued('n0')]);
    const other = new DatabaseSync(path);
    other.exec('BEGIN IMMEDIATE');
    const lags: number[] = [];
    let last = performance.now();
    const timer = setInterval(() => {
      lags.push(performance.now() - last);
      last = performance.now();
    }, 5);
    await expect(store.append(LOG, [queued('n1')])).rejects.toMatchObject({ code: 'store_unavailable', retryable: true });
    clearInterval(timer);
    // A blocked thread would cause one lag of 300 ms. A busy machine causes several short lags.
    expect(lags.length).toBeGreaterThan(3);
    expect(lags.toSorted((a, b) => a - b)[Math.floor(lags.length / 2)]).toBeLessThan(100);
    // Reads do not wait for the writer.
    expect(await store.countOpen(LOG)).toBe(1);
    const late = store.append(LOG, [queued('n2')], { withinMs: 10_000 });
    await begun(store);
    other.exec('ROLLBACK');
    other.close();
    expect((await late).kind).toBe('appended');
    expect(await ids()).toEqual(['n0', 'n2']);
  });

  it('writes nothing for a caller that no longer waits', async () => {
    const store = await open();
    await store.append(LOG, [queued('n0')]);
    const other = new DatabaseSync(path);
    other.exec('BEGIN IMMEDIATE');
    const gone = new AbortController();
    const call = store.append(LOG, [queued('n1')], { signal: gone.signal });
    const behind = store.append(LOG, [queued('n2')], { withinMs: 10_000 });
    await begun(store);
    gone.abort(new Error('gone'));
    await expect(call).rejects.toThrow('gone');
    await expect(store.append(LOG, [queued('n3')], { signal: gone.signal })).rejects.toThrow('gone');
    other.exec('ROLLBACK');
    other.close();
    expect((await behind).kind).toBe('appended');
    expect((await ids()).filter((id) => id !== 'n1')).toEqual(['n0', 'n2']);
  });

  it('reports at once whether the store is quiet, after each commit of another process', async () => {
    proves('store:thread-quiet');
    const [store, other] = [await open(), await openSqliteStore({ path })];
    await store.touch({ log: LOG, conversation: ME });
    for (let n = 0; n < 20; n++) {
      expect(await quietSoon(store)).toBe(true);
      await other.append(LOG, [queued(`n${n}`)]);
      expect(store.quiet?.(LOG, ME)).toBe(false);
      await other.append(LOG, [
        { type: 'notification_closed', ids: [`n${n}` as never], outcome: 'withdrawn', by: 'x', reason: 'x' },
      ]);
    }
    await other.close();
  });

  it.each([0.4, 12.5, 2 ** 40, -1])(
    'accepts %d ms as the time to wait for a change, although a timer does not',
    async (withinMs) => {
      const store = await open();
      const changed = store.changed(0, { withinMs });
      if (withinMs > 1_000) await store.append(LOG, [queued('n0')]);
      expect(await changed).toBe(withinMs > 1_000 ? 1 : 0);
    },
  );

  it('notices each commit, even within one turn of the event loop', async () => {
    proves('store:thread-quiet');
    const [owned, other] = [await openSqliteStore({ path, together: true }), await openSqliteStore({ path })];
    await owned.touch({ log: LOG, conversation: ME });
    expect(owned.quiet?.(LOG, ME)).toBe(true);
    const appended = other.append(LOG, [queued('n0')]);
    expect(owned.quiet?.(LOG, ME)).toBe(false);
    await appended;
    await Promise.all([owned.close(), other.close()]);
  });

  it('loses nothing at close(): earlier requests are written, and later requests are refused', async () => {
    const store = await open();
    const asked = Array.from({ length: 50 }, (_, n) => store.append(LOG, [queued(`n${n}`)]));
    const closing = store.close();
    await expect(store.head()).rejects.toMatchObject({ code: 'store_unavailable' });
    await Promise.all([...asked, closing]);
    expect(await ids()).toHaveLength(50);
    expect(store.quiet?.(LOG, ME)).toBe(false);
    await store.close();
  });

  it('reports a refused file with the same error as without the thread', async () => {
    const other = new DatabaseSync(path);
    other.exec('CREATE TABLE theirs (x); PRAGMA user_version = 7');
    other.close();
    const [direct, threaded] = await Promise.all(
      [openSqliteStore, openThreadStore].map((opens) => opens({ path }).then(String, (error: unknown) => error)),
    );
    expect(direct).toMatchObject({ code: 'store_refused' });
    expect(threaded).toMatchObject({ code: 'store_refused', message: (direct as Error).message });
  });

  it('waits for the appends of another process, until it is aborted', async () => {
    const [store, other] = [await open(), await openSqliteStore({ path })];
    const waiting = store.changed(0);
    await other.append(LOG, [queued('n0')]);
    expect(await waiting).toBe(1);
    expect(await store.changed(1, { withinMs: 20 })).toBe(1);
    const gone = new AbortController();
    const aborted = store.changed(1, { signal: gone.signal });
    gone.abort();
    expect(await aborted).toBe(1);
    const atEnd = store.changed(1);
    await begun(store);
    await store.close();
    expect(await atEnd).toBe(1);
    await other.close();
  });
});

/**
 * Counts the frames of a write-ahead log that end a transaction: such a frame contains the size of the database after the
 * transaction.
 */
function commitsIn(wal: string): number {
  const bytes = readFileSync(wal);
  const frame = 24 + bytes.readUInt32BE(8);
  let commits = 0;
  for (let at = 32; at + frame <= bytes.length; at += frame) if (bytes.readUInt32BE(at + 4) > 0) commits++;
  return commits;
}

/** Waits until the thread has begun all earlier calls, because it takes its messages in order. */
const begun = async (store: SqliteStore): Promise<void> => {
  for (let rounds = 0; rounds < 2; rounds++) await store.head();
};

/** Asks until the store is quiet: on a busy machine the first question may time out. */
async function quietSoon(store: SqliteStore): Promise<boolean> {
  for (let tries = 0; tries < 200; tries++) {
    if (store.quiet?.(LOG, ME)) return true;
    await sleep(5);
  }
  return false;
}
