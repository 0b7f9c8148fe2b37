import type { ConversationId, LogKey } from '../../core/address.ts';
import { isExpired } from '../../core/clocks.ts';
import { filterOf } from '../../core/filter.ts';
import { ANYONE, holderOf, isFor, type Item } from '../../core/items.ts';
import { notDueBecause, type Facts } from '../../core/make-plan.ts';
import { isInterrupt, stateKeyOf, type NotificationId } from '../../core/notification.ts';
import type { Policy } from '../../core/policy.ts';
import type { Store } from '../../core/ports.ts';
import { isType, type ContactPoint, type Stored } from '../../core/records.ts';
import type { Context } from '../context.ts';
import type { Recipient } from './recipient.ts';
import { staleBecause } from './stale.ts';

/** The number of records per read. */
const PAGE = 1_000;
/**
 * The maximum number of newest notifications that the gate check before a call searches for a newer state that is no longer open.
 * If the search finds no newer state, the gate stays up.
 */
const SEARCHED_FOR_GATE = 5_000;

/**
 * Finds open items that a newer item of the same key supersedes, although the plan does not see the newer item. Another carrier
 * took the newer item while the older item was offered, or after a summary had counted the older item. `mine` selects the items
 * that the conversation may take.
 */
export async function overtaken(
  { context, log, id }: Recipient,
  open: readonly Item[],
  mine: (items: readonly Item[]) => Promise<readonly Item[]>,
): Promise<Overtaken | undefined> {
  // An offer that was never sent does not count in `offers`, but its records are in the history. A refusal may show only the
  // newer of two interrupts. The older interrupt then has no such record.
  const again = open.filter(({ history, notification }) => history.length > 1 || isInterrupt(notification));
  const newer = (await mine(await newerStates(context.store, log, again))).filter(isTaken);
  return newer.length === 0 ? undefined : newestOf(open, newer, { id, purpose: undefined });
}

/** The id of the newer state of each older state. */
export type Overtaken = Readonly<Record<string, NotificationId>>;

/** Returns the newest state among `newer` that replaces each open item for this reader. */
export function newestOf(open: readonly Item[], newer: readonly Item[], reader: Reader): Overtaken {
  const found = open.flatMap((item) => {
    const by = newer.findLast((other) => isReplaced(item, [other], reader));
    return by === undefined ? [] : [[item.id, by.id] as const];
  });
  return Object.fromEntries(found);
}

/**
 * Returns the items that are out of date. A carrier of their conversation has shown a newer item of the same key, or has counted
 * the newer item in a summary.
 */
export async function replacedSince(store: Store, log: LogKey, items: readonly Item[]): Promise<ReadonlySet<Item>> {
  const newer = (await newerStates(store, log, items)).filter(isTaken);
  return new Set(items.filter((item) => isReplaced(item, newer, audienceOf(item))));
}

/**
 * Returns the interrupts that hold no gate up, because the plan closes them as superseded. Only an open interrupt can be
 * superseded. `reader` returns the conversation whose plan decides about the interrupt.
 */
export async function supersededOf(
  context: Context,
  log: LogKey,
  gates: readonly Item[],
  { reader, facts, policy, now }: Deciding,
): Promise<ReadonlySet<Item>> {
  const { store } = context;
  const open = gates.filter((item) => item.state === 'open' && stateKeyOf(item.notification) !== undefined);
  if (open.length === 0) return new Set();
  const keys = [...new Set(open.flatMap(({ notification: { key } }) => key ?? []))];
  const waiting = await Promise.all(keys.map((key) => store.items(log, { kind: 'key', key })));
  // The next carrier releases a stale offer, so its items count as open.
  const found = [...waiting.flat(), ...(await newerStates(store, log, open, SEARCHED_FOR_GATE))].map((item) =>
    staleBecause(context, item) === undefined ? item : { ...item, state: 'open' as const },
  );
  const due = await facts(found.filter(({ state }) => state === 'open'));
  const newer = found.filter((item) => isNews(item, { at: 'forced', facts: due, policy, now }));
  const superseded = new Set<Item>();
  for (const item of open) {
    if (isReplaced(item, newer, await reader(item))) superseded.add(item);
  }
  return superseded;
}

