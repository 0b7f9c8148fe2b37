/**
 * Waits for a change of the store, for processes that follow a log in a loop. If the store fails or is closed, the loop waits 1 s
 * before its next attempt.
 */
import { setTimeout } from 'node:timers/promises';
import type { Store } from '../core/ports.ts';

const POLL_EVERY_MS = 5_000;
const AFTER_TROUBLE_MS = 1_000;

/**
 * Resolves with the head after a change. Resolves with `seen` if nothing changes for 5 s or if `signal` aborts, and 1 s after the
 * store has failed.
 */
export const nextHead = (store: Pick<Store, 'changed'>, seen: number, signal: AbortSignal): Promise<number> =>
  store
    .changed(seen, { signal, withinMs: POLL_EVERY_MS })
    .catch(() => setTimeout(AFTER_TROUBLE_MS, seen, { signal, ref: false }).catch(() => seen));
