import type { LogKey } from '../../core/address.ts';
import type { Item } from '../../core/items.ts';
import type { CarrierId, ReleasedRecord } from '../../core/records.ts';
import type { Context } from '../context.ts';
import { isSame } from '../presence/presence.ts';

/** Releases the offers of these items whose owner is dead or whose lease has ended. Returns the number of released carriers. */
export async function releaseStale(context: Context, log: LogKey, items: readonly Item[]): Promise<number> {
  const { store, owner, isAlive, leases } = context;
  const now = store.now();
  const seen = new Set<CarrierId>();
  const stale = new Map<CarrierId, ReleasedRecord['reason']>();
  for (const item of items) {
    // The items of one carrier have one owner and one lease.
    if (item.state !== 'offered' || item.carrier === undefined || seen.has(item.carrier)) continue;
    seen.add(item.carrier);
    const isOwn = isSame(item.owner, owner);
    const alive = isOwn || (item.owner && isAlive(item.owner));
    // The owner may run on another machine, whose clock may be a little ahead of the clock of this machine.
    const mayLive = alive !== false && item.owner !== undefined && !isOwn;
    if (leases.isOver({ carrier: item.carrier, until: item.until ?? 0, mayLive }, now)) stale.set(item.carrier, 'lease_expired');
    else if (alive === false) stale.set(item.carrier, 'owner_dead');
  }
  for (const [carrier, reason] of stale) await store.append(log, [{ type: 'carrier_released', carrier, reason }]);
  return stale.size;
}
