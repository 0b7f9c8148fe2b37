/** Removes closed notifications and their records after the retention time. */
import { splitLog } from '../../core/address.ts';
import type { Context } from '../context.ts';

export type Pruned = { readonly records: number; readonly items: number };

/**
 * Removes notifications that closed more than `olderMs` (default: the longest retention time of all projects) before `now`
 * (default: `pruneTime`). Open notifications of any age stay.
 */
export async function prune(context: Context, olderMs?: number, now?: number): Promise<Pruned> {
  const { store, policies } = context;
  const projects = ['', ...(await projectsIn(context))];
  const keptMs = olderMs ?? projects.reduce((most, project) => Math.max(most, policies.policy(project).retentionMs), 0);
  return store.prune((now ?? (await pruneTime(context))) - keptMs);
}

/**
 * Returns the reference time for pruning: the current time, but not later than the newest record. A process whose clock is ahead
 * therefore removes nothing too early, unless that clock also gave the newest record its time.
 */
export async function pruneTime({ store }: Context): Promise<number> {
  const [newest] = await store.read({ newestFirst: true, limit: 1 });
  return newest === undefined ? store.now() : Math.min(store.now(), newest.at);
}

/** Returns the projects that have records. */
export const projectsIn = async ({ store }: Context): Promise<ReadonlySet<string>> =>
  new Set((await store.overview()).map(({ log }) => splitLog(log).project));
