import type { ConversationId } from '../../core/address.ts';
import { ANYONE, type Item, settle } from '../../core/items.ts';
import { LEVELS, type Level, type NotificationId } from '../../core/notification.ts';
import { notificationOf, type QueuedRecord } from '../../core/records.ts';

/** A row of `items`, with the record that made it and the record of the notification into which it was folded. */
export type ItemRow = {
  readonly seq: number;
  readonly audience: string;
  readonly state: string | null;
  readonly at: number;
  readonly clock: number | null;
  readonly body: string;
  readonly source_body: string | null;
};

/** Makes a query for `ItemRow`s. In `rest`, `i` is the table of items. */
const select = (rest: string, by = ''): string =>
  `SELECT i.seq, i.audience, i.state, r.at, r.clock, r.body, s.body AS source_body
   FROM items i ${by} JOIN records r ON r.seq = i.seq LEFT JOIN records s ON s.seq = i.source ${rest}`;

export const OPEN = 0;
export const UNREAD = 1;
export const DONE = 2;

const newestFirst = 'ORDER BY i.seq DESC, i.audience LIMIT ?';
const oldestFirst = 'ORDER BY i.seq, i.audience';

/** Each query uses an index; `schema.test.ts` checks that. The comments list the parameters in order. */
export const ITEMS = {
  /** log, limit */
  open: select(`WHERE i.log = ? AND i.phase = ${OPEN} ${oldestFirst} LIMIT ?`),
  /** log, conversation, limit */
  openFor: select(`WHERE i.log = ? AND i.phase = ${OPEN} AND i.audience IN ('${ANYONE}', ?) ${oldestFirst} LIMIT ?`),
  /** log */
  held: select(`WHERE i.log = ? AND i.phase = ${OPEN} AND (i.audience <> '${ANYONE}' OR i.taken_by IS NOT NULL) ${oldestFirst}`),
  /** log */
  gate: select(`WHERE i.log = ? AND i.gate = 1 ${oldestFirst}`),
  gateRead: select(`WHERE i.log = ? AND i.gate = 1 AND i.phase = ${DONE} ${oldestFirst}`, 'INDEXED BY items_gate'),
  /** log, conversation, position, limit */
  unreadOf: select(
    `WHERE i.log = ? AND i.phase = ${UNREAD} AND coalesce(i.taken_by, i.audience) = ? AND i.seq < ? ${newestFirst}`,
  ),
  /** log, key. Without the hint, SQLite would scan the open items. */
  key: select(`WHERE i.log = ? AND i.phase = ${OPEN} AND i.key = ? ${oldestFirst}`, 'INDEXED BY items_key'),
  /** carrier, log */
  carrier: select(`WHERE i.carrier = ? AND i.log = ? ${oldestFirst}`),
  /** log, position, limit: items queued before the position */
  openBefore: select(`WHERE i.log = ? AND i.phase = ${OPEN} AND i.seq < ? ${newestFirst}`),
  unreadBefore: select(`WHERE i.log = ? AND i.phase = ${UNREAD} AND i.seq < ? ${newestFirst}`),
  doneBefore: select(`WHERE i.log = ? AND i.phase = ${DONE} AND i.seq < ? ${newestFirst}`),
  /** log, from, to or the time of the last item, its position or 0, limit */
  closedIn: select(
    'WHERE i.log = ? AND i.closed_at >= ? AND (i.closed_at, i.seq) < (?, ?) ORDER BY i.closed_at DESC, i.seq DESC LIMIT ?',
    'INDEXED BY items_closed',
  ),
  /** log, seq: the items that one record made, one for each audience */
  atSeq: select(`WHERE i.log = ? AND i.phase IN (${OPEN}, ${UNREAD}, ${DONE}) AND i.seq = ? ORDER BY i.audience`),
  /** log */
  all: select('WHERE i.log = ?'),
} as const;

export function itemOf(row: ItemRow): Item {
  const record = JSON.parse(row.body) as { readonly id: NotificationId };
  const place = { seq: row.seq, at: row.at, ...(row.clock === null ? {} : { clock: row.clock }) };
  const audience = row.audience as ConversationId;
  if (row.state === null) {
    const made = settle(record as QueuedRecord, place, []);
    const item = made.kind === 'settled' ? made.items.find((one) => one.audience === audience) : undefined;
    if (item === undefined) throw new Error(`record ${place.seq} makes no item for ${JSON.stringify(audience)}`);
    return item;
  }
  const notification =
    row.source_body === null
      ? notificationOf(record as QueuedRecord)
      : { ...notificationOf(JSON.parse(row.source_body) as QueuedRecord), id: record.id };
  return { id: record.id, audience, notification, ...place, ...(JSON.parse(row.state) as ItemState) };
}

type ItemState = Omit<Item, 'id' | 'audience' | 'notification' | 'seq' | 'at' | 'clock'>;

/** The stored state of an item. Null if only its queue record has touched the item. */
export function stateOf(item: Item): string | null {
  if (item.state === 'open' && item.history.length === 1) return null;
  const { id: _id, audience: _audience, notification: _notification, seq: _seq, at: _at, clock: _clock, ...state } = item;
  return JSON.stringify(state satisfies ItemState);
}

export function phaseOf(item: Item): typeof OPEN | typeof UNREAD | typeof DONE {
  if (item.state !== 'closed') return OPEN;
  return !item.read && (item.outcome === 'delivered' || item.outcome === 'summarized') ? UNREAD : DONE;
}

export const levelOf = (rank: number): Level => LEVELS[rank] ?? 'info';
