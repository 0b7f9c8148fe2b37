/**
 * Leases for transcripts that another program owns. A carrier is offered first, and confirmed or released later. If the owner of
 * the lease dies before the confirmation or release, the lease ends. The next offer has the same item texts and marks the items
 * as repeated.
 */
import type { ConversationId, LogKey } from '../../core/address.ts';
import { defined } from '../../core/defined.ts';
import { fault } from '../../core/faults.ts';
import type { Item } from '../../core/items.ts';
import type { Json } from '../../core/json.ts';
import { stateKeyOf, type NotificationId } from '../../core/notification.ts';
import type { CarrierId, ContactPoint, Draft, OfferedRecord, ReleasedRecord, SentView } from '../../core/records.ts';
import type { Context } from '../context.ts';
import type { Contact } from './contact.ts';
import { appendDelivery } from './older-states.ts';
import { policyOf, type Recipient } from './recipient.ts';

export type Offer = {
  readonly carrier: CarrierId;
  readonly view: SentView;
  readonly ids: readonly NotificationId[];
  /** The states that the text shows or counts (see `stateKeyOf`), each with the position of its newest notification. */
  readonly states: ReadonlyMap<string, number>;
  /**
   * Records that the carrier was sent. Returns `late` if the lease was released before, or if all its notifications have ended in
   * another way. If another process ended the lease, the record is still written, and closes only notifications that no newer
   * offer holds.
   */
  confirm(): Promise<'confirmed' | 'late'>;
  release(reason: ReleasedRecord['reason']): Promise<void>;
  /** Opens the notifications again, even after the confirmation, for a host that received the carrier but dropped it. */
  reopen(): Promise<void>;
};

/** The conversation that takes a lease, and how long its leases last, in ms. */
export type Lessee = {
  readonly context: Context;
  readonly log: LogKey;
  readonly id: ConversationId;
  readonly leaseMs: number;
  readonly through?: 'hook';
};

export const lesseeOf = (recipient: Recipient): Lessee => {
  const { context, log, id } = recipient;
  return { context, log, id, leaseMs: policyOf(recipient).leaseMs };
};

/**
 * Returns the lessee for a carrier that is not a refusal. A host may drop the context that a hook returns, so the lease of a hook
 * records `through`.
 */
export const carryingLesseeOf = (recipient: Recipient): Lessee =>
  recipient.options.carrier === 'hook' ? { ...lesseeOf(recipient), through: 'hook' } : lesseeOf(recipient);

/** Makes the record that leases `ids` to one carrier. */
export const leaseOf = (
  { context, id, leaseMs, through }: Lessee,
  what: {
    readonly at: ContactPoint;
    readonly on?: string | undefined;
    readonly view: SentView;
    readonly ids: readonly NotificationId[];
    readonly summarizes?: readonly NotificationId[];
    readonly counts?: readonly number[];
    readonly facts?: Json | undefined;
  },
): OfferedRecord => ({
  type: 'carrier_offered',
  conversation: id,
  carrier: context.ids.make('c') as CarrierId,
  at_point: what.at,
  ids: what.ids,
  ...((what.summarizes ?? []).length > 0 ? { summarizes: what.summarizes } : {}),
  ...defined({ counts: what.counts }),
  owner: context.owner,
  ...defined({ through }),
  until: context.store.now() + leaseMs,
  view: what.view,
  ...defined({ on: what.on, facts: what.facts }),
});

/**
 * The additional effects of a confirmation. `items`: the items that the text shows or counts. Their older states close (see
 * `appendDelivery`). The items in `reads` are marked as read by `by`. With `takesWithheld`, the withheld results are removed.
 * `explains`: the text explains the mark.
 */
export type OnConfirm = {
  readonly items: readonly Item[];
  readonly reads?: readonly Item[];
  readonly by?: string;
  readonly takesWithheld?: boolean;
  readonly contact: Contact;
  readonly explains: boolean;
};

