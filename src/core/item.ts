/** One notification for one audience, as its records describe it. `items.ts` defines the effect of each record on an item. */
import type { ConversationId } from './address.ts';
import { defined } from './defined.ts';
import type { Json } from './json.ts';
import { isInterrupt, type Notification, type NotificationId } from './notification.ts';
import type { CarrierId, GateRefusedRecord, Outcome, Owner, Stored } from './records.ts';

/** The audience of a notification that any conversation of the agent may take, once. */
export const ANYONE = '' as ConversationId;

export type Item = {
  readonly id: NotificationId;
  readonly audience: ConversationId;
  readonly notification: Notification;
  /** The position of the record that queued the item. */
  readonly seq: number;
  readonly at: number;
  /** The time on the producer's own clock, if that clock is at least 60 s behind `at`. See `clocks.ts`. */
  readonly clock?: number;
  readonly state: 'open' | 'offered' | 'closed';
  readonly outcome?: Outcome | 'delivered' | 'folded' | 'left_out';
  /** The conversation whose carrier took the item. Differs from `audience` if `audience` is ANYONE. */
  readonly takenBy?: ConversationId;
  /** The conversation that was the audience before its heir took the item over. */
  readonly passedFrom?: ConversationId;
  /** True if `passedFrom` and `audience` are two ids of one conversation. Reports from either id then count for the item. */
  readonly merged?: true;
  /** The last carrier that offered the item. */
  readonly carrier?: CarrierId;
  readonly owner?: Owner;
  readonly until?: number;
  /** True if the current offer has only a count of the item, in its summary line. */
  readonly inSummary?: true;
  /**
   * How often the text of the item was offered or delivered. A summary and an offer that was never sent do not count. All
   * refusals that show the item without an offer count as one. If the number is above 0, the model may have seen the item.
   */
  readonly offers: number;
  /**
   * The text of the item's line as it was first rendered. After an item of the line has closed, the next offer renders the line
   * again. `group`: the ids of all items in the line. The first id is also the id of the line. The `group` of a folded item is
   * the id of the item that counts it.
   */
  readonly text?: string;
  readonly group?: readonly NotificationId[];
  /** Whether the item keeps the gate of its conversations up. */
  readonly gate: boolean;
  readonly read: boolean;
  /**
   * The person or cause that marked the item as read, from the record's field `by`. Missing if the agent itself has read the
   * item.
   */
  readonly markedBy?: string;
  readonly observed: boolean;
  /**
   * The number of occurrences, including those of folded notifications. `lastAt`: when the last notification was queued or
   * folded. `differs`: up to `MAX_DIFFERS` different details of folded notifications.
   */
  readonly count: number;
  readonly lastAt: number;
  readonly differs: readonly { readonly message?: string; readonly data?: Json }[];
  readonly closedAt?: number;
  /** Positions of the records about the item, oldest first. */
  readonly history: readonly number[];
};

/** Whether the agent got the notification only as a count in a summary, and nobody has read the notification. */
export const isOnlyCounted = ({ state, outcome, read }: Pick<Item, 'state' | 'outcome' | 'read'>): boolean =>
  state === 'closed' && outcome === 'summarized' && !read;

export const MAX_DIFFERS = 50;

export const itemKey = (item: Pick<Item, 'id' | 'audience'>): string => `${item.audience}\n${item.id}`;

/** Returns each item once, in its last state: a record may name an id or an audience twice. */
export const lastOfEach = (items: readonly Item[]): readonly Item[] =>
  items.length < 2 ? items : [...new Map(items.map((item) => [itemKey(item), item])).values()];

export function fresh(notification: Notification, audience: ConversationId, place: Pick<Stored, 'seq' | 'at' | 'clock'>): Item {
  return {
    id: notification.id,
    audience,
    notification,
    seq: place.seq,
    at: place.at,
    ...defined({ clock: place.clock }),
    state: 'open',
    offers: 0,
    gate: isInterrupt(notification),
    read: false,
    observed: false,
    count: notification.count ?? 1,
    lastAt: place.at,
    differs: [],
    history: [place.seq],
  };
}

export const seen = (item: Item, place: { seq: number }): Item => ({ ...item, history: [...item.history, place.seq] });

/** Counts a refusal that shows the item. The release of an offer that was never sent subtracts that offer, but not the refusal. */
export const shownBy = ({ shows }: Pick<GateRefusedRecord, 'shows'>, item: Item): Item =>
  shows?.includes(item.id) ? { ...item, offers: Math.max(item.offers, item.state === 'offered' ? 2 : 1) } : item;
