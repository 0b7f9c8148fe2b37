/** Repeats calls to a server that may be unavailable for a moment. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Wait } from '../core/ports.ts';

export const DEFAULT_MS = 5_000;
/** The minimum time limit of a call. With a shorter limit, a call could fail before the server can answer. */
const LEAST_MS = 50;
const PAUSE_MS = { min: 20, max: 250 };

/** The error of a call that got no answer in time. */
export class Late extends Error {}

/**
 * Repeats an attempt that fails for a temporary reason (`isPassing`), until the call's time limit is reached. `explain`
 * translates the error of the last attempt.
 */
export async function insist<T>(
  options: Wait | undefined,
  attempt: (deadline: number) => Promise<T>,
  {
    isPassing,
    explain,
  }: { readonly isPassing: (error: unknown) => boolean; readonly explain: (error: unknown, waitedMs: number) => unknown },
): Promise<T> {
  const started = performance.now();
  const deadline = started + Math.max(options?.withinMs ?? DEFAULT_MS, LEAST_MS);
  for (let pause = PAUSE_MS.min; ; pause = Math.min(2 * pause, PAUSE_MS.max)) {
    options?.signal?.throwIfAborted();
    try {
      return await attempt(deadline);
    } catch (error) {
      if (!isPassing(error) || performance.now() + pause >= deadline) throw explain(error, performance.now() - started);
      await sleep(pause);
    }
  }
}

/** Waits for the promise, at most until the deadline. At the deadline, calls `onLate` and rejects with `Late`. */
export async function before<T>(deadline: number, promise: Promise<T>, onLate: () => unknown): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(
      () => {
        onLate();
        reject(new Late('no answer'));
      },
      Math.max(1, deadline - performance.now()),
    );
  });
  promise.catch(() => {});
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}
