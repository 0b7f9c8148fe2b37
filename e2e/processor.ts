/**
 * What work costs this thread, in milliseconds of the processor: the least of a few times, or the first that is below
 * `enoughMs`. What else a machine does, or that it stands still for a while, adds nothing to it; that it is slow does, so compare
 * two of these where that can be.
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
