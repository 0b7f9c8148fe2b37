import type { LogKey } from '../../core/address.ts';
import type { Item } from '../../core/items.ts';
import type { CarrierId, ReleasedRecord } from '../../core/records.ts';
import type { Context } from '../context.ts';
import { isSame } from '../presence/presence.ts';

/** Releases the offers of these items whose owner is dead or whose lease has ended. Returns the number of released carriers. */
export async function releaseStale(context: Context, log: LogKey, items: readonly Item[]): Promise<number> {
  const stale = new Map<CarrierId, ReleasedRecord['reason'] | undefined>();
  // The items of one carrier have one owner and one lease.
  for (const item of items)
    if (item.carrier !== undefined && item.state === 'offered' && !stale.has(item.carrier))
      stale.set(item.carrier, staleBecause(context, item));
  const drafts = [...stale].flatMap(([carrier, reason]) =>
    reason === undefined ? [] : [{ type: 'carrier_released', carrier, reason } as const],
  );
  for (const draft of drafts) await context.store.append(log, [draft]);
  return drafts.length;
}

/**
 * Returns the reason why the offer that holds the item must be released: its owner is dead, or its lease has ended. Undefined for
 * an item that no such offer holds.
 */
export function staleBecause(
  { store, owner, isAlive, leases }: Context,
  { state, carrier, owner: holder, until }: Item,
): 'lease_expired' | 'owner_dead' | undefined {
  if (state !== 'offered' || carrier === undefined) return undefined;
  const isOwn = isSame(holder, owner);
  const alive = isOwn || (holder && isAlive(holder));
  // The owner may run on another machine, whose clock may be a little ahead of the clock of this machine.
  const mayLive = alive !== false && holder !== undefined && !isOwn;
  if (leases.isOver({ carrier, until: until ?? 0, mayLive }, store.now())) return 'lease_expired';
  return alive === false ? 'owner_dead' : undefined;
}
