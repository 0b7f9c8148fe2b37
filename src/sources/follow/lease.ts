/**
 * Takes and renews the lease of the process that runs a project's followers. A project has at most one such process. The lease
 * ends with its process. If the process cannot be checked, for example in another container, the lease ends 2 minutes after its
 * last renewal.
 */
import type { Json } from '../../core/json.ts';
import type { Store } from '../../core/ports.ts';
import type { Owner } from '../../core/records.ts';

type Kept = Pick<Store, 'now' | 'setting' | 'swapSetting'>;
/** A lease. `at` is the time when the lease was last taken or renewed. */
type Lease = Owner & { readonly at: number };
type IsAlive = (owner: Owner) => boolean | undefined;

const LASTS_MS = 120_000;
export const RENEW_MS = 30_000;

const leaseKey = (project: string): string => `followers' process of ${project}`;
const leaseIn = (value: Json | undefined): Lease | undefined => value as unknown as Lease | undefined;

/** Returns the process that holds the lease now. */
export async function looker(store: Kept, project: string, isAlive: IsAlive): Promise<Owner | undefined> {
  const lease = leaseIn(await store.setting(leaseKey(project)));
  return lease !== undefined && holds(lease, isAlive, store.now()) ? lease : undefined;
}

/**
 * Whether a lease is valid. The time of the lease counts only if its process cannot be checked. A time far in the future is
 * from a wrong clock, so such a lease is not valid.
 */
const holds = (lease: Lease, isAlive: IsAlive, now: number): boolean =>
  isAlive(lease) ?? Math.abs(now - (lease.at ?? 0)) <= LASTS_MS;

/** Takes the lease to run the project's followers. Resolves to false if another process holds the lease. */
export async function takeLease(store: Kept, project: string, own: Owner, isAlive: IsAlive): Promise<boolean> {
  const before = await store.setting(leaseKey(project));
  const lease = leaseIn(before);
  if (lease !== undefined && holds(lease, isAlive, store.now())) return false;
  return store.swapSetting(leaseKey(project), before, { ...own, at: store.now() });
}

/**
 * Renews the lease of this process. Resolves to false if another process has taken the lease. In that case, this process must
 * end.
 */
export const renewLease = (store: Kept, project: string, own: Owner): Promise<boolean> =>
  change(store, project, own, { ...own, at: store.now() });

export const letGo = (store: Kept, project: string, own: Owner): Promise<boolean> => change(store, project, own, undefined);

async function change(store: Kept, project: string, own: Owner, to: Lease | undefined): Promise<boolean> {
  const before = await store.setting(leaseKey(project));
  const lease = leaseIn(before);
  const isOwn = lease?.pid === own.pid && lease.machine === own.machine && lease.startedAt === own.startedAt;
  return isOwn && store.swapSetting(leaseKey(project), before, to);
}
