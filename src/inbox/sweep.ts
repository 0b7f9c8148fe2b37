import type { LogKey } from '../core/address.ts';
import { isExpired } from '../core/clocks.ts';
import type { Item } from '../core/items.ts';
import type { CarrierId, ReleasedRecord } from '../core/records.ts';
import type { Inbox } from './inbox.ts';
import { liftRecords } from './lift.ts';
import { isSame } from './presence.ts';

/** The `by` of records that a sweep writes. */
export const EXPIRY = 'sweep';
const OVER = { by: EXPIRY, reason: 'its time was over' };

/**
 * Closes what expired in one log, lowers the gates of what was delivered and expired, and releases leases that nobody will confirm. `mayClose`: another live process has a clock
 * that agrees with this one; without it nothing is closed as expired.
 */
export async function sweepLog(inbox: Inbox, log: LogKey, mayClose: boolean): Promise<{ expired: number; released: number }> {
  const released = await releaseStale(inbox, log, await inbox.store.items(log, { kind: 'open' }));
  if (!mayClose) return { expired: 0, released };
  const now = inbox.store.now();
  const gates = await inbox.store.items(log, { kind: 'gate' });
  const expired = [...(await inbox.store.items(log, { kind: 'open' })), ...gates].filter(
    (item) => item.state === 'open' && isExpired(item, now),
  );
  const ids = [...new Set(expired.map((item) => item.id))];
  for (const id of ids) {
    // One by one: whoever offers one of them meanwhile keeps only that one.
    await inbox.store.append(log, [{ type: 'notification_closed', ids: [id], outcome: 'expired', ...OVER }]);
  }
  const held = gates.filter((item) => item.state === 'closed' && isExpired(item, now));
  if (held.length > 0) await inbox.store.append(log, liftRecords(held, OVER));
  return { expired: ids.length + held.length, released };
}

/** Releases offers whose owner is dead or whose lease ran out. Returns how many carriers. */
export async function releaseStale(inbox: Inbox, log: LogKey, items: readonly Item[]): Promise<number> {
  const now = inbox.store.now();
  const stale = new Map<CarrierId, ReleasedRecord['reason']>();
  for (const item of items) {
    if (item.state !== 'offered' || item.carrier === undefined) continue;
    const alive = item.owner && inbox.isAlive(item.owner);
    const othersAlive = alive === true && !isSame(item.owner, inbox.owner);
    if (inbox.leases.isOver({ carrier: item.carrier, until: item.until ?? 0, othersAlive }, now))
      stale.set(item.carrier, 'lease_expired');
    else if (alive === false) stale.set(item.carrier, 'owner_dead');
  }
  for (const [carrier, reason] of stale) await inbox.store.append(log, [{ type: 'carrier_released', carrier, reason }]);
  return stale.size;
}
