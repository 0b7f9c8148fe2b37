/** Limits the wait for a store that may not answer. A busy machine does not shorten the wait. */

/** The maximum additional time while templates run, in ms. The template worker may have to start first. */
const WORK_WITHIN_MS = 5_000;
const STEPS = 5;

/**
 * Makes a time limit: `over` resolves after `withinMs`. The time is counted in five steps, and a late timer counts as one step.
 * A process that did not run for a while, for example on a sleeping laptop, gets the remaining steps. In this time, the process
 * can read an answer that has arrived. A step while `working` returns true does not count, for at most 5 s.
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
