/**
 * Appends to one log. Calls that wait while an append runs share the next append, in their order. Each append is settled
 * separately, so a refused append does not affect the other appends.
 *
 * An append is one statement, which writes only if the items and settings have not changed since the append was settled. An
 * append that only adds new notifications and records without items first tries this statement alone. Any other append first
 * reads the items and settings that it touches. If another process changes these items or settings in the meantime, the append
 * reads them again while it holds the lock of its log.
 */
import { randomFillSync } from 'node:crypto';
import type { LogKey } from '../../core/address.ts';
import { fault } from '../../core/faults.ts';
import { type Item, itemKey, touches } from '../../core/items.ts';
import { levelRank, type NotificationId } from '../../core/notification.ts';
import { type Draft, isSignOfWork } from '../../core/records.ts';
import type { Answer, Asked, Batch } from '../appends.ts';
import { stateOf } from '../item-row.ts';
import { isHousekeeping } from '../retention.ts';
import { type Known, settleBatch } from '../settle-batch.ts';
import type { Database, Query } from './database.ts';
import { columnsOf, itemFrom, type ItemRow, touchedRows } from './items.ts';
import { settingsOf } from './settings.ts';
import { toColumn, toColumnOrNull } from './text.ts';

export const lockOf = (log: LogKey): string => `log ${log}`;

/** The provisional position of the first record. Real positions are lower. */
const BASE = 2 ** 52;

type Appending = {
  readonly db: Database;
  readonly log: LogKey;
  readonly batch: readonly Asked[];
  readonly keys: readonly string[];
  readonly ids: readonly NotificationId[];
  readonly carriers: readonly string[];
  readonly withinMs: number;
  readonly now: number;
  /** A position below each position that this append may get. */
  readonly floor: number;
};

/** The items, settings and time with which an append is settled. */
type Seen = { readonly rows: readonly ItemRow[]; readonly settings: Known; readonly at: number };
const NOTHING: Omit<Seen, 'at'> = { rows: [], settings: new Map() };

type Result = {
  readonly kind: 'done' | 'changed' | 'later' | 'dead' | 'locked';
  readonly seqs: readonly string[] | null;
  readonly at: number | null;
};

export async function appendAll(
  db: Database,
  log: LogKey,
  batch: readonly Asked[],
  { withinMs, now, newest }: { readonly withinMs: number; readonly now: number; readonly newest: { seq: number; at: number } },
): Promise<Batch> {
  const started = performance.now();
  const needs = batch.flatMap(({ drafts }) => drafts.map(({ body }) => touches(body)));
  const keys = [...new Set(batch.flatMap(({ swaps }) => swaps.map(({ key }) => key)))].toSorted();
  const carriers = [...new Set(needs.flatMap(({ carrier }) => (carrier === undefined ? [] : [carrier])))];
  const appending: Appending = {
    db,
    log,
    batch,
    keys,
    ids: [...new Set(needs.flatMap((need) => [...need.ids, ...need.creates]))],
    carriers,
    withinMs,
    now,
    floor: newest.seq,
  };
  const leftMs = (): number => Math.max(0, withinMs - (performance.now() - started));
  const at = Math.max(now, newest.at);
  const isNew = keys.length + carriers.length === 0 && needs.every(({ ids }) => ids.length === 0);
  fault('append.begun');
  for (const reads of isNew ? [false, true] : [true]) {
    const read: Query = (text, ...values) => db.read({ withinMs: leftMs() }, text, ...values);
    const done = await attempt(
      { ...appending, withinMs: leftMs() },
      reads ? await seen(read, appending, at) : { ...NOTHING, at },
    );
    if (done !== undefined) return done;
  }
  return locked({ ...appending, withinMs: leftMs() }, at);
}

/**
 * Appends in one statement. Undefined if nothing was written, because another process was first, or because the append needs a
 * transaction (`locked`).
 */
