/**
 * Appends to one log. Calls that wait while a transaction runs share the next transaction, in their order. Each append is settled
 * separately, so a refused append does not affect the others.
 */
import type { LogKey } from '../../core/address.ts';
import { clockBeside } from '../../core/clocks.ts';
import { fault } from '../../core/faults.ts';
import { type Item, itemKey, type Place, touches } from '../../core/items.ts';
import type { NotificationId } from '../../core/notification.ts';
import type { Appended, Swap } from '../../core/ports.ts';
import { type Draft, isSignOfWork, type Stored } from '../../core/records.ts';
import type { Written } from '../placing.ts';
import { isHousekeeping } from '../retention.ts';
import { settleAppend, type SettledAppend } from '../settle-append.ts';
import type { Database, Query } from './database.ts';
import { putItems, removeItems, touchedItems } from './items.ts';
import { applySwaps, type Known, settingsOf, staleKey } from './settings.ts';
import { toColumn, toColumnOrNull } from './text.ts';

export type Asked = { readonly drafts: readonly Written[]; readonly swaps: readonly Swap[] };
export type Answer =
  | { readonly kind: 'done'; readonly appended: Appended }
  /** An error that concerns only this append. */
  | { readonly kind: 'failed'; readonly error: unknown };
/** `head`: the newest position and time, if anything was appended. */
export type Batch = { readonly answers: readonly Answer[]; readonly head?: { readonly seq: number; readonly at: number } };

type Head = { readonly seq: number; readonly at: number };

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

/**
 * Takes the next positions. Waits until earlier appends to any log have committed, and makes later appends wait until this append
 * commits.
 */
async function nextHead(query: Query, count: number, now: number): Promise<Head> {
  const [head] = await query<Head>('UPDATE @head SET seq = seq + $1, at = greatest(at, $2) RETURNING seq, at', count, now);
  return head as Head;
}

type Row = Place & { readonly written: Written; readonly effect: boolean };
type Settling = {
  readonly kept: readonly Asked[];
  readonly records: readonly Row[];
  readonly items: ReadonlyMap<string, Item>;
  readonly changed: ReadonlySet<string>;
  readonly answers: (log: LogKey) => readonly Answer[];
};

function settleBatch(
  batch: readonly Asked[],
  { seq: first, at, now }: { readonly seq: number; readonly at: number; readonly now: number },
  before: ReadonlyMap<string, Item>,
  settings: Known,
): Settling {
  const beside = clockBeside(at, now);
  const known = new Map(settings);
  const kept: Asked[] = [];
  const records: Row[] = [];
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

const whatOf = (body: Draft): unknown => {
  const { name, on } = body as { readonly name?: unknown; readonly on?: unknown };
  return name ?? on;
};

async function insertRecords(query: Query, log: LogKey, rows: readonly Row[]): Promise<void> {
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
