/**
 * Ends a follower of a project. The follower is first marked as ending in the list. If the process crashes before the removal,
 * the next process that runs the followers completes the removal.
 */
import { splitLog, type LogKey } from '../../core/address.ts';
import type { Emitter } from '../../core/event.ts';
import { fault } from '../../core/faults.ts';
import type { Store } from '../../core/ports.ts';
import { forgetAgent } from './agent.ts';
import { beginEnd, covers, groupOf, groupsOf, keepState, listed, remove, stateOf, type Followed } from './list.ts';
import { tellEnd } from './tell.ts';

export type Ending = {
  readonly store: Pick<Store, 'setting' | 'setSetting' | 'swapSetting' | 'overview'>;
  readonly project: string;
  readonly emitter: Emitter;
};

/**
 * Ends a follower and withdraws its unread notifications, except those about files and about the branch. Other followers of the
 * same thing keep their notifications. Resolves to the follower, or to undefined if no follower has this id.
 */
export async function unfollow(place: Ending, id: string): Promise<Followed | undefined> {
  const ending = await beginEnd(place.store, place.project, id);
  if (ending === undefined) return undefined;
  fault('unfollow.begun');
  await completeEnd(place, ending);
  return ending;
}

/** Withdraws the notifications of an ending follower, and then removes the follower. Retrying is safe. */
export async function completeEnd({ store, project, emitter }: Ending, ending: Followed): Promise<void> {
  const list = await listed(store, project);
  const uid = groupOf(ending);
  const tos = groupsOf(list).find((each) => each.uid === uid)?.tos ?? [];
  if (ending.what.kind === 'agent' && !tos.includes(ending.to)) await forgetAgent({ store }, ending.what, ending);
  const left = await leftOf({ store, project }, ending.to, tos);
  await tellEnd({ uid, tos: left }, await stateOf(store, uid), emitter);
  fault('unfollow.withdrawn');
  const isLast = list.every((each) => each.uid === ending.uid || groupOf(each) !== uid);
  if (isLast) await keepState(store, uid, undefined);
  fault('unfollow.forgotten');
  await remove(store, project, (each) => each.uid === ending.uid);
}

/** Returns the addresses within `to` that no other follower of the same thing notifies. */
async function leftOf(
  { store, project }: Pick<Ending, 'store' | 'project'>,
  to: string,
  others: readonly string[],
): Promise<readonly string[]> {
  if (others.some((each) => covers(each, to))) return [];
  if (others.every((each) => !covers(to, each))) return [to];
  if (!to.endsWith('/*')) return [];
  const logs = (await store.overview(project)).map(({ log }) => log).filter((log) => splitLog(log).agent !== '*');
  return logs.filter((log: LogKey) => others.every((each) => !covers(log, each)));
}
