/**
 * Waits for a change of the store, for processes that follow a log in a loop. The loop does not spin if the store fails or is
 * closed.
 */
import { setTimeout } from 'node:timers/promises';
import type { Store } from '../core/ports.ts';

const POLL_EVERY_MS = 5_000;
const AFTER_TROUBLE_MS = 1_000;

/** Resolves with the head after a change, after 5 s, or when `signal` aborts. A store that fails is asked again after 1 s. */
export const nextHead = (store: Pick<Store, 'changed'>, seen: number, signal: AbortSignal): Promise<number> =>
  store
    .changed(seen, { signal, withinMs: POLL_EVERY_MS })
    .catch(() => setTimeout(AFTER_TROUBLE_MS, seen, { signal, ref: false }).catch(() => seen));
