/**
 * Ensures that a carrier's text includes every notification that its items count. The caller renders the text before it appends
 * the carrier's record. If a notification is folded into an item in between, the text lacks that notification. Therefore the
 * record states the count that the text shows for each item. If an item's count is greater at the append, the append fails.
 */
import type { Item } from './item.ts';
import type { NotificationId } from './notification.ts';

/** Returns the highest count among the items of each id. 0 if `items` has no item of this id. */
export function countsOf(items: readonly Item[], ids: readonly NotificationId[]): number[] {
  const known = new Map<NotificationId, number>();
  for (const { id, count } of items) known.set(id, Math.max(count, known.get(id) ?? 0));
  return ids.map((id) => known.get(id) ?? 0);
}

/** Returns the ids among `ids` whose items count more notifications than `counts` states. */
export function countedSince(
  items: readonly Item[],
  ids: readonly NotificationId[],
  counts: readonly number[] | undefined,
): NotificationId[] {
  if (counts === undefined) return [];
  const known = new Map(ids.map((id, n) => [id, counts[n] ?? Infinity]));
  return items.filter(({ id, count }) => count > (known.get(id) ?? Infinity)).map(({ id }) => id);
}
