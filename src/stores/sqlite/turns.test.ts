import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { LogKey } from '../../core/address.ts';
import { openSqliteStore, type SqliteStore } from './store.ts';

const LOG = 'shop/coder' as LogKey;
let folder: string;
let store: SqliteStore;
let other: DatabaseSync;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'earpiece-turns-'));
  store = await openSqliteStore({ path: join(folder, 'e.db') });
  other = new DatabaseSync(store.path, { timeout: 5000 });
});
afterEach(async () => {
  other.close();
  await store.close();
  rmSync(folder, { recursive: true, force: true });
});

it('a write to a locked database fails after withinMs, names the file, and hardly blocks the event loop', async () => {
  other.exec('BEGIN IMMEDIATE');
  // The best of three tries counts, because a short delay of the machine must not fail the test.
  for (let left = 2; ; left--) {
    const { tookMs, longestMs } = await givenUp();
    expect(tookMs).toBeGreaterThanOrEqual(299);
    if (left > 0 && (tookMs >= 1_000 || longestMs >= 100)) continue;
    expect(tookMs).toBeLessThan(1_000);
    expect(longestMs).toBeLessThan(100);
    break;
  }
  other.exec('ROLLBACK');
  expect(await store.append(LOG, [{ type: 'turn_start' }], { withinMs: 0 })).toMatchObject({ kind: 'appended' });
});

async function givenUp(): Promise<{ readonly tookMs: number; readonly longestMs: number }> {
  let longestMs = 0;
  let last = performance.now();
  const watch = setInterval(() => {
    longestMs = Math.max(longestMs, performance.now() - last);
    last = performance.now();
  });
  const started = performance.now();
  await expect(store.append(LOG, [{ type: 'turn_start' }], { withinMs: 300 })).rejects.toMatchObject({
    code: 'store_unavailable',
    retryable: true,
    message: `the database ${store.path} stayed locked by another process for 300 ms: try again, or find that process (\`fuser ${store.path}\`)`,
  });
  clearInterval(watch);
  return { tookMs: performance.now() - started, longestMs };
}

it('the error of a locked database says how long the caller has waited, also in a shared transaction', async () => {
  const shared = await openSqliteStore({ path: store.path, together: true });
  other.exec('BEGIN IMMEDIATE');
  const waited = async (withinMs: number): Promise<number> => {
    const error: unknown = await shared.append(LOG, [{ type: 'turn_start' }], { withinMs }).catch((thrown: unknown) => thrown);
    return Number(/stayed locked by another process for (\d+) ms/u.exec((error as Error).message)?.[1]);
  };
  const first = waited(300);
  for (let turn = 0; turn < 3; turn++) await new Promise(setImmediate);
  // The first transaction has already begun, so this append joins the next transaction. That transaction begins after the first
  // append has stopped waiting.
  const second = waited(400);
  expect(await first).toBeGreaterThanOrEqual(300);
  expect(await second).toBeGreaterThanOrEqual(400);
  other.exec('ROLLBACK');
  await shared.close();
});

it('a read does not wait for another connection that writes', async () => {
  await store.append(LOG, [{ type: 'turn_start' }]);
  other.exec('BEGIN IMMEDIATE');
  const waiting = store.append(LOG, [{ type: 'turn_start' }]);
  expect(await store.read({}, { withinMs: 0 })).toHaveLength(1);
  other.exec('ROLLBACK');
  expect(await waiting).toMatchObject({ kind: 'appended' });
});

it('writers run in the order of their arrival', async () => {
  other.exec('BEGIN IMMEDIATE');
  const all = Array.from({ length: 10 }, (_, i) => store.append(LOG, [{ type: 'x', i }]));
  await new Promise(setImmediate);
  other.exec('ROLLBACK');
  all.push(store.append(LOG, [{ type: 'x', i: 10 }]));
  await Promise.all(all);
  expect((await store.read({})).map((record) => (record.body as { i?: unknown }).i)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
});

it('a write stops waiting when its signal aborts', async () => {
  other.exec('BEGIN IMMEDIATE');
  const abort = new AbortController();
  const waiting = store.append(LOG, [{ type: 'turn_start' }], { signal: abort.signal });
  await new Promise(setImmediate);
  abort.abort(new Error('stop'));
  await expect(waiting).rejects.toThrow('stop');
});

it('close() does not wait for a lock that others hold', async () => {
  other.exec('BEGIN IMMEDIATE');
  // The call itself would wait longer than this test may take.
  const waiting = store.append(LOG, [{ type: 'turn_start' }], { withinMs: 3_600_000 });
  const refused = expect(waiting).rejects.toMatchObject({ code: 'store_unavailable' });
  await store.close();
  await refused;
});
