/** Converts items to rows of a table, and rows to items. Stores in databases keep this table in addition to the records. */
import type { ConversationId } from '../core/address.ts';
import { type Item, settle } from '../core/items.ts';
import { LEVELS, type Level, type NotificationId } from '../core/notification.ts';
import { notificationOf, type QueuedRecord } from '../core/records.ts';

/** A row of `items`, joined with the record that made the item, and with the record of its folding target. */
export type ItemRow = {
  readonly seq: number;
  readonly audience: string;
  readonly state: string | null;
  readonly at: number;
  readonly clock: number | null;
  readonly body: string;
  readonly source_body: string | null;
};

/** The phases of a row. OPEN: open or offered. UNREAD: delivered or summarized, and unread. DONE: closed otherwise. */
export const OPEN = 0;
export const UNREAD = 1;
export const DONE = 2;

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

export type ItemState = Omit<Item, 'id' | 'audience' | 'notification' | 'seq' | 'at' | 'clock'>;

/** Returns the stored state of an item as JSON. Null for an open item that only its queue record has touched. */
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
