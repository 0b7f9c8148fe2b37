import type { ConversationId } from '../../core/address.ts';
import { type Item, settle } from '../../core/items.ts';
import { LEVELS, type Level, type NotificationId } from '../../core/notification.ts';
import { notificationOf, type QueuedRecord } from '../../core/records.ts';

/** A row of `items` with the record that made it, and the one it was folded into. */
export type ItemRow = {
  readonly seq: number;
  readonly audience: string;
  readonly state: string | null;
  readonly at: number;
  readonly body: string;
  readonly source_body: string | null;
};

/** Selects `ItemRow`s; what follows it names `i` (items) and may name `r` (the queue record). */
export const SELECT_ITEMS = `SELECT i.seq, i.audience, i.state, r.at, r.body, s.body AS source_body
  FROM items i JOIN records r ON r.seq = i.seq LEFT JOIN records s ON s.seq = i.source`;

export function itemOf(row: ItemRow): Item {
  const record = JSON.parse(row.body) as { readonly id: NotificationId };
  const { seq, at } = row;
  const audience = row.audience as ConversationId;
  if (row.state === null) {
    const made = settle(record as QueuedRecord, { seq, at }, []);
    const item = made.kind === 'settled' ? made.items.find((one) => one.audience === audience) : undefined;
    if (item === undefined) throw new Error(`record ${seq} makes no item for ${JSON.stringify(audience)}`);
    return item;
  }
  const notification =
    row.source_body === null
      ? notificationOf(record as QueuedRecord)
      : { ...notificationOf(JSON.parse(row.source_body) as QueuedRecord), id: record.id };
  return { id: record.id, audience, notification, seq, at, ...(JSON.parse(row.state) as ItemState) };
}

type ItemState = Omit<Item, 'id' | 'audience' | 'notification' | 'seq' | 'at'>;

/** The item as only its queue record made it needs no state of its own. */
export function stateOf(item: Item): string | null {
  if (item.state === 'open' && item.history.length === 1) return null;
  const { id: _id, audience: _audience, notification: _notification, seq: _seq, at: _at, ...state } = item;
  return JSON.stringify(state satisfies ItemState);
}

export const OPEN = 0;
export const UNREAD = 1;
export const DONE = 2;

export function phaseOf(item: Item): typeof OPEN | typeof UNREAD | typeof DONE {
  if (item.state !== 'closed') return OPEN;
  return !item.read && (item.outcome === 'delivered' || item.outcome === 'summarized') ? UNREAD : DONE;
}

export const levelOf = (rank: number): Level => LEVELS[rank] ?? 'info';
