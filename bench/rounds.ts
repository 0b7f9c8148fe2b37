import { cpuUs, systemCalls, type Pids } from './costs.ts';
import type { Figure, Measured } from './row.ts';

/** Does one round's work and returns its figure (operations per second, milliseconds or bytes). */
export type Side = (round: number) => number | Promise<number>;

export type Versus = {
  readonly ours: Side;
  readonly theirs: Side;
  readonly unit: Figure['unit'];
  readonly rounds: number;
  /** Further sides by name, each of which is compared with Earpiece. */
  readonly beside?: Readonly<Record<string, Side>>;
  /** The processes of each side, if the work is not done in this process. */
  readonly pids?: { readonly ours: Pids; readonly theirs: Pids };
};

type Seen = { readonly figure: number; readonly cpuUs: number | undefined };

/**
 * Runs all sides in turn, in reverse order in every second round, so that other work on the machine affects all sides. The ratio
 * is the median of the ratios of single rounds, so it compares measurements that are close in time. An additional first round is
 * a warm-up and is not counted. If a side returns operations per second, the costs of one operation are reported too.
 */
export async function versus({ ours, theirs, unit, rounds, beside = {}, pids }: Versus): Promise<Measured> {
  const sides = { ours, theirs, ...beside };
  const names = Object.keys(sides) as (keyof typeof sides)[];
  const pidsOf = (name: string): Pids => (name === 'ours' || name === 'theirs' ? pids?.[name] : undefined) ?? [process.pid];
  const seen: Record<string, Seen>[] = [];
  for (let round = -1; round < rounds; round++) {
    const figures: Record<string, Seen> = {};
    for (const name of round % 2 === 0 ? names : names.toReversed()) {
      collectGarbage();
      figures[name] = await costed(() => sides[name](round), unit, pidsOf(name));
    }
    if (round >= 0) seen.push(figures);
  }
  const of = (name: string): number[] => seen.map((figures) => figures[name]?.figure ?? Number.NaN);
  const ratios = (name: string): number[] => of('ours').map((figure, round) => figure / (of(name)[round] ?? Number.NaN));
  const figures: Record<string, Figure> = {
    ratio: { value: median(ratios('theirs')), unit: '' },
    'lowest round': { value: Math.min(...ratios('theirs')), unit: '' },
    'highest round': { value: Math.max(...ratios('theirs')), unit: '' },
  };
  for (const name of Object.keys(beside)) {
    figures[name] = { value: median(of(name)), unit };
    figures[`against ${name}`] = { value: median(ratios(name)), unit: '' };
  }
  for (const name of names) {
    const cpu = seen.flatMap((each) => each[name]?.cpuUs ?? []);
    if (cpu.length === seen.length) figures[`CPU, ${name}`] = { value: median(cpu), unit: 'us' };
    if (unit !== '/s') continue;
    const calls = await callsOf(() => sides[name](rounds), pidsOf(name));
    if (calls !== undefined) figures[`system calls, ${name}`] = { value: calls, unit: '' };
  }
  return { ours: { value: median(of('ours')), unit }, theirs: { value: median(of('theirs')), unit }, figures };
}

/**
 * Runs a side. Returns the side's figure, and the processor time of one operation, computed from the processor time of a run and
 * its operations per second.
 */
async function costed(side: () => number | Promise<number>, unit: Figure['unit'], pids: Pids): Promise<Seen> {
  const [before, start] = [cpuUs(pids), performance.now()];
  const figure = await side();
  const times = (figure * (performance.now() - start)) / 1_000;
  const after = cpuUs(pids);
  return { figure, cpuUs: unit !== '/s' || before === undefined || after === undefined ? undefined : (after - before) / times };
}

async function callsOf(side: () => number | Promise<number>, pids: Pids): Promise<number | undefined> {
  let times = 0;
  const calls = await systemCalls(pids, async () => {
    const start = performance.now();
    const figure = await side();
    times = (figure * (performance.now() - start)) / 1_000;
  });
  return calls === undefined ? undefined : calls / times;
}

/** Measures how many times per second `work` can run, one after the other, during `forMs`. */
export async function perSecond(forMs: number, work: () => unknown): Promise<number> {
  const start = performance.now();
  let took: number;
  let times = 0;
  do {
    const result = work();
    // A synchronous peer must not wait for promises that it does not need.
    if (result instanceof Promise) await result;
    times++;
    took = performance.now() - start;
  } while (took < forMs);
  return (times * 1000) / took;
}

/** Like `perSecond`, for work that runs many times in one call: calls `work(times)` until `forMs` have passed. */
export async function perSecondOf(forMs: number, work: (times: number) => Promise<void>): Promise<number> {
  const portion = 100;
  return portion * (await perSecond(forMs, () => work(portion)));
}

/**
 * Returns the median time of `work` in ms, repeated until `work` has taken `forMs` in total. The time of `before` is not
 * included.
 */
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

/** Returns a percentile by the nearest rank; NaN for an empty list. */
export function percentile(values: readonly number[], percent: number): number {
  const sorted = Float64Array.from(values).sort();
  return sorted[Math.max(0, Math.ceil((percent * sorted.length) / 100) - 1)] ?? Number.NaN;
}

/**
 * Collects garbage, so that one side's garbage does not slow the other side. Needs the flag `--expose-gc`, which `main.ts`
 * passes to each row.
 */
export function collectGarbage(): void {
  (globalThis as { gc?: () => void }).gc?.();
}
