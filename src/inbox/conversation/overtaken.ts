import type { Item } from '../../core/items.ts';
import type { Facts } from '../../core/make-plan.ts';
import { stateKeyOf } from '../../core/notification.ts';
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
  const again = open.filter(({ offers, notification: { supersede, key } }) => offers > 0 && supersede && key !== undefined);
  if (again.length === 0) return {};
  const keys = new Set(again.map(({ notification }) => notification.key));
  const after = Math.min(...again.map(({ seq }) => seq));
  const queued = await context.store.read({ log, after, types: ['system_notification_queued'] });
  const ids = queued.flatMap(({ body }) =>
    isType(body, 'system_notification_queued') && body.supersede && keys.has(body.key) ? body.id : [],
  );
  const newer = (await mine(await context.store.items(log, { kind: 'ids', ids }))).filter(
    ({ state, offers }) => state !== 'open' && offers > 0,
  );
  const found = again.flatMap(({ id, seq, notification }) => {
    const by = newer.findLast((item) => item.seq > seq && stateKeyOf(item.notification) === stateKeyOf(notification));
    return by === undefined ? [] : [[id, by.id] as const];
  });
  return found.length === 0 ? {} : { overtaken: Object.fromEntries(found) };
}
