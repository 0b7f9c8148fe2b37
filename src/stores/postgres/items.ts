/** Reads and writes the table of items, which is an index of the records. */
import type { ConversationId } from '../../core/address.ts';
import { ANYONE, fresh, type Item } from '../../core/item.ts';
import { levelRank, type Notification, type NotificationId } from '../../core/notification.ts';
import type { ItemQuery } from '../../core/ports.ts';
import { heldFor } from '../audience.ts';
import { DONE, type ItemState, OPEN, phaseOf, stateOf, UNREAD } from '../item-row.ts';
import type { Query } from './database.ts';
import { fromColumn, toColumn, toColumnOrNull } from './text.ts';

/** Makes a query of items. `rest` follows the condition `i.log = $1`. */
const select = (rest: string): string =>
  `SELECT i.seq, i.audience, i.at, i.clock, i.notification, i.state FROM @items i WHERE i.log = $1 ${rest}`;
const oldest = 'ORDER BY i.seq, i.audience';
/** This order matches an index. The audiences of one record have no defined order. */
const newest = 'ORDER BY i.seq DESC, i.audience DESC';

export type ItemRow = {
  readonly seq: number;
  readonly audience: string;
  readonly at: number;
  readonly clock: number | null;
  readonly notification: string;
  readonly state: string | null;
};

export async function selectItems(query: Query, log: string, rest: string, ...values: readonly unknown[]): Promise<Item[]> {
  return (await query<ItemRow>(select(rest), log, ...values)).map(itemFrom);
}

export function itemFrom({ seq, at, clock, state, ...row }: ItemRow): Item {
  const notification = JSON.parse(row.notification) as Notification;
  const audience = fromColumn(row.audience) as ConversationId;
  const place = { seq, at, ...(clock === null ? {} : { clock }) };
  if (state === null) return fresh(notification, audience, place);
  return { id: notification.id, audience, notification, ...place, ...(JSON.parse(state) as ItemState) };
}

/** Converts a limit to SQL. With NULL, PostgreSQL returns all rows. */
const limited = (limit: number | undefined): number | null => (limit === undefined || !Number.isFinite(limit) ? null : limit);

export function findItems(query: Query, log: string, wanted: ItemQuery): Promise<Item[]> {
  const items = (rest: string, ...values: readonly unknown[]): Promise<Item[]> => selectItems(query, log, rest, ...values);
  switch (wanted.kind) {
    case 'open': {
      const { conversation, limit } = wanted;
      return conversation === undefined
        ? items(`AND i.phase = ${OPEN} ${oldest} LIMIT $2`, limited(limit))
        : items(
            `AND i.phase = ${OPEN} AND i.audience IN ('${ANYONE}', $3) ${oldest} LIMIT $2`,
            limited(limit),
            toColumn(conversation),
          );
    }
    case 'held':
      return items(`AND i.phase = ${OPEN} AND (i.audience <> '${ANYONE}' OR i.taken_by IS NOT NULL) ${oldest}`);
    case 'gate':
      return items(`AND i.gate ${wanted.read ? `AND i.phase = ${DONE}` : ''} ${oldest}`).then((all) =>
        all.filter((item) => heldFor(item, wanted.conversation)),
      );
    case 'unread': {
      const { conversation, limit, before } = wanted;
      return items(
        `AND i.phase = ${UNREAD} AND ($2::bigint IS NULL OR i.seq < $2) AND ($3::text IS NULL OR coalesce(i.taken_by, i.audience) = $3)
         ${newest} LIMIT $4`,
        before ?? null,
        conversation === undefined ? null : toColumn(conversation),
        limited(limit),
      );
    }
    case 'key':
      return items(`AND i.phase = ${OPEN} AND i.key = $2 ${oldest}`, toColumn(wanted.key)).then((all) =>
        all.filter(({ state }) => state === 'open'),
      );
    case 'ids':
      return items(`AND i.id = ANY($2) ${oldest}`, wanted.ids.map(toColumn));
    case 'carrier':
      return items(`AND i.carrier = $2 ${oldest}`, toColumn(wanted.carrier));
    case 'latest': {
      const { before, limit, state } = wanted;
      const phase = state === undefined ? '' : `AND i.phase ${state === 'open' ? '=' : '<>'} ${OPEN}`;
      return items(`AND ($2::bigint IS NULL OR i.seq < $2) ${phase} ${newest} LIMIT $3`, before ?? null, limited(limit));
    }
    case 'closed': {
      const { from, to, limit, before = { closedAt: to, seq: 0 } } = wanted;
      return items(
        `AND i.closed_at >= $2 AND (i.closed_at, i.seq) < ($3::bigint, $4::bigint) ORDER BY i.closed_at DESC, i.seq DESC LIMIT $5`,
        from,
        before.closedAt,
        before.seq,
        limited(limit),
      );
    }
  }
}

