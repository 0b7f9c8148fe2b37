/**
 * Gives notifications another audience. A fork gets its own copy. A project-wide interrupt also applies to conversations that
 * begin later. When a conversation has ended, its heir takes over the unread items.
 */
import type { ConversationId } from './address.ts';
import { defined } from './defined.ts';
import { ANYONE, fresh, itemKey, seen, type Item } from './item.ts';
import type { NotificationId } from './notification.ts';
import type { ExtendedRecord, ForkedRecord, Stored, SucceededRecord } from './records.ts';

type Place = Pick<Stored, 'seq' | 'at' | 'clock'>;
type Problem = { readonly id: NotificationId; readonly why: 'closed' | 'offered' | 'unknown' };
export type Passing =
  | { readonly kind: 'passing'; readonly items: Item[] }
  | { readonly kind: 'conflict'; readonly ids: Problem[] };

/** Returns the conversation that holds the item: its audience, or for `ANYONE` the conversation that took the item, if any. */
export const holderOf = ({ audience, takenBy }: Pick<Item, 'audience' | 'takenBy'>): ConversationId =>
  audience === ANYONE ? (takenBy ?? ANYONE) : audience;

/** Copies the items that `record` names for a fork. These items were open in the original conversation when the fork was made. */
export function forkedFrom(record: ForkedRecord, place: Place, found: readonly Item[], lenient: boolean): Passing {
  return copied(
    record,
    place,
    found,
    lenient,
    (item) => item.audience === record.from,
    (item) => item.audience === ANYONE,
  );
}

/** Adds a conversation as an audience of notifications that this log already has. */
export function extendedTo(record: ExtendedRecord, place: Place, found: readonly Item[], lenient: boolean): Passing {
  return copied(record, place, found, lenient, () => true);
}

function copied(
  { conversation: to, ids }: Pick<ForkedRecord, 'conversation' | 'ids'>,
  place: Place,
  found: readonly Item[],
  lenient: boolean,
  ...origins: readonly ((item: Item) => boolean)[]
): Passing {
  const items: Item[] = [];
  const unknown: Problem[] = [];
  for (const id of ids) {
    const same = found.filter((item) => item.id === id);
    const item = origins.flatMap((isOrigin) => same.find(isOrigin) ?? [])[0];
    if (item === undefined) {
      if (!lenient) unknown.push({ id, why: 'unknown' });
      continue;
    }
    // A notification that was folded into another notification is not copied separately.
    if (to === undefined || item.outcome === 'folded' || same.some((other) => other.audience === to)) continue;
    items.push(copy(item, to, place));
  }
  return unknown.length > 0 ? { kind: 'conflict', ids: unknown } : { kind: 'passing', items };
}

/** Copies an item as open and not yet shown, for another conversation. The copy keeps age and count. */
function copy(item: Item, audience: ConversationId, place: Place): Item {
  const { notification, seq, at, clock, count, lastAt, differs } = item;
  const origin = { seq, at, ...defined({ clock }) };
  return { ...fresh(notification, audience, origin), count, lastAt, differs, history: [seq, place.seq] };
}

/**
 * Gives the items to the heir unchanged: id, count, offered text, receipt and gate stay. If the heir already has its own copy of
 * an open item, the copy of the ended conversation closes. If one of the items no longer belongs to the ended conversation, the
 * result is a conflict and the heir gets no item. An offered item passes only when two conversations are merged.
 */
export function passedOn(record: SucceededRecord, place: Place, found: readonly Item[], lenient: boolean): Passing {
  const { conversation: to, from } = record;
  const items: Item[] = [];
  const problems: Problem[] = [];
  for (const id of record.ids) {
    const same = found.filter((item) => item.id === id);
    const held = same.filter((item) => holderOf(item) === from);
    if (held.length === 0 && !lenient) problems.push({ id, why: same.length === 0 ? 'unknown' : 'closed' });
    for (const item of held) {
      if (item.state === 'offered' && !record.merges && !lenient) problems.push({ id, why: 'offered' });
      if (to === undefined) continue;
      items.push(handedTo(item, to, { record, place, known: same }));
      const own = same.find(({ audience }) => audience === to);
      if (own !== undefined && isShownFirst(item, own)) {
        const { offers, text, group } = item;
        items.push({ ...seen(own, place), offers, ...defined({ text, group }) });
      }
    }
  }
  return problems.length > 0 ? { kind: 'conflict', ids: problems } : { kind: 'passing', items };
}

/**
 * Whether both copies are open, the ended conversation was offered its copy `item`, and the heir's copy `own` was never offered.
 * In that case, the heir's copy must get the offers and text of `item`, so that its next offer is marked as repeated.
 */
export const isShownFirst = (item: Item, own: Item): boolean =>
  own !== item && own.state === 'open' && own.offers === 0 && item.state === 'open' && item.offers > 0;

function handedTo(
  item: Item,
  to: ConversationId,
  { record, place, known }: { record: SucceededRecord; place: Place; known: readonly Item[] },
): Item {
  const { from, merges } = record;
  const touched = seen(item, place);
  if (item.audience === ANYONE) return { ...touched, takenBy: to };
  // The heir already has a copy of this notification, from a fork or a broadcast, and needs only one.
  if (known.some((other) => other.audience === to)) {
    if (item.state === 'closed') return { ...touched, gate: false };
    const { owner: _owner, until: _until, inSummary: _inSummary, ...rest } = touched;
    return { ...rest, state: 'closed', outcome: 'superseded', closedAt: place.at, gate: false };
  }
  const { merged: _merged, ...rest } = touched;
  return {
    ...rest,
    audience: to,
    passedFrom: from,
    ...(merges ? { merged: true as const } : {}),
    ...(item.takenBy === from ? { takenBy: to } : {}),
  };
}

/** Finds the state that an item had before a record changed it. `found`: the items before the record. */
export function formerOf<T extends Pick<Item, 'id' | 'audience'>>(item: Item, found: readonly T[]): T | undefined {
  const same = found.filter(({ id }) => id === item.id);
  return (
    same.find(({ audience }) => audience === item.audience) ??
    (item.passedFrom === undefined ? undefined : same.find(({ audience }) => audience === item.passedFrom))
  );
}

/** Puts an item into a map by `itemKey`, replacing its former state. */
export function putItem(items: Map<string, Item>, item: Item): void {
  const key = itemKey(item);
  if (!items.has(key) && item.passedFrom !== undefined) items.delete(itemKey({ id: item.id, audience: item.passedFrom }));
  items.set(key, item);
}
