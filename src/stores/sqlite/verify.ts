import type { LogKey } from '../../core/address.ts';
import { levelRank } from '../../core/notification.ts';
import { unsound } from '../soundness.ts';
import type { Database } from './database.ts';
import { everyRecord } from './records.ts';
import { type ItemRow, itemOf, ITEMS, phaseOf } from './rows.ts';

type Columns = ItemRow & {
  readonly phase: number;
  readonly gate: number;
  readonly level: number;
  readonly key: string | null;
  readonly carrier: string | null;
  readonly taken_by: string | null;
  readonly closed_at: number | null;
};

/** What is wrong with the file: its structure, its index against a replay of each log, columns against state. */
export function verify(db: Database): string[] {
  const structure = db.all<{ integrity_check: string }>('PRAGMA integrity_check').map((row) => row.integrity_check);
  const problems = structure.filter((line) => line !== 'ok').map((line) => `structure: ${line}`);
  for (const { id, key } of db.all<{ id: number; key: LogKey }>('SELECT id, key FROM logs')) {
    const rows = db.all<Columns>(
      ITEMS.all.replace('SELECT', 'SELECT i.phase, i.gate, i.level, i.key, i.carrier, i.taken_by, i.closed_at,'),
      id,
    );
    problems.push(...unsound(key, everyRecord(db, id, key), rows.map(itemOf)), ...rows.flatMap((row) => misplaced(key, row)));
  }
  return problems;
}

function misplaced(log: LogKey, row: Columns): string[] {
  const item = itemOf(row);
  const fits =
    row.phase === phaseOf(item) &&
    row.gate === (item.gate ? 1 : 0) &&
    row.level === levelRank(item.notification.level) &&
    row.key === (item.notification.key ?? null) &&
    row.carrier === (item.carrier ?? null) &&
    row.taken_by === (item.takenBy ?? null) &&
    row.closed_at === (item.closedAt ?? null);
  return fits ? [] : [`${log}: the columns of ${item.id} do not fit its state`];
}
