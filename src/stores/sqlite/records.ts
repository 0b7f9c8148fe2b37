import type { LogKey } from '../../core/address.ts';
import type { ReadQuery } from '../../core/ports.ts';
import type { Draft, Stored } from '../../core/records.ts';
import type { Database } from './database.ts';
import type { Logs } from './logs.ts';
import { DONE, OPEN, UNREAD } from '../item-row.ts';
import { Where } from './where.ts';

/** How many positions of a log one query reads. The filters of a query may reject many of these records. */
const CHUNK = 1000;

type Row = {
  readonly seq: number;
  readonly log: number;
  readonly at: number;
  readonly clock: number | null;
  readonly body: string;
};

export function readRecords(db: Database, logs: Logs, query: ReadQuery): Stored[] {
  const limit = query.limit ?? CHUNK;
  if (query.log === undefined || query.seqs !== undefined) return select(db, logs, query, limit);
  const number = logs.numberOf(query.log);
  if (number === undefined) return [];
  const found: Stored[] = [];
  const filtered = query.types !== undefined || query.conversation !== undefined;
  let { after = 0, upTo = Number.MAX_SAFE_INTEGER } = query;
  while (found.length < limit) {
    const seqs = positions(db, { ...query, number, after, upTo }, filtered ? CHUNK : Math.min(CHUNK, limit - found.length));
    const last = seqs.at(-1);
    if (last === undefined) break;
    found.push(...select(db, logs, { ...query, seqs }, limit - found.length));
    if (query.newestFirst) upTo = last - 1;
    else after = last;
  }
  return found;
}

/**
 * Returns the next positions of one log. The positions of queue records come from the items. The positions of other records come
 * from an index. Both sets of positions are merged in order.
 */
function positions(
  db: Database,
  { number, after, upTo, newestFirst }: ReadQuery & { number: number; after: number; upTo: number },
  limit: number,
): number[] {
  return db
    .all<{ seq: number }>(newestFirst ? POSITIONS.newestFirst : POSITIONS.oldestFirst, number, after, upTo, limit)
    .map(({ seq }) => seq);
}

const positionsIn = (order: 'ASC' | 'DESC'): string => `
  SELECT seq FROM records WHERE log = ?1 AND notification IS NULL AND seq > ?2 AND seq <= ?3
  ${[OPEN, UNREAD, DONE].map((phase) => `UNION SELECT seq FROM items WHERE log = ?1 AND phase = ${phase} AND seq > ?2 AND seq <= ?3`).join(' ')}
  ORDER BY seq ${order} LIMIT ?4`;
export const POSITIONS = { oldestFirst: positionsIn('ASC'), newestFirst: positionsIn('DESC') } as const;

function select(db: Database, logs: Logs, query: ReadQuery, limit: number): Stored[] {
  const { log, project, after = 0, upTo, conversation, types, newestFirst, seqs } = query;
  const where = new Where();
  // The + makes SQLite use the index of seq. With this index, SQLite reads the records in their order, and does not sort the
  // whole log or project.
  if (log !== undefined) where.and('+log = (SELECT id FROM logs WHERE key = ?)', log);
  if (project !== undefined) where.and('+log IN (SELECT id FROM logs WHERE project = ?)', project);
  if (after > 0) where.and('seq > ?', after);
  if (upTo !== undefined) where.and('seq <= ?', upTo);
  if (conversation !== undefined) where.and('conversation = ?', conversation);
  if (types !== undefined) where.and('type IN (SELECT value FROM json_each(?))', JSON.stringify(types));
  if (seqs !== undefined) where.and('seq IN (SELECT value FROM json_each(?))', JSON.stringify(seqs));
  return db
    .all<Row>(
      `SELECT seq, log, at, clock, body FROM records ${where.sql} ORDER BY seq ${newestFirst ? 'DESC' : 'ASC'} LIMIT ?`,
      ...where.values,
      Number.isFinite(limit) ? limit : -1,
    )
    .map((row) => storedOf(row, log ?? logs.keyOf(row.log)));
}

/**
 * Yields all records of one log in order. Reads the positions from both indexes of the records and not from the items, because a
 * check compares the items with these records. A scan of the table for each log would take an hour for a thousand logs.
 */
export function* everyRecord(db: Database, number: number, log: LogKey): Iterable<Stored> {
  const seqs = Float64Array.from(db.all<{ seq: number }>(EVERY, number), ({ seq }) => seq).sort();
  for (let from = 0; from < seqs.length; from += CHUNK) {
    const chunk = JSON.stringify([...seqs.subarray(from, from + CHUNK)]);
    for (const row of db.all<Row>(AT, chunk)) yield storedOf(row, log);
  }
}

const EVERY = `SELECT seq FROM records WHERE log = ?1 AND notification IS NULL
  UNION ALL SELECT seq FROM records WHERE log = ?1 AND notification IS NOT NULL`;
const AT = 'SELECT seq, log, at, clock, body FROM records WHERE seq IN (SELECT value FROM json_each(?)) ORDER BY seq';

const storedOf = ({ seq, at, clock, body }: Row, log: LogKey): Stored => ({
  seq,
  log,
  at,
  ...(clock === null ? {} : { clock }),
  body: JSON.parse(body) as Draft,
});
