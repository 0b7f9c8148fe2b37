import type { Figure, Measured } from './row.ts';

/** Does one round's work and gives its figure (operations a second, or milliseconds). */
export type Side = (round: number) => number | Promise<number>;

export type Versus = { readonly ours: Side; readonly theirs: Side; readonly unit: Figure['unit']; readonly rounds: number };

/**
 * Both sides in turn, first whoever was second before, so that what the machine does besides hits both. The ratio is the
 * median of each round's own ratio: neighbours in time are compared, not averages of two different minutes. One round
 * before the first is thrown away (warm-up).
 */
export async function versus({ ours, theirs, unit, rounds }: Versus): Promise<Measured> {
  const seen: { ours: number; theirs: number }[] = [];
  for (let round = -1; round < rounds; round++) {
    const figures = { ours: Number.NaN, theirs: Number.NaN };
    for (const side of round % 2 === 0 ? (['ours', 'theirs'] as const) : (['theirs', 'ours'] as const)) {
      collectGarbage();
      figures[side] = await { ours, theirs }[side](round);
    }
    if (round >= 0) seen.push(figures);
  }
  const ratios = seen.map((figures) => figures.ours / figures.theirs);
  return {
    ours: { value: median(seen.map((figures) => figures.ours)), unit },
    theirs: { value: median(seen.map((figures) => figures.theirs)), unit },
    figures: {
      ratio: { value: median(ratios), unit: '' },
      'lowest round': { value: Math.min(...ratios), unit: '' },
      'highest round': { value: Math.max(...ratios), unit: '' },
    },
  };
}

/** How many times a second `work` can be done, one after the other, tried for `forMs`. */
export async function perSecond(forMs: number, work: () => unknown): Promise<number> {
  const start = performance.now();
  let took: number;
  let times = 0;
  do {
    const result = work();
    // A synchronous peer is not made to wait for promises that it does not need.
    if (result instanceof Promise) await result;
    times++;
    took = performance.now() - start;
  } while (took < forMs);
  return (times * 1000) / took;
}

/** The same for work that is done many times at once: `work(times)` in portions, until `forMs` have passed. */
export async function perSecondOf(forMs: number, work: (times: number) => Promise<void>): Promise<number> {
  const portion = 100;
  return portion * (await perSecond(forMs, () => work(portion)));
}

/** The median time of `work` in ms, repeated until it has taken `forMs` in all; what `before` does is not counted. */
export async function medianMs(forMs: number, before: () => unknown, work: () => unknown): Promise<number> {
  const took: number[] = [];
  for (let left = forMs; left > 0; left -= took.at(-1) ?? 0) {
    await before();
    const start = performance.now();
    const result = work();
    if (result instanceof Promise) await result;
    took.push(performance.now() - start);
  }
  return median(took);
}

export const median = (values: readonly number[]): number => percentile(values, 50);

/** Nearest rank. NaN for nothing. */
export function percentile(values: readonly number[], percent: number): number {
  const sorted = Float64Array.from(values).sort();
  return sorted[Math.max(0, Math.ceil((percent * sorted.length) / 100) - 1)] ?? Number.NaN;
}

/** One side does not pay for the garbage of the other. Needs `--expose-gc`, which `main.ts` gives to each row. */
export function collectGarbage(): void {
  (globalThis as { gc?: () => void }).gc?.();
}