async function attempt(appending: Appending, first: Seen): Promise<Batch | undefined> {
  const { db, withinMs, log } = appending;
  const token = newToken();
  const plan = planOf(appending, first);
  if (plan.isRefused) return { answers: plan.answers(log) };
  const isOne = isNewItem(appending, plan);
  const result = await db.repeated({ withinMs }, (query, again, leftMs) =>
    isOne && again === 0
      ? queue(query, appending, plan, { token, leftMs })
      : call(query, appending, plan, { token, again, leftMs }),
  );
  return result.kind === 'done' ? doneOf(appending, plan, result) : undefined;
}

/** Random numbers for many appends, because each request for random numbers costs more than a tenth of an append. */
const tokens = new BigInt64Array(128);
let tokensLeft = 0;

function newToken(): string {
  if (tokensLeft === 0) {
    randomFillSync(tokens);
    tokensLeft = tokens.length;
  }
  tokensLeft--;
  return String(tokens[tokensLeft]);
}

/** Appends in a transaction that holds the locks of the log and of the settings. */
async function locked(appending: Appending, at: number): Promise<Batch> {
  const { db, log, keys, withinMs } = appending;
  return db.write(
    { withinMs },
    [lockOf(log), ...keys.map((key) => `setting ${key}`)],
    async (query): Promise<Batch> => {
      const known = await seen(query, appending, at);
      const plan = planOf(appending, known);
      if (plan.isRefused) return { answers: plan.answers(log) };
      const result = await call(query, appending, plan, { token: null, again: 0, leftMs: withinMs });
      if (result.kind !== 'done') throw new Error(`an append that holds its locks is ${result.kind}`);
      return doneOf(appending, plan, result);
    },
    { isStored: (query, { answers }) => areStored(query, log, answers) },
  );
}

async function seen(query: Query, { log, ids, carriers, keys }: Appending, at: number): Promise<Seen> {
  const settings = await settingsOf(query, keys);
  const rows = await touchedRows(query, log, ids, carriers);
  const [last] = await query<{ at: number }>('SELECT at FROM @records WHERE log = $1 ORDER BY seq DESC LIMIT 1', log);
  return { rows, settings, at: Math.max(at, last?.at ?? 0) };
}

type Plan = Pick<Seen, 'rows' | 'settings' | 'at'> &
  ReturnType<typeof settleBatch> & {
    readonly before: ReadonlyMap<string, Item>;
    /** True if nothing needs to be written. */
    readonly isRefused: boolean;
  };

function planOf({ batch, now }: Appending, { rows, settings, at }: Seen): Plan {
  const before = new Map(rows.map(itemFrom).map((item) => [itemKey(item), item]));
  const settled = settleBatch(batch, { seq: BASE, at, now }, before, settings);
  return {
    ...settled,
    rows,
    settings,
    at,
    before,
    isRefused: settled.kept.every(({ drafts, swaps }) => drafts.length + swaps.length === 0),
  };
}

/** Puts the positions that the batch got into its answers. If the batch got another time than planned, settles it again. */
function doneOf({ batch, log, now }: Appending, plan: Plan, result: Result): Batch {
  const seqs = (result.seqs ?? []).map(Number);
  const at = result.at ?? plan.at;
  const settled = at === plan.at ? plan : settleBatch(batch, { seq: BASE, at, now }, plan.before, plan.settings);
  const place = (seq: number): number => (seq >= BASE ? (seqs[seq - BASE] ?? seq) : seq);
  const answers = settled.answers(log).map((answer): Answer => {
    if (answer.kind !== 'done' || answer.appended.kind === 'stale' || answer.appended.kind === 'conflict') return answer;
    if (answer.appended.kind === 'duplicate')
      return { kind: 'done', appended: { ...answer.appended, item: placed(answer.appended.item, place) } };
    const { records, items } = answer.appended;
    return {
      kind: 'done',
      appended: {
        kind: 'appended',
        records: records.map((record) => ({ ...record, seq: place(record.seq) })),
        items: items.map((item) => placed(item, place)),
      },
    };
  });
  const seq = seqs.at(-1);
  return seq === undefined ? { answers } : { answers, head: { seq, at } };
}

const placed = (item: Item, place: (seq: number) => number): Item => ({
  ...item,
  seq: place(item.seq),
  history: item.history.map(place),
});

