/**
 * Serializes the calls of this process that queue notifications of one key for one agent. Otherwise, two simultaneous calls would
 * both find no open notification, and the second notification would not be folded into the first one.
 */
import type { Store } from '../../core/ports.ts';
import { patience } from '../patience.ts';

/** The longest wait of a call for earlier calls, in ms, so that a store that does not answer delays no call by much. */
const WAIT_MS = 1_000;

/** The newest running call for each key, by store. */
const newest = new WeakMap<Store, Map<string, Promise<unknown>>>();

export async function oneByOne<T>(store: Store, key: string, work: () => Promise<T>): Promise<T> {
  const calls = newest.get(store) ?? new Map<string, Promise<unknown>>();
  newest.set(store, calls);
  const earlier = calls.get(key);
  const running = earlier === undefined ? work() : waited(earlier).then(work);
  calls.set(key, running);
  try {
    return await running;
  } finally {
    if (calls.get(key) === running) calls.delete(key);
  }
}

async function waited(earlier: Promise<unknown>): Promise<void> {
  const { over, end } = patience(WAIT_MS, () => false);
  // The error of the earlier call goes to the caller of that call.
  await Promise.race([earlier.catch(() => {}), over]).finally(end);
}
