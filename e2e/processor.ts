/**
 * Returns the processor time of this work on this thread, in milliseconds: the shortest time of a few runs, or the first time
 * below `enoughMs`. Other processes and delays of the machine do not increase this time, but a slow machine does, so compare two
 * such times if possible.
 */
export function leastProcessorMs(work: () => unknown, { times = 3, enoughMs = 0 } = {}): number {
  let least = Number.POSITIVE_INFINITY;
  for (let n = 0; n < times && least >= enoughMs; n++) {
    const from = process.threadCpuUsage();
    work();
    const { user, system } = process.threadCpuUsage(from);
    least = Math.min(least, (user + system) / 1_000);
  }
  return least;
}
