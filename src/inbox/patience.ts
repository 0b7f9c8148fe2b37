/** Limits the wait for a store that may not answer, on a machine that may be busy. */

/** The additional time for work on the data after it was read: the template worker may have to start. */
const WORK_WITHIN_MS = 5_000;
const STEPS = 5;

/**
 * Resolves `over` when the awaited side has had enough time. The time is counted in steps, and a late timer still counts as one
 * step. If this process did not run for a while (a busy machine, a sleeping laptop), it can thus read an answer that has arrived
 * before the next step. A step while `working` returns true does not count.
 */
export function patience(
  withinMs: number,
  working: () => boolean,
): { readonly over: Promise<undefined>; readonly end: () => void } {
  const stepMs = withinMs / STEPS;
  const { promise: over, resolve } = Promise.withResolvers<undefined>();
  let [waited, worked] = [0, 0];
  const timer = setInterval(() => {
    if (worked * stepMs < WORK_WITHIN_MS && working()) worked++;
    else if (++waited >= STEPS) resolve(undefined);
  }, stepMs);
  return { over, end: () => clearInterval(timer) };
}
