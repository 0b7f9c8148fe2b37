/**
 * The regular housekeeping, which each long-lived process does for all processes: it closes expired notifications and removes old
 * ones.
 */
import { splitLog, type LogKey } from '../../core/address.ts';
import { isExpired } from '../../core/clocks.ts';
import type { Context } from '../context.ts';
import { releaseStale } from '../conversation/stale.ts';
import { finishFanOuts } from '../producing/fan-out.ts';
import { liftRecords } from '../producing/withdraw.ts';
import type { Pruned } from './retention.ts';

/** The `by` of records that a sweep writes. */
export const EXPIRY = 'sweep';
const OVER = { by: EXPIRY, reason: 'the notification has expired' };

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

export type Swept = { readonly expired: number; readonly released: number; readonly pruned: number };

/**
 * Closes expired notifications, releases leases that have ended or whose owner is dead, finishes interrupted fan-outs, and prunes
 * at most once a day. A notification closes as expired only if the store is private or if another live process has a clock that
 * agrees with this process's clock.
 */
export async function sweep(context: Context, prune: () => Promise<Pruned>): Promise<Swept> {
  const { store, witnesses } = context;
  await witnesses.note();
  const mayClose = await witnesses.agree();
  let expired = 0;
  let released = 0;
  const projects = new Set<string>();
  for (const { log, open } of await store.overview()) {
    projects.add(splitLog(log).project);
    const hasOpen = Object.values(open).some((count) => count > 0);
    if (hasOpen) released += await releaseStale(context, log, await store.items(log, { kind: 'open' }));
    if (mayClose) expired += await closeExpired(context, log, hasOpen);
  }
  for (const project of projects) await finishFanOuts(context, project);
  const now = store.now();
  const last = Number((await store.setting('pruned_at')) ?? 0);
  if (Math.abs(now - last) < DAY_MS || !(await witnesses.mayRemove())) return { expired, released, pruned: 0 };
  await store.setSetting('pruned_at', now);
  const { records } = await prune().catch(async (error: unknown) => {
    // The removal failed, for example because the archive cannot be written. With this time, a process tries again after an hour.
    await store.setSetting('pruned_at', now - DAY_MS + HOUR_MS);
    throw error;
  });
  return { expired, released, pruned: records };
}

/** Closes expired notifications of one log, and lowers the gates of delivered interrupts that have expired since. */
async function closeExpired({ store }: Context, log: LogKey, hasOpen: boolean): Promise<number> {
  const now = store.now();
  const gates = await store.items(log, { kind: 'gate' });
  const expired = [...(hasOpen ? await store.items(log, { kind: 'open' }) : []), ...gates].filter(
    (item) => item.state === 'open' && isExpired(item, now),
  );
  let closed = 0;
  for (const id of new Set(expired.map((item) => item.id))) {
    // Each id gets a separate append: if a carrier has offered one of the items since, only that item stays open.
    const appended = await store.append(log, [{ type: 'notification_closed', ids: [id], outcome: 'expired', ...OVER }]);
    if (appended.kind === 'appended') closed++;
  }
  const held = gates.filter((item) => item.state === 'closed' && isExpired(item, now));
  if (held.length > 0) await store.append(log, liftRecords(held, OVER));
  return closed + held.length;
}