async function call(
  query: Query,
  { db, log, ids, carriers, keys, now, floor }: Appending,
  { rows, settings, at, before, records, items, changed, kept }: Plan,
  { token, again, leftMs }: { readonly token: string | null; readonly again: number; readonly leftMs: number },
): Promise<Result> {
  const bodies = records.map(({ written }) => written.body);
  const gone = [...before].filter(([key]) => !items.has(key)).map(([, item]) => item);
  const written = [...changed].flatMap((key) => items.get(key) ?? []);
  const columns = columnsOf(written, new Map([...items.values()].map(({ id, seq }) => [id, seq])));
  const to = new Map<string, string | undefined>(settings);
  for (const { swaps } of kept)
    for (const swap of swaps) to.set(swap.key, swap.to === undefined ? undefined : JSON.stringify(swap.to));
  const [result] = await query<Result>(
    CALL,
    log,
    [lockOf(log), ...keys.map((key) => `setting ${key}`)].map((name) => db.lockNumber(name)),
    patience(leftMs),
    token,
    again,
    floor,
    BASE,
    now,
    at,
    columns.at(-2)?.some((state) => state !== null) ?? false,
    ids.map(toColumn),
    carriers.map(toColumn),
    rows.map(({ seq }) => seq),
    rows.map(({ audience }) => audience),
    rows.map(({ state }) => state),
    keys.map(toColumn),
    keys.map((key) => settings.get(key) ?? null),
    keys.map((key) => to.get(key) ?? null),
    bodies.map(({ type }) => toColumn(type)),
    bodies.map(({ conversation }) => toColumnOrNull(conversation)),
    bodies.map((body) => (isSignOfWork(body) ? toColumnOrNull(whatOf(body)) : null)),
    records.map(({ effect, written: { body } }) => !effect && isHousekeeping(body)),
    records.map(({ written: { text } }) => text),
    gone.map(({ seq }) => seq),
    gone.map(({ audience }) => toColumn(audience)),
    ...columns,
  );
  if (result === undefined || result.kind === 'dead') throw new Error('the server did not answer an append');
  return result;
}

/** Whether the append is one notification for one audience, and touches no existing item. */
const isNewItem = ({ keys, carriers, ids }: Appending, { records, changed, items, before }: Plan): boolean =>
  records.length === 1 &&
  changed.size === 1 &&
  ids.length === 1 &&
  keys.length + carriers.length + before.size === 0 &&
  [...items.values()].every((item) => stateOf(item) === null);

/**
 * Returns the server's time limit for a call, in ms: shorter than the caller's, so that no call takes effect after it has failed.
 */
const patience = (leftMs: number): number => Math.max(1, Math.floor(0.9 * leftMs - 5));

async function queue(
  query: Query,
  { db, log, now }: Appending,
  { at, records, items }: Plan,
  { token, leftMs }: { readonly token: string; readonly leftMs: number },
): Promise<Result> {
  const [item] = items.values();
  const [record] = records;
  if (item === undefined || record === undefined) throw new Error('an append of one notification has no item');
  const { body, text } = record.written;
  const [row] = await query<{ placed: readonly string[] | null }>(
    QUEUE,
    log,
    db.lockNumber(lockOf(log)),
    patience(leftMs),
    token,
    now,
    at,
    toColumn(body.type),
    toColumnOrNull(body.conversation),
    text,
    toColumn(item.id),
    toColumn(item.audience),
    levelRank(item.notification.level),
    item.gate,
    toColumnOrNull(item.notification.key),
    JSON.stringify(item.notification),
  );
  const placed = row?.placed;
  return placed === null || placed === undefined
    ? { kind: 'changed', seqs: null, at: null }
    : { kind: 'done', seqs: [placed[0] as string], at: Number(placed[1]) };
}

const QUEUE = `SELECT @queue(${Array.from({ length: 15 }, (_, n) => `$${n + 1}`).join(', ')}) AS placed`;
const CALL = `SELECT * FROM @append(${Array.from({ length: 41 }, (_, n) => `$${n + 1}`).join(', ')})`;

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

export const whatOf = (body: Draft): unknown => {
  const { name, on } = body as { readonly name?: unknown; readonly on?: unknown };
  return name ?? on;
};
