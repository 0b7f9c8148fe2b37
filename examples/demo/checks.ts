/** Checks the steps of a story. A failed check ends the story. */
import { setTimeout as sleep } from 'node:timers/promises';

/** A step of the story that did not happen as planned. */
export class Unfulfilled extends Error {}

export function expect(came: boolean, otherwise: string): asserts came {
  if (!came) throw new Unfulfilled(otherwise);
}

export async function within<T>(ms: number, otherwise: string, work: Promise<T>): Promise<T> {
  const stop = new AbortController();
  const late = sleep(ms, undefined, { signal: stop.signal }).then((): never => {
    throw new Unfulfilled(`${otherwise} within ${ms / 1000} s`);
  });
  late.catch(() => {});
  try {
    return await Promise.race([work, late]);
  } finally {
    stop.abort();
  }
}
