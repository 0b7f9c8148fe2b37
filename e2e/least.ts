/** A bar of wall-clock time is the product's; what another process takes from the machine in one run is not. */
const RUNS = 3;

/** The least of up to three runs, in ms: the first that is below the bar ends it. */
export async function least(barMs: number, run: () => Promise<number>): Promise<number> {
  let tookMs = Number.POSITIVE_INFINITY;
  for (let n = 0; n < RUNS && tookMs >= barMs; n++) tookMs = Math.min(tookMs, await run());
  return tookMs;
}
