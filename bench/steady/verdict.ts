import { median } from '../rounds.ts';

/** The measurements of one period, in bytes and milliseconds. */
export type Stretch = {
  readonly rss: number;
  readonly heap: number;
  readonly p50: number;
  readonly p99: number;
};

export type Verdict = { readonly kind: 'flat' | 'grown' | 'too short'; readonly lines: readonly string[] };

/** The maximum ratios that count as flat, because garbage collection alone changes the figures this much. */
const MOST: { readonly [K in keyof Stretch]: number } = { rss: 1.1, heap: 1.1, p50: 1.25, p99: 1.5 };
const LEAST_STRETCHES = 6;

/**
 * Compares the last third of the periods with the first third. The first period is left out, because compilers and caches warm up
 * in it.
 */
export function verdictOf(all: readonly Stretch[]): Verdict {
  const warm = all.slice(1);
  if (warm.length < LEAST_STRETCHES - 1)
    return { kind: 'too short', lines: [`${all.length} of at least ${LEAST_STRETCHES} stretches: too short to say`] };
  const third = Math.floor(warm.length / 3);
  const lines: string[] = [];
  let kind: Verdict['kind'] = 'flat';
  for (const name of ['rss', 'heap', 'p50', 'p99'] as const) {
    const [first, last] = [warm.slice(0, third), warm.slice(-third)].map((some) => median(some.map((one) => one[name])));
    const ratio = (last ?? Number.NaN) / (first ?? Number.NaN);
    const isFlat = ratio <= MOST[name];
    if (!isFlat) kind = 'grown';
    lines.push(`${name}: ${ratio.toFixed(2)} x of the first third (<= ${MOST[name]}) ${isFlat ? 'ok' : 'GROWN'}`);
  }
  return { kind, lines };
}
