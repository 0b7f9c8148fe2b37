/**
 * Computes sums of a store's content. The sum of a record covers its position, log, time, clock and body. The sum of a log adds
 * the sums of its records, so the sum does not depend on the order of reading. Each engine reads in the order that costs least.
 */
import { hash } from 'node:crypto';
import type { LogKey } from '../../core/address.ts';
import type { Stored } from '../../core/records.ts';
import { type End, type Row, SKIPPED } from './port.ts';

export type Sum = { readonly count: number; readonly sum: bigint };
export type Content = { readonly logs: ReadonlyMap<LogKey, Sum>; readonly rows: ReadonlyMap<Row['kind'], Sum> };

const WIDTH = 1n << 128n;
const NOTHING: Sum = { count: 0, sum: 0n };

const add = ({ count, sum }: Sum, text: string): Sum => ({
  count: count + 1,
  sum: (sum + BigInt(`0x${hash('sha256', text, 'hex').slice(0, 32)}`)) % WIDTH,
});

const textOf = ({ seq, log, at, clock, body }: Stored): string => JSON.stringify([seq, log, at, clock ?? null, body]);

/** Reads a whole store, and computes the sums of its content. Calls `onRecords` with the number of records so far. */
export async function contentOf(end: End, onRecords: (count: number) => void): Promise<Content> {
  const logs = new Map<LogKey, Sum>();
  for await (const { records, cursor } of end.records(undefined)) {
    for (const record of records)
      if (record.body.type !== SKIPPED) logs.set(record.log, add(logs.get(record.log) ?? NOTHING, textOf(record)));
    onRecords(cursor.copied);
  }
  const rows = new Map<Row['kind'], Sum>();
  for await (const page of end.rows())
    for (const row of page) rows.set(row.kind, add(rows.get(row.kind) ?? NOTHING, JSON.stringify(row)));
  return { logs, rows };
}

/** Returns the differences, one line each. */
export function differences(source: Content, target: Content): string[] {
  return [
    ...compare(source.logs, target.logs, (log) => [`${log}:`, 'records']),
    ...compare(source.rows, target.rows, (kind) => ['', `rows of ${kind}`]),
  ];
}

function compare<K>(
  source: ReadonlyMap<K, Sum>,
  target: ReadonlyMap<K, Sum>,
  words: (key: K) => readonly [string, string],
): string[] {
  return [...new Set([...source.keys(), ...target.keys()])].flatMap((key) => {
    const [a, b] = [source.get(key) ?? NOTHING, target.get(key) ?? NOTHING];
    const [who, what] = words(key);
    if (a.count !== b.count) return [`${who} the source has ${a.count} ${what}, the target ${b.count}`.trim()];
    return a.sum === b.sum ? [] : [`${who} the ${b.count} ${what} differ`.trim()];
  });
}

export const counted = (sums: ReadonlyMap<unknown, Sum>): number =>
  [...sums.values()].reduce((total, { count }) => total + count, 0);

/** Returns one text for the sum of all content, which people can compare. */
export function fingerprint({ logs, rows }: Content): string {
  const all = [...logs.values(), ...rows.values()].reduce((total, { sum }) => (total + sum) % WIDTH, 0n);
  return all.toString(16).padStart(32, '0');
}
