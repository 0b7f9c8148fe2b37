import type { LogKey } from '../../core/address.ts';
import type { Item } from '../../core/items.ts';
import { levelRank } from '../../core/notification.ts';
import { unsound } from '../soundness.ts';
import type { Database } from './database.ts';
import { everyRecord } from './records.ts';
import { type ItemRow, itemOf, phaseOf } from '../item-row.ts';
import { ITEMS } from './rows.ts';

type Columns = ItemRow & {
  readonly phase: number;
  readonly gate: number;
  readonly level: number;
  readonly key: string | null;
  readonly carrier: string | null;
  readonly taken_by: string | null;
  readonly closed_at: number | null;
};

type OnProgress = ((done: number, of: number) => void) | undefined;

/** The number of records between two calls of `onProgress`: about 10 ms of work. */
const EVERY = 1_000;

/**
 * Finds the faults of the file: checks its structure, compares the index with a replay of each log, and compares columns with the
 * stored state.
 */
export function verify(db: Database, onProgress?: OnProgress): string[] {
  const of = db.get<{ n: number | null }>('SELECT max(rowid) AS n FROM records')?.n ?? 0;
  onProgress?.(0, of);
  const structure = db.all<{ integrity_check: string }>('PRAGMA integrity_check').map((row) => row.integrity_check);
  const problems = structure.filter((line) => line !== 'ok').map((line) => `structure: ${line}`);
  const progress = { done: 0, tick: () => ++progress.done % EVERY === 0 && onProgress?.(progress.done, of) };
  for (const { id, key } of db.all<{ id: number; key: LogKey }>('SELECT id, key FROM logs')) {
    const misfits: string[] = [];
    const indexed = db.each<Columns>(
      ITEMS.all.replace('SELECT', 'SELECT i.phase, i.gate, i.level, i.key, i.carrier, i.taken_by, i.closed_at,'),
      id,
    );
    for (const line of unsound(key, counted(everyRecord(db, id, key), progress.tick), placed(key, indexed, misfits)))
      problems.push(line);
    for (const line of misfits) problems.push(line);
  }
  return problems;
}

function* counted<T>(all: Iterable<T>, tick: () => void): Iterable<T> {
  for (const one of all) {
    tick();
    yield one;
  }
}

/** Yields the items of the rows. Adds a line to `misfits` for each row whose columns contradict its item. */
function* placed(log: LogKey, rows: Iterable<Columns>, misfits: string[]): Iterable<Item> {
  for (const row of rows) {
    const item = itemOf(row);
    if (!fits(row, item)) misfits.push(`${log}: the columns of ${item.id} contradict the state of the item`);
    yield item;
  }
}

const fits = (row: Columns, item: Item): boolean =>
  row.phase === phaseOf(item) &&
  row.gate === (item.gate ? 1 : 0) &&
  row.level === levelRank(item.notification.level) &&
  row.key === (item.notification.key ?? null) &&
  row.carrier === (item.carrier ?? null) &&
  row.taken_by === (item.takenBy ?? null) &&
  row.closed_at === (item.closedAt ?? null);