/**
 * Makes the offer of a lease that is in the log. The offer can be confirmed or released once. A record without `ids` leases
 * nothing. The confirmation of its offer only marks items as read.
 */
export function offerOf({ context, log, id }: Lessee, record: OfferedRecord, on: OnConfirm): Offer {
  const { carrier } = record;
  let done: 'confirmed' | 'released' | undefined;
  return {
    carrier,
    view: record.view,
    ids: record.ids,
    states: statesOf(on.items),
    confirm: async () => {
      fault('confirm.before');
      if (done !== undefined) return done === 'confirmed' ? 'confirmed' : 'late';
      done = 'confirmed';
      const held = record.ids.length === 0 ? [] : await context.store.items(log, { kind: 'carrier', carrier });
      const late = record.ids.length > 0 && !held.some((item) => item.state === 'offered');
      const drafts: Draft[] = [
        ...(record.ids.length > 0
          ? [{ type: 'carrier_confirmed' as const, conversation: id, carrier, ...(late ? { late: true as const } : {}) }]
          : []),
        ...readRecords(on.reads ?? [], id, on.by ?? 'get_notifications'),
      ];
      // A notification that was closed after its offer, for example as withdrawn, supersedes no older state.
      const isLeased = ({ id: each }: Item): boolean => record.ids.includes(each) || record.summarizes?.includes(each) === true;
      const delivered = on.items.filter(
        (item) => !isLeased(item) || held.some((each) => each.id === item.id && each.state !== 'closed'),
      );
      // A host may drop a refusal, and the context that a hook returns.
      const mayReopen = record.through === 'hook' || record.at_point === 'forced';
      await appendDelivery(context.store, { log, id, contact: on.contact, mayReopen }, { drafts, newer: delivered });
      if (on.takesWithheld) await context.store.withheld(log, id, { take: true });
      fault('confirm.after');
      await on.contact.carried(on.explains);
      return late ? 'late' : 'confirmed';
    },
    release: async (reason) => {
      fault('release.before');
      if (done !== undefined) return;
      done = 'released';
      if (record.ids.length === 0) return;
      try {
        await context.store.append(log, [{ type: 'carrier_released', conversation: id, carrier, reason }]);
      } catch (error) {
        // The lease still holds the notifications, so the carrier may be sent and confirmed after all.
        done = undefined;
        throw error;
      }
    },
    reopen: async () => {
      if (done === 'released') return;
      done = 'released';
      if (record.ids.length > 0)
        await context.store.append(log, [{ type: 'carrier_released', conversation: id, carrier, reason: 'unproven' }]);
    },
  };
}

/** Returns the states in a text, each with its newest position. See `Offer`. */
export function statesOf(items: readonly Item[]): ReadonlyMap<string, number> {
  const states = new Map<string, number>();
  for (const { notification, seq } of items) {
    const state = stateKeyOf(notification);
    if (state !== undefined) states.set(state, Math.max(seq, states.get(state) ?? seq));
  }
  return states;
}

/**
 * Makes the records that mark these items as read. Without a conversation, the records apply to every audience. The records lower
 * the gate, except for pauses.
 */
export function readRecords(items: readonly Item[], conversation: ConversationId | undefined, by: string): Draft[] {
  const isPause = (item: Item): boolean => item.notification.action === 'pause';
  const idsOf = (some: readonly Item[]): NotificationId[] => [...new Set(some.map(({ id }) => id))];
  const read = (some: readonly Item[], holds: boolean): Draft[] =>
    some.length === 0
      ? []
      : [
          {
            type: 'notification_read',
            ...defined({ conversation }),
            ids: idsOf(some),
            by,
            ...(holds ? { holds: true as const } : {}),
          },
        ];
  return [
    ...read(
      items.filter((item) => !isPause(item)),
      false,
    ),
    ...read(items.filter(isPause), true),
  ];
}
