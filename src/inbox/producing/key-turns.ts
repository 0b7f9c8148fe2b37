/**
 * Calls of one process that queue notifications of one key for one agent take turns. Otherwise, two calls at the same time would
 * both find no open notification, and the second notification would not be folded into the first one.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Store } from '../../core/ports.ts';

/** A call waits for earlier calls at most this long, so that a store that does not answer delays no call by much. */
const WAIT_MS = 1_000;

const turns = new WeakMap<Store, Map<string, Promise<void>>>();

export async function inTurn<T>(store: Store, key: string, work: () => Promise<T>): Promise<T> {
  const all = turns.get(store) ?? new Map<string, Promise<void>>();
  turns.set(store, all);
  const earlier = all.get(key);
  const running = earlier === undefined ? work() : atMost(earlier).then(work);
  const over = running.then(
    () => {},
    () => {},
  );
  all.set(key, over);
  try {
    return await running;
  } finally {
    if (all.get(key) === over) all.delete(key);
  }
}

async function atMost(earlier: Promise<void>): Promise<void> {
  const waited = new AbortController();
  const late = sleep(WAIT_MS, undefined, { signal: waited.signal, ref: false }).catch(() => {});
  await Promise.race([earlier, late]);
  waited.abort();
}
