/** Waiting for a store that may not answer, on a machine that may be busy. */

/** Additional time for work on the data that was read: the template worker may have to start. */
const WORK_WITHIN_MS = 5_000;
const STEPS = 5;

/**
 * `over` when the awaited side has had enough time. Each step counts once, even if its timer is late. If this process did not run
 * (a busy machine, a laptop that slept), the answer may already be there, and is read before the next step. A step in which it
 * was `working` does not count.
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
