/**
 * Finds the differences between the items and a replay of each log, and between the columns of a row and its item. Also finds
 * missing objects of the schema, items without a record, and records above the newest position.
 */
import type { LogKey } from '../../core/address.ts';
import type { Item } from '../../core/items.ts';
import type { Stored } from '../../core/records.ts';
import { phaseOf } from '../item-row.ts';
import { unsound } from '../soundness.ts';
import type { Query } from './database.ts';
import { itemFrom, type ItemRow } from './items.ts';
import { isMissingTable, listOf, missingObjects } from './objects.ts';
import { NEWEST } from './positions.ts';
import { readRecords } from './records.ts';
import { toColumn, toColumnOrNull } from './text.ts';

type Columns = ItemRow & {
  readonly id: string;
  readonly phase: number;
  readonly gate: boolean;
  readonly key: string | null;
  readonly carrier: string | null;
  readonly taken_by: string | null;
  readonly closed_at: number | null;
};

const PAGE = 5_000;

export async function verify(query: Query, schema: string, onProgress?: (done: number, of: number) => void): Promise<string[]> {
  const gone = await missingObjects(query, schema);
  const problems = gone.map((one) => `${listOf([one])} is missing in the schema ${schema}`);
  if (gone.some(isMissingTable)) return problems;
  const [{ of } = { of: 0 }] = await query<{ of: number }>('SELECT count(*) AS of FROM @records');
  let done = 0;
  onProgress?.(done, of);
  for (const { log } of await query<{ log: LogKey }>('SELECT log FROM @logs ORDER BY log')) {
    const records: Stored[] = [];
    for (let page = await readRecords(query, { log, limit: PAGE }); page.length > 0;) {
      records.push(...page);
      done += page.length;
      onProgress?.(done, of);
      page = page.length < PAGE ? [] : await readRecords(query, { log, limit: PAGE, after: page.at(-1)?.seq ?? 0 });
    }
    const rows = await query<Columns>('SELECT * FROM @items WHERE log = $1', log);
    const items = rows.map((row) => {
      const item = itemFrom(row);
      if (!fits(row, item)) problems.push(`${log}: the columns of ${item.id} contradict the state of the item`);
      return item;
    });
    problems.push(...unsound(log, records, items));
  }
  const [{ n } = { n: 0 }] = await query<{ n: number }>(
    'SELECT count(*) AS n FROM @items i WHERE NOT EXISTS (SELECT 1 FROM @records r WHERE r.log = i.log AND r.seq = i.seq)',
  );
  if (n > 0) problems.push(`${n} items have no record`);
  const [{ above } = { above: 0 }] = await query<{ above: number }>(
    `SELECT count(*) AS above FROM @records WHERE seq > ${NEWEST}`,
  );
  if (above > 0) problems.push(`${above} records are above the newest position`);
  return problems;
}

const fits = (row: Columns, item: Item): boolean =>
  row.id === toColumn(item.id) &&
  row.phase === phaseOf(item) &&
  row.gate === item.gate &&
  row.key === toColumnOrNull(item.notification.key) &&
  row.carrier === toColumnOrNull(item.carrier) &&
  row.taken_by === toColumnOrNull(item.takenBy) &&
  row.closed_at === (item.closedAt ?? null);
