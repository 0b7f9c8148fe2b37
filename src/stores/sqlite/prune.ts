import { fault } from '../../core/faults.ts';
import type { Item } from '../../core/items.ts';
import type { Draft } from '../../core/records.ts';
import { isPast, mustConcernNoItem, removable, removableLoose } from '../retention.ts';
import type { Database } from './database.ts';
import type { ItemIndex } from './item-index.ts';
import { DONE, UNREAD } from '../item-row.ts';
import { ITEMS } from './rows.ts';

/**
 * The maximum number of notifications that one transaction removes, not counting the notifications that were folded into them.
 * Other processes can write between two transactions.
 */
const CHUNK = 200;

/** The numbers of rows that a chunk removed. `next` is the start of the next chunk, and undefined at the end. */
export type Pruned = { readonly records: number; readonly items: number; readonly next: number | undefined };

/**
 * Removes one chunk of a log's old items, beginning after position `after`. Must run inside a transaction. The newest record of
 * the store stays, so that no position is used twice.
 */
export function pruneChunk(
  db: Database,
  index: ItemIndex,
  of: { readonly log: number; readonly before: number; readonly after: number; readonly head: number },
): Pruned {
  fault('prune.begun');
  const { log, before, after, head } = of;
  const rows = db.all<{ seq: number; source: number | null }>(
    `SELECT i.seq, max(i.source) AS source FROM items i
     WHERE i.log = ? AND i.phase IN (${UNREAD}, ${DONE}) AND i.seq > ? AND i.closed_at < ? AND i.gate = 0
     GROUP BY i.seq ORDER BY i.seq LIMIT ?`,
    log,
    after,
    before,
    CHUNK,
  );
  const going: Item[] = [];
  for (const { seq, source } of rows) {
    if (source !== null) continue;
    const items = index.select(ITEMS.atSeq, log, seq);
    if (!items.every((item) => isPast(item, before) && !item.history.includes(head))) continue;
    for (const item of items) going.push(item);
    // A folded notification is removed only together with its target, because a replay of the fold needs both.
    for (const folded of db.all<{ seq: number }>('SELECT seq FROM items WHERE source = ?', seq))
      for (const item of index.select(ITEMS.atSeq, log, folded.seq)) going.push(item);
  }
  const ids = new Set(going.map((item) => item.id));
  const history = bodies(db, [...new Set(going.flatMap((item) => item.history))]);
  const gone = removable(history, (id) => !ids.has(id) && index.seqOf(log, id) !== undefined);
  for (const seq of new Set(going.map((item) => item.seq))) index.remove(log, seq);

  const old = db.all<{ seq: number }>('SELECT seq FROM loose WHERE log = ? AND at < ? AND seq < ?', log, before, head);
  const loose = removableLoose(
    bodies(
      db,
      old.map(({ seq }) => seq),
    ),
  );
  for (const seq of loose) db.run('DELETE FROM loose WHERE log = ? AND seq = ?', log, seq);
  for (const seq of [...gone, ...loose]) db.run('DELETE FROM records WHERE seq = ?', seq);
  return {
    records: gone.length + loose.length,
    items: going.length,
    next: rows.length < CHUNK ? undefined : rows.at(-1)?.seq,
  };
}

/** Removes records that concern no item. Must run inside a transaction. */
export function forgetRecords(db: Database, seqs: readonly number[]): void {
  bodies(db, seqs).forEach(mustConcernNoItem);
  db.run('DELETE FROM records WHERE seq IN (SELECT value FROM json_each(?))', JSON.stringify(seqs));
}

function bodies(db: Database, seqs: readonly number[]): { seq: number; body: Draft }[] {
  return db
    .all<{ seq: number; body: string }>(
      'SELECT seq, body FROM records WHERE seq IN (SELECT value FROM json_each(?)) ORDER BY seq',
      JSON.stringify(seqs),
    )
    .map(({ seq, body }) => ({ seq, body: JSON.parse(body) as Draft }));
}
