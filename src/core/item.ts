/** One notification for one audience, as its records describe it. `items.ts` defines the effect of each record on it. */
import type { ConversationId } from './address.ts';
import { defined } from './defined.ts';
import type { Json } from './json.ts';
import { isInterrupt, type Notification, type NotificationId } from './notification.ts';
import type { CarrierId, Outcome, Owner, Stored } from './records.ts';

/** The audience of a notification that any conversation of the agent may take, once. */
export const ANYONE = '' as ConversationId;

export type Item = {
  readonly id: NotificationId;
  readonly audience: ConversationId;
  readonly notification: Notification;
  /** The position of the record that queued it. */
  readonly seq: number;
  readonly at: number;
  /** The time on its producer's own clock, if that is at least 60 s behind `at`. Deadlines then count from it. */
  readonly clock?: number;
  readonly state: 'open' | 'offered' | 'closed';
  readonly outcome?: Outcome | 'delivered' | 'folded' | 'left_out';
  /** The conversation whose carrier took it (differs from `audience` for ANYONE). */
  readonly takenBy?: ConversationId;
  /** The conversation that was its audience before its heir took it over. */
  readonly passedFrom?: ConversationId;
  /** That conversation and the audience are one: a report from the former counts for the item. */
  readonly merged?: true;
  /** The last carrier that offered or delivered it. While it is offered, this is its lease. */
  readonly carrier?: CarrierId;
  readonly owner?: Owner;
  readonly until?: number;
  /** The offer counts it in the summary line instead of showing its text. */
  readonly inSummary?: true;
  /** How often it was offered; above 0 the model may have seen it. */
  readonly offers: number;
  /** Its text as first rendered, and the ids that share that text (coalesced). The first id is the line's. */
  readonly text?: string;
  readonly group?: readonly NotificationId[];
  /** It raises the gate of its conversations. */
  readonly gate: boolean;
  readonly read: boolean;
  /** The person who marked it read. Missing if there is proof that the agent has read it. */
  readonly markedBy?: string;
  readonly observed: boolean;
  /** Notifications folded into it: how many in all, since when, and up to `MAX_DIFFERS` different details. */
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
