import type { LogKey } from '../../core/address.ts';
import type { Item } from '../../core/items.ts';
import type { Facts } from '../../core/make-plan.ts';
import { stateKeyOf } from '../../core/notification.ts';
import type { Store } from '../../core/ports.ts';
import { isType } from '../../core/records.ts';
import type { Recipient } from './recipient.ts';

/**
 * Finds open items that a newer item of the same key supersedes, although the plan does not see the newer item. Another carrier
 * took the newer item while an offer of the older item was in flight. `mine` selects the items that the conversation may take.
 */
export async function overtaken(
  { context, log }: Recipient,
  open: readonly Item[],
  mine: (items: readonly Item[]) => Promise<readonly Item[]>,
): Promise<Pick<Facts, 'overtaken'>> {
  // An offer that was never sent does not count in `offers`, but its records are in the history.
  const again = open.filter(({ history }) => history.length > 1);
  const newer = (await mine(await newerStates(context.store, log, again))).filter(
    ({ state, offers }) => state !== 'open' && offers > 0,
  );
  const found = again.flatMap((item) => {
    const by = newer.findLast((other) => replaces(other, item));
    return by === undefined ? [] : [[item.id, by.id] as const];
  });
  return found.length === 0 ? {} : { overtaken: Object.fromEntries(found) };
}

/** Returns the items with `supersede` that were queued after one of the given states and have the same key, in all audiences. */
export async function newerStates(store: Store, log: LogKey, items: readonly Item[]): Promise<readonly Item[]> {
  const states = items.filter(({ notification }) => stateKeyOf(notification) !== undefined);
  if (states.length === 0) return [];
  const keys = new Set(states.map(({ notification }) => notification.key));
  const after = Math.min(...states.map(({ seq }) => seq));
  const queued = await store.read({ log, after, types: ['system_notification_queued'] });
  const ids = queued.flatMap(({ body }) =>
    isType(body, 'system_notification_queued') && body.supersede && keys.has(body.key) ? body.id : [],
  );
  return ids.length === 0 ? [] : store.items(log, { kind: 'ids', ids });
}

/** Whether the item reports the same state later. */
export const replaces = (newer: Item, older: Item): boolean => {
  const state = stateKeyOf(older.notification);
  return state !== undefined && newer.seq > older.seq && stateKeyOf(newer.notification) === state;
};
