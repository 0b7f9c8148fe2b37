/** Decides the appends of one batch in their order, without I/O. A refused append does not affect the other appends. */
import type { LogKey } from '../core/address.ts';
import { clockBeside } from '../core/clocks.ts';
import { type Item, itemKey, type Place } from '../core/items.ts';
import type { Appended, Swap } from '../core/ports.ts';
import type { Draft, Stored } from '../core/records.ts';
import type { Answer, Asked } from './appends.ts';
import type { Written } from './placing.ts';
import { settleAppend, type SettledAppend } from './settle-append.ts';

/** Settings as JSON text. Undefined if a setting is absent. */
export type Known = ReadonlyMap<string, string | undefined>;

/** Returns the first key whose value differs from the expected value, compared as JSON text. */
export const staleKey = (known: Known, swaps: readonly Swap[]): string | undefined =>
  swaps.find(({ key, from }) => known.get(key) !== (from === undefined ? undefined : JSON.stringify(from)))?.key;

export type SettledRow = Place & { readonly written: Written; readonly effect: boolean };
type Settling = {
  readonly kept: readonly Asked[];
  readonly records: readonly SettledRow[];
  readonly items: ReadonlyMap<string, Item>;
  readonly changed: ReadonlySet<string>;
  readonly answers: (log: LogKey) => readonly Answer[];
};

export function settleBatch(
  batch: readonly Asked[],
  { seq: first, at, now }: { readonly seq: number; readonly at: number; readonly now: number },
  before: ReadonlyMap<string, Item>,
  settings: Known,
): Settling {
  const beside = clockBeside(at, now);
  const known = new Map(settings);
  const kept: Asked[] = [];
  const records: SettledRow[] = [];
  const changed = new Set<string>();
  const answers: ((log: LogKey) => Answer)[] = [];
  let items = before;
  for (const asked of batch) {
    const done = (appended: Appended): number => answers.push(() => ({ kind: 'done', appended }));
    const stale = staleKey(known, asked.swaps);
    if (stale !== undefined) {
      done({ kind: 'stale', key: stale });
      continue;
    }
    const place: Place = { seq: first + records.length, at, ...beside };
    let settled: SettledAppend;
    try {
      settled = settleAppend(bodies(asked), place, items);
    } catch (error) {
      answers.push(() => ({ kind: 'failed', error }));
      continue;
    }
    if (settled.kind !== 'settled') {
      done(settled);
      continue;
    }
    const { effects, changed: mine } = settled;
    items = settled.items;
    for (const item of mine) changed.add(itemKey(item));
    for (const { key, to } of asked.swaps) known.set(key, to === undefined ? undefined : JSON.stringify(to));
    kept.push(asked);
    for (const [n, written] of asked.drafts.entries())
      records.push({ ...place, seq: place.seq + n, written, effect: effects[n] ?? false });
    answers.push((log) => ({
      kind: 'done',
      appended: { kind: 'appended', records: storedOf(log, place, asked), items: mine },
    }));
  }
  return { kept, records, items, changed, answers: (log) => answers.map((answer) => answer(log)) };
}

const bodies = ({ drafts }: Asked): readonly Draft[] => drafts.map(({ body }) => body);
const storedOf = (log: LogKey, { seq, at, clock }: Place, asked: Asked): Stored[] =>
  bodies(asked).map((body, n) => ({ seq: seq + n, log, at, ...(clock === undefined ? {} : { clock }), body }));
