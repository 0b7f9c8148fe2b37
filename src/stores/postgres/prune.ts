/** Removes records: old records by retention, single records for `forget`, and all records of an agent for `erase`. */
import type { LogKey } from '../../core/address.ts';
import { fault } from '../../core/faults.ts';
import { touches } from '../../core/items.ts';
import type { Erased } from '../../core/ports.ts';
import { DONE, UNREAD } from '../item-row.ts';
import { isPast, mustConcernNoItem, removable, removableLoose } from '../retention.ts';
import type { Query } from './database.ts';
import { selectItems } from './items.ts';
import { bodiesOf } from './records.ts';
import { fromColumn, toColumn } from './text.ts';

/**
 * The maximum number of notifications that one transaction removes, not counting the notifications that were folded into them.
 * Other processes can write between two transactions.
 */
const CHUNK = 200;

/** The numbers of rows that a chunk removed. `next` is the start of the next chunk, and undefined at the end. */
export type Pruned = { readonly records: number; readonly items: number; readonly next: number | undefined };

/**
 * Removes one chunk of a log's old items, beginning after position `after`. The caller must hold the lock of the log. The newest
 * record of the store stays.
 */
export async function pruneChunk(
  query: Query,
  log: LogKey,
  { before, after }: { before: number; after: number },
): Promise<Pruned> {
  fault('prune.begun');
  const [{ head } = { head: 0 }] = await query<{ head: number }>('SELECT coalesce(max(seq), 0) AS head FROM @records');
  const old = await query<{ seq: number }>(
    `SELECT seq FROM @items WHERE log = $1 AND phase IN (${UNREAD}, ${DONE}) AND seq > $2 AND closed_at < $3 AND NOT gate
     GROUP BY seq HAVING max(source) IS NULL ORDER BY seq LIMIT ${CHUNK}`,
    log,
    after,
    before,
  );
  const seqs = old.map(({ seq }) => seq);
  // A folded notification is removed only together with its target, because a replay of the fold needs both.
  const all = seqs.length === 0 ? [] : await selectItems(query, log, 'AND (i.seq = ANY($2) OR i.source = ANY($2))', seqs);
  const byId = Map.groupBy(all, ({ id }) => id);
  const ids = new Set(
    seqs
      .map((seq) => all.filter((item) => item.seq === seq))
      .filter((items) => items.every((item) => isPast(item, before) && !item.history.includes(head)))
      .flatMap((items) => items.map(({ id }) => id)),
  );
  for (const item of all)
    if (item.outcome === 'folded' && item.group?.[0] !== undefined && ids.has(item.group[0])) ids.add(item.id);
  const going = [...ids].flatMap((id) => byId.get(id) ?? []);

  const history = await bodiesOf(query, log, [...new Set(going.flatMap((item) => item.history))]);
  const named = history.flatMap(({ body }) => [...touches(body).ids, ...touches(body).creates]).filter((id) => !ids.has(id));
  const kept = await query<{ id: string }>(
    'SELECT DISTINCT id FROM @items WHERE log = $1 AND id = ANY($2)',
    log,
    named.map(toColumn),
  );
  const stays = new Set<string>(kept.map(({ id }) => fromColumn(id)));
  const gone = removable(history, (id) => stays.has(id));
  await query('DELETE FROM @items WHERE log = $1 AND seq = ANY($2)', log, [...new Set(going.map(({ seq }) => seq))]);

  const loose = await query<{ seq: number }>(
    'SELECT seq FROM @records WHERE log = $1 AND loose AND at < $2 AND seq < $3',
    log,
    before,
    head,
  );
  const also = removableLoose(
    await bodiesOf(
      query,
      log,
      loose.map(({ seq }) => seq),
    ),
  );
  await query('DELETE FROM @records WHERE log = $1 AND seq = ANY($2)', log, [...gone, ...also]);
  return { records: gone.length + also.length, items: going.length, next: old.length < CHUNK ? undefined : seqs.at(-1) };
}

/** Removes records that concern no item. Returns false and changes nothing if the newest record is among these records. */
export async function forgetRecords(query: Query, seqs: readonly number[]): Promise<boolean> {
  const [row] = await query<{ head: number }>('SELECT coalesce(max(seq), 0) AS head FROM @records');
  if (row !== undefined && seqs.includes(row.head)) return false;
  (await bodiesOf(query, undefined, seqs)).forEach(mustConcernNoItem);
  await query('DELETE FROM @records WHERE seq = ANY($1)', seqs);
  return true;
}

/**
 * Erases an agent's records and items below position `before`, and its other rows. Returns the numbers of erased rows. The caller
 * must hold the lock of the log.
 */
export async function erase(query: Query, log: LogKey, before: number): Promise<Erased> {
  const count = async (sql: string, ...values: readonly unknown[]): Promise<number> =>
    (await query<{ n: number }>(`WITH gone AS (${sql} RETURNING 1) SELECT count(*) AS n FROM gone`, ...values))[0]?.n ?? 0;
  const [found] = await query<{ n: number }>(
    'SELECT count(DISTINCT seq) AS n FROM @items WHERE log = $1 AND seq < $2',
    log,
    before,
  );
  await query('DELETE FROM @items WHERE log = $1 AND seq < $2', log, before);
  await query('DELETE FROM @bindings WHERE log = $1', log);
  const name = toColumn(log);
  return {
    records: await count('DELETE FROM @records WHERE log = $1 AND seq < $2', log, before),
    notifications: found?.n ?? 0,
    conversations: await count('DELETE FROM @conversations WHERE log = $1', log),
    withheld: await count('DELETE FROM @withheld WHERE log = $1', log),
    // The keys of these settings name the agent or one of its conversations. The value of a session token is the conversation
    // that it opens.
    settings: await count(
      `DELETE FROM @settings WHERE right(key, length($1::text)) = $1 OR strpos(key, $2) > 0 OR left(value, length($3::text)) = $3`,
      ` ${name}`,
      ` ${name}#`,
      `"${name}#`,
    ),
  };
}
