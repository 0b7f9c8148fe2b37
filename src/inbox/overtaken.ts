import type { LogKey } from '../core/address.ts';
import type { Item } from '../core/items.ts';
import type { Facts } from '../core/make-plan.ts';
import { isType } from '../core/records.ts';
import type { Inbox } from './inbox.ts';

/**
 * Which of these open states a newer state of their key has overtaken: another carrier offered the newer one while an offer of the
 * older one was on its way, so the plan does not find it among the open ones. `mine`: those that the conversation may take.
 */
export async function overtaken(
  {
    inbox,
    log,
    mine,
  }: { readonly inbox: Inbox; readonly log: LogKey; readonly mine: (items: readonly Item[]) => Promise<readonly Item[]> },
  open: readonly Item[],
): Promise<Pick<Facts, 'overtaken'>> {
  const again = open.filter(({ offers, notification: { supersede, key } }) => offers > 0 && supersede && key !== undefined);
  if (again.length === 0) return {};
  const keys = new Set(again.map(({ notification }) => notification.key));
  const after = Math.min(...again.map(({ seq }) => seq));
  const queued = await inbox.store.read({ log, after, types: ['system_notification_queued'] });
  const ids = queued.flatMap(({ body }) =>
    isType(body, 'system_notification_queued') && body.supersede && keys.has(body.key) ? body.id : [],
  );
  const newer = (await mine(await inbox.store.items(log, { kind: 'ids', ids }))).filter(
    ({ state, offers }) => state !== 'open' && offers > 0,
  );
  const found = again.flatMap(({ id, seq, notification }) => {
    const by = newer.findLast((item) => item.seq > seq && item.notification.key === notification.key);
    return by === undefined ? [] : [[id, by.id] as const];
  });
  return found.length === 0 ? {} : { overtaken: Object.fromEntries(found) };
}
