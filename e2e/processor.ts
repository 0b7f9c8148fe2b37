/**
 * What work costs this thread, in milliseconds of the processor: the least of a few times. What else a machine does, or that it
 * stands still for a while, adds nothing to it; that it is slow does, so compare two of these where that can be.
 */
export function leastProcessorMs(work: () => unknown, times = 3): number {
  return Math.min(
    ...Array.from({ length: times }, () => {
      const from = process.threadCpuUsage();
      work();
      const { user, system } = process.threadCpuUsage(from);
      return (user + system) / 1_000;
    }),
  );
}