/** Reads the rows with one of these ids or carriers. */
export const touchedRows = (query: Query, log: string, ids: readonly string[], carriers: readonly string[]): Promise<ItemRow[]> =>
  ids.length + carriers.length === 0
    ? Promise.resolve([])
    : query<ItemRow>(select('AND (i.id = ANY($2) OR i.carrier = ANY($3))'), log, ids.map(toColumn), carriers.map(toColumn));

type Row = readonly unknown[];
const COLUMNS = {
  seq: 'bigint',
  audience: 'text',
  id: 'text',
  at: 'bigint',
  clock: 'bigint',
  phase: 'smallint',
  level: 'smallint',
  gate: 'boolean',
  key: 'text',
  carrier: 'text',
  taken_by: 'text',
  closed_at: 'bigint',
  source: 'bigint',
  notification: 'text',
  state: 'text',
} as const;

/** Makes the row of an item. `source`: for a folded notification, the position of the notification that counts it. */
const rowOf = (item: Item, source: number | null): Row => [
  item.seq,
  toColumn(item.audience),
  toColumn(item.id),
  item.at,
  item.clock ?? null,
  phaseOf(item),
  levelRank(item.notification.level),
  item.gate,
  toColumnOrNull(item.notification.key),
  toColumnOrNull(item.carrier),
  toColumnOrNull(item.takenBy),
  item.closedAt ?? null,
  source,
  JSON.stringify(item.notification),
  stateOf(item),
];

const UPSERT_ALL = `INSERT INTO @items (log, ${Object.keys(COLUMNS).join(', ')})
  SELECT * FROM unnest($1::text[], ${Object.values(COLUMNS)
    .map((type, n) => `$${n + 2}::${type}[]`)
    .join(', ')})
  ON CONFLICT (log, seq, audience) DO UPDATE SET
  (phase, gate, carrier, taken_by, closed_at, state) =
  (excluded.phase, excluded.gate, excluded.carrier, excluded.taken_by, excluded.closed_at, excluded.state)`;

/**
 * Makes the columns of changed and new items for the function `append`, without the log. The positions in `state` are a separate
 * column. `targets` contains the positions of notifications into which others were folded.
 */
export function columnsOf(items: readonly Item[], targets: ReadonlyMap<NotificationId, number>): readonly (readonly unknown[])[] {
  const rows = items.map((item) => {
    const into = item.outcome === 'folded' ? item.group?.[0] : undefined;
    const row = rowOf(item, into === undefined ? null : (targets.get(into) ?? null)).slice(0, -1);
    const { history, ...rest } = item;
    // The text ends with `"history":[]}`, and `append` inserts the positions.
    const state = stateOf(item) === null ? null : (stateOf({ ...rest, history: [] })?.slice(0, -2) ?? null);
    return [...row, state, `{${history.join(',')}}`];
  });
  return [...Object.keys(COLUMNS), 'history'].map((_, column) => rows.map((row) => row[column]));
}

export const removeItems = (query: Query, log: string, items: readonly Item[]): Promise<unknown> =>
  query(
    'DELETE FROM @items WHERE log = $1 AND (seq, audience) IN (SELECT * FROM unnest($2::bigint[], $3::text[]))',
    log,
    items.map(({ seq }) => seq),
    items.map(({ audience }) => toColumn(audience)),
  );

/** Writes changed and new items of several logs. `source`: as in `rowOf`. */
export async function putItemsOfLogs(
  query: Query,
  items: readonly { readonly log: string; readonly item: Item; readonly source: number | null }[],
): Promise<void> {
  if (items.length === 0) return;
  const rows = items.map(({ item, source }) => rowOf(item, source));
  await query(
    UPSERT_ALL,
    items.map(({ log }) => log),
    ...Object.keys(COLUMNS).map((_, column) => rows.map((row) => row[column])),
  );
}

/** Reads the items of several logs: `ids` contains pairs of log and id, `carriers` pairs of log and carrier. */
export async function touchedInLogs(
  query: Query,
  ids: readonly (readonly [string, string])[],
  carriers: readonly (readonly [string, string])[],
): Promise<{ readonly log: string; readonly item: Item }[]> {
  const pairs = (all: readonly (readonly [string, string])[]): readonly [string[], string[]] => [
    all.map(([log]) => log),
    all.map(([, name]) => toColumn(name)),
  ];
  if (ids.length + carriers.length === 0) return [];
  const columns = 'i.log, i.seq, i.audience, i.at, i.clock, i.notification, i.state';
  const rows = await query<ItemRow & { readonly log: string }>(
    `SELECT ${columns} FROM @items i JOIN unnest($1::text[], $2::text[]) AS n(log, id) ON i.log = n.log AND i.id = n.id
     UNION SELECT ${columns} FROM @items i JOIN unnest($3::text[], $4::text[]) AS c(log, carrier)
     ON i.log = c.log AND i.carrier = c.carrier`,
    ...pairs(ids),
    ...pairs(carriers),
  );
  return rows.map(({ log, ...row }) => ({ log, item: itemFrom(row) }));
}
