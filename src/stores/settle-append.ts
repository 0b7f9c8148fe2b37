/**
 * Settles the drafts of one append against the items that they touch, without I/O. Stores that write all changes at once use
 * this module.
 */
import { EarpieceError } from '../core/errors.ts';
import { formerOf, type Item, itemKey, type Place, settle, touches } from '../core/items.ts';
import type { NotificationId } from '../core/notification.ts';
import type { Appended } from '../core/ports.ts';
import type { Draft } from '../core/records.ts';

export type SettledAppend =
  | {
      readonly kind: 'settled';
      /** The given items and the new items after the append, by `itemKey`. */
      readonly items: ReadonlyMap<string, Item>;
      /** Each changed or new item once, in its last state. */
      readonly changed: readonly Item[];
      /** For each draft: whether it changed or made an item. */
      readonly effects: readonly boolean[];
    }
  | Extract<Appended, { kind: 'conflict' | 'duplicate' }>;

/**
 * Settles the drafts in order. `items` must contain all items, of all audiences, that `touches` names for a draft. Throws
 * `bad_argument` if the drafts queue one id twice.
 */
export function settleAppend(drafts: readonly Draft[], first: Place, items: ReadonlyMap<string, Item>): SettledAppend {
  const after = new Map(items);
  const changed = new Map<string, Item>();
  const created = new Set<NotificationId>();
  const effects: boolean[] = [];
  for (const [n, draft] of drafts.entries()) {
    const need = touches(draft);
    const ids = new Set([...need.ids, ...need.creates]);
    const found = [...after.values()].filter(
      (item) => ids.has(item.id) || (need.carrier !== undefined && item.carrier === need.carrier),
    );
    const result = settle(draft, { ...first, seq: first.seq + n }, found);
    if (result.kind === 'conflict') return result;
    if (result.kind === 'duplicate') {
      if (created.has(result.id)) throw twice(result.id);
      return { kind: 'duplicate', id: result.id, item: found.find((item) => item.id === result.id) as Item };
    }
    for (const id of need.creates) created.add(id);
    for (const item of result.items) {
      const former = formerOf(item, found);
      if (former !== undefined) for (const map of [after, changed]) map.delete(itemKey(former));
      for (const map of [after, changed]) map.set(itemKey(item), item);
    }
    effects.push(result.items.length > 0);
  }
  return { kind: 'settled', items: after, changed: [...changed.values()], effects };
}

export const twice = (id: NotificationId): EarpieceError =>
  new EarpieceError('bad_argument', `one append queues ${JSON.stringify(id)} twice: give each notification a different id`);
