/**
 * Appends to one log. Calls that wait while a transaction runs share the next transaction, in their order. Each append is settled
 * separately, so a refused append does not affect the others.
 */
import type { LogKey } from '../../core/address.ts';
import { fault } from '../../core/faults.ts';
import { itemKey, touches } from '../../core/items.ts';
import type { NotificationId } from '../../core/notification.ts';
import { isSignOfWork } from '../../core/records.ts';
import type { Draft } from '../../core/records.ts';
import type { Asked, Batch, BatchHead } from '../appends.ts';
import { isHousekeeping } from '../retention.ts';
import { settleBatch, type SettledRow } from '../settle-batch.ts';
import type { Database, Query } from './database.ts';
import { putItems, removeItems, touchedItems } from './items.ts';
import { applySwaps, settingsOf } from './settings.ts';
import { toColumn, toColumnOrNull } from './text.ts';

export const lockOf = (log: LogKey): string => `log ${log}`;

export function appendAll(
  db: Database,
  log: LogKey,
  batch: readonly Asked[],
  { withinMs, now }: { readonly withinMs: number; readonly now: () => number },
): Promise<Batch> {
  const keys = [...new Set(batch.flatMap(({ swaps }) => swaps.map(({ key }) => key)))].toSorted();
  return db.write(
    { withinMs },
    [lockOf(log), ...keys.map((key) => `setting ${key}`)],
    (query) => run(query, log, batch, keys, now()),
    {
      keep: ({ answers }) => answers.some((answer) => answer.kind === 'done' && answer.appended.kind === 'appended'),
      notify: ({ head }) => head?.seq,
      isStored: (query, { answers }) => areStored(query, log, answers),
    },
  );
}

async function run(query: Query, log: LogKey, batch: readonly Asked[], keys: readonly string[], now: number): Promise<Batch> {
  fault('append.begun');
  const settings = await settingsOf(query, keys);
  const needs = batch.flatMap(({ drafts }) => drafts.map(({ body }) => touches(body)));
  const ids = [...new Set(needs.flatMap((need) => [...need.ids, ...need.creates]))];
  const carriers = [...new Set(needs.flatMap(({ carrier }) => (carrier === undefined ? [] : [carrier])))];
  const items = new Map((await touchedItems(query, log, ids, carriers)).map((item) => [itemKey(item), item]));

  // First settled at a provisional position, because the result does not depend on the position. Appends to other logs are not
  // blocked meanwhile.
  const possible = settleBatch(batch, { seq: 1, at: now, now }, items, settings);
  const count = possible.kept.reduce((sum, { drafts }) => sum + drafts.length, 0);
  if (count === 0) {
    await applySwaps(
      query,
      possible.kept.flatMap(({ swaps }) => swaps),
    );
    return { answers: possible.answers(log) };
  }
  const head = await nextHead(query, count, now);
  const done = settleBatch(batch, { seq: head.seq - count + 1, at: head.at, now }, items, settings);
  await insertRecords(query, log, done.records);
  fault('append.record_written');
  const gone = [...items].filter(([key]) => !done.items.has(key)).map(([, item]) => item);
  if (gone.length > 0) await removeItems(query, log, gone);
  const targets = new Map<NotificationId, number>([...done.items.values()].map(({ id, seq }) => [id, seq]));
  await putItems(
    query,
    log,
    [...done.changed].flatMap((key) => done.items.get(key) ?? []),
    targets,
  );
  fault('append.items_written');
  await applySwaps(
    query,
    done.kept.flatMap(({ swaps }) => swaps),
  );
  return { answers: done.answers(log), head };
}

/** Whether the log has the records of these answers at their positions. */
async function areStored(query: Query, log: LogKey, answers: Batch['answers']): Promise<boolean> {
  const records = answers.flatMap((answer) =>
    answer.kind === 'done' && answer.appended.kind === 'appended' ? answer.appended.records : [],
  );
  const rows = await query<{ seq: number; body: string }>(
    'SELECT seq, body FROM @records WHERE log = $1 AND seq = ANY($2::bigint[])',
    log,
    records.map(({ seq }) => seq),
  );
  const stored = new Map(rows.map(({ seq, body }) => [seq, JSON.stringify(JSON.parse(body))]));
  return records.every(({ seq, body }) => stored.get(seq) === JSON.stringify(body));
}

/**
 * Takes the next positions. Waits until earlier appends to any log have committed, and makes later appends wait until this append
 * commits.
 */
async function nextHead(query: Query, count: number, now: number): Promise<BatchHead> {
  const [head] = await query<BatchHead>('UPDATE @head SET seq = seq + $1, at = greatest(at, $2) RETURNING seq, at', count, now);
  return head as BatchHead;
}

export const whatOf = (body: Draft): unknown => {
  const { name, on } = body as { readonly name?: unknown; readonly on?: unknown };
  return name ?? on;
};

async function insertRecords(query: Query, log: LogKey, rows: readonly SettledRow[]): Promise<void> {
  const bodiesOf = rows.map(({ written }) => written.body);
  await query('INSERT INTO @logs (log) VALUES ($1) ON CONFLICT DO NOTHING', log);
  await query(
    `INSERT INTO @records (log, at, clock, seq, type, conversation, what, loose, body)
     SELECT $1, $2, $3, * FROM unnest($4::bigint[], $5::text[], $6::text[], $7::text[], $8::boolean[], $9::text[])`,
    log,
    rows[0]?.at,
    rows[0]?.clock ?? null,
    rows.map(({ seq }) => seq),
    bodiesOf.map(({ type }) => toColumn(type)),
    bodiesOf.map(({ conversation }) => toColumnOrNull(conversation)),
    bodiesOf.map((body) => (isSignOfWork(body) ? toColumnOrNull(whatOf(body)) : null)),
    rows.map(({ effect, written }) => !effect && isHousekeeping(written.body)),
    rows.map(({ written }) => written.text),
  );
}
