/** One notification for one audience, as the records have made it. `items.ts` says what each record does to it. */
import type { ConversationId } from './address.ts';
import type { Json } from './json.ts';
import { isInterrupt, type Notification, type NotificationId } from './notification.ts';
import type { CarrierId, Outcome, Owner, Stored } from './records.ts';

/** The audience of a notification that any conversation of the agent may take, once. */
export const ANYONE = '' as ConversationId;

export type Item = {
  readonly id: NotificationId;
  readonly audience: ConversationId;
  readonly notification: Notification;
  /** Where it was queued. */
  readonly seq: number;
  readonly at: number;
  /** What its producer's own clock said, where that is behind `at`; see `clocks.ts`. */
  readonly clock?: number;
  readonly state: 'open' | 'offered' | 'closed';
  readonly outcome?: Outcome | 'delivered' | 'folded' | 'left_out';
  /** The conversation whose carrier took it (differs from `audience` for ANYONE). */
  readonly takenBy?: ConversationId;
  /** The conversation that was its audience before its heir took it over. */
  readonly passedFrom?: ConversationId;
  /** That conversation and the audience are one: what the former still reports counts for the item. */
  readonly merged?: true;
  /** The last carrier that offered or delivered it, its lease while offered. */
  readonly carrier?: CarrierId;
  readonly owner?: Owner;
  readonly until?: number;
  /** In the offer as part of the summary line, not as a text of its own. */
  readonly inSummary?: true;
  /** How often it was offered; above 0 the model may have seen it. */
  readonly offers: number;
  /** Its text as first rendered, and the ids that share it (coalesced); the first of them is the line's. */
  readonly text?: string;
  readonly group?: readonly NotificationId[];
  /** The gate of its conversations is up because of it. */
  readonly gate: boolean;
  readonly read: boolean;
  /** Who marked it read, while nothing proves that the agent has read it. */
  readonly markedBy?: string;
  readonly observed: boolean;
  /** Folded into it: how many in all, since when, and up to `MAX_DIFFERS` of what was different. */
  readonly count: number;
  readonly lastAt: number;
  readonly differs: readonly { readonly message?: string; readonly data?: Json }[];
  readonly closedAt?: number;
  /** Positions of the records about it, oldest first. */
  readonly history: readonly number[];
};

export const MAX_DIFFERS = 50;

export const itemKey = (item: Pick<Item, 'id' | 'audience'>): string => `${item.audience}\n${item.id}`;

export function fresh(notification: Notification, audience: ConversationId, place: Pick<Stored, 'seq' | 'at' | 'clock'>): Item {
  return {
    id: notification.id,
    audience,
    notification,
    seq: place.seq,
    at: place.at,
    ...(place.clock === undefined ? {} : { clock: place.clock }),
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