/**
 * Whether the item replaces an older state that is due. For that, a carrier must have shown the item, or the plan at this contact
 * point would take the item now. An item that only waits may end before its time. The agent would then read neither state.
 */
export const isNews = (item: Item, { at, facts, policy, now }: News): boolean =>
  item.state === 'open'
    ? !isExpired(item, now, facts.sighted?.[item.id]) &&
      filterOf(item.notification, policy, facts.mutes, now) === undefined &&
      notDueBecause(item, at, policy, facts, now) === undefined
    : isTold(item);

type News = { readonly at: ContactPoint; readonly facts: Facts; readonly policy: Policy; readonly now: number };

/** `reader`: the conversation whose plan decides about an interrupt. `facts` returns the facts about open items. */
type Deciding = Omit<News, 'at' | 'facts'> & {
  readonly reader: (item: Item) => Reader | Promise<Reader>;
  readonly facts: (items: readonly Item[]) => Promise<Facts>;
};
type Reader = { readonly id: ConversationId; readonly purpose: string | undefined };

/** Returns the conversation that holds the item. A notification for a purpose never replaces an item without a purpose. */
export const audienceOf = (item: Item): Reader => ({ id: holderOf(item), purpose: item.notification.purpose ?? '' });

/**
 * Whether the newer item reaches the readers of the older item. If not, because another conversation has taken the newer item,
 * the older item still waits.
 */
const reaches = (newer: Item, older: Item, id: ConversationId): boolean =>
  newer.state === 'open' || older.audience === ANYONE || holderOf(newer) === id;

/**
 * Whether a carrier has shown the item or counted it in a summary. False for an item that has since ended in another way, for
 * example as withdrawn, because its offer may not have reached the model.
 */
const isTold = ({ state, offers, inSummary, outcome }: Item): boolean =>
  inSummary === true || (state === 'closed' ? outcome === 'delivered' || outcome === 'summarized' : offers > 0);

/**
 * Returns the items with `supersede` that were queued after one of the given states and have the same key, in all audiences.
 * `searched`: the maximum number of newest notifications that are searched.
 */
export async function newerStates(
  store: Store,
  log: LogKey,
  items: readonly Item[],
  searched = Number.POSITIVE_INFINITY,
): Promise<readonly Item[]> {
  const states = items.filter(({ notification }) => stateKeyOf(notification) !== undefined);
  if (states.length === 0) return [];
  const keys = new Set(states.map(({ notification }) => notification.key));
  const after = Math.min(...states.map(({ seq }) => seq));
  const ids: NotificationId[] = [];
  const types = ['system_notification_queued'];
  for (let upTo: number | undefined = Number.MAX_SAFE_INTEGER, left = searched; upTo !== undefined && left > 0; left -= PAGE) {
    const queued: readonly Stored[] = await store.read({ log, after, upTo, limit: PAGE, types, newestFirst: true });
    for (const { body } of queued)
      if (isType(body, 'system_notification_queued') && body.supersede && keys.has(body.key)) ids.push(body.id);
    const oldest: number | undefined = queued.at(-1)?.seq;
    upTo = queued.length < PAGE || oldest === undefined ? undefined : oldest - 1;
  }
  return ids.length === 0 ? [] : store.items(log, { kind: 'ids', ids });
}

const isTaken = (item: Item): boolean => item.state !== 'open' && isTold(item);

/** Whether one of the newer items replaces the item for this reader. */
export const isReplaced = (item: Item, newer: readonly Item[], { id, purpose }: Reader): boolean =>
  newer.some((other) => replaces(other, item) && isFor(other, id, purpose) && reaches(other, item, id));

/** Whether the item reports the same state later. */
export const replaces = (newer: Item, older: Item): boolean => {
  const state = stateKeyOf(older.notification);
  return state !== undefined && newer.seq > older.seq && stateKeyOf(newer.notification) === state;
};
