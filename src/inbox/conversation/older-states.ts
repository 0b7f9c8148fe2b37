import type { ConversationId, LogKey } from '../../core/address.ts';
import { because } from '../../core/cause.ts';
import { isFor, type Item } from '../../core/items.ts';
import { isInterrupt, stateKeyOf, type NotificationId } from '../../core/notification.ts';
import type { Store } from '../../core/ports.ts';
import type { ClosedRecord, Draft } from '../../core/records.ts';
import type { Contact } from './contact.ts';
import { replaces } from './overtaken.ts';

/** The number of attempts to close the older states together with the confirmation. */
const TRIES = 3;

/** The conversation that got a delivery. */
type Receiver = {
  readonly log: LogKey;
  readonly id: ConversationId;
  readonly contact: Pick<Contact, 'purpose'>;
  /** Whether the delivery may be reopened. Older interrupts then stay open until the next plan (see `overtaken`). */
  readonly mayReopen?: boolean;
  /** The items that another record of the same append closes. */
  readonly closed?: readonly NotificationId[];
};

/** Appends the records that confirm a delivery, and closes the open older states. `newer`: the delivered items. */
export async function appendDelivery(
  store: Store,
  receiver: Receiver,
  { drafts, newer }: { readonly drafts: readonly Draft[]; readonly newer: readonly Item[] },
): Promise<void> {
  for (let tries = 0; tries < TRIES; tries++) {
    const all = [...drafts, ...(await olderClosings(store, receiver, newer))];
    // Another process may take or close an older state after the read.
    if (all.length === 0 || (await store.append(receiver.log, all)).kind !== 'conflict') return;
  }
  if (drafts.length > 0) await store.append(receiver.log, drafts);
}

/**
 * Makes the records that close the open older states of a delivery. An older state stays open until the delivery of its newer
 * state, because the newer state may end before.
 */
export async function olderClosings(
  store: Store,
  { log, id, contact, mayReopen = false, closed = [] }: Receiver,
  newer: readonly Item[],
): Promise<readonly ClosedRecord[]> {
  const states = newer.filter(({ notification }) => stateKeyOf(notification) !== undefined).toSorted((a, b) => a.seq - b.seq);
  if (states.length === 0) return [];
  const keys = [...new Set(states.flatMap(({ notification: { key } }) => key ?? []))];
  const found = (await Promise.all(keys.map((key) => store.items(log, { kind: 'key', key })))).flat();
  const older = found.filter(
    (item) =>
      item.state === 'open' &&
      !closed.includes(item.id) &&
      !(mayReopen && isInterrupt(item.notification)) &&
      states.some((state) => replaces(state, item)),
  );
  if (older.length === 0) return [];
  const purpose = await contact.purpose();
  const mine = older.filter((item) => isFor(item, id, purpose));
  const byNewer = Map.groupBy(mine, (item) => states.findLast((state) => replaces(state, item)) as Item);
  return [...byNewer].map(([state, items]) => ({
    type: 'notification_closed',
    conversation: id,
    ids: items.map((item) => item.id),
    outcome: 'superseded',
    by: 'supersede',
    ...because({ kind: 'superseded', by: state.id, key: state.notification.key ?? '' } as const),
  }));
}
