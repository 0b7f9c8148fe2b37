/** Helps tests with a limit of wall-clock time: time that other processes take from the machine must not fail these tests. */
const RUNS = 3;

/** Returns the shortest time of up to three runs, in ms. After the first run below the limit, no further run follows. */
export async function least(barMs: number, run: () => Promise<number>): Promise<number> {
  let tookMs = Number.POSITIVE_INFINITY;
  for (let n = 0; n < RUNS && tookMs >= barMs; n++) tookMs = Math.min(tookMs, await run());
  return tookMs;
}
