/** Ends a follower of a project. */
import type { Emitter } from '../../core/event.ts';
import type { Inbox } from '../../inbox/index.ts';
import { forgetAgent } from './agent.ts';
import { keepState, remove, stateOf, type Followed } from './list.ts';
import { tellEnd } from './tell.ts';

type Place = { readonly inbox: Pick<Inbox, 'store'>; readonly project: string; readonly emitter: Emitter };

/**
 * Ends a follower and withdraws its unread notifications. Resolves to the follower, or to undefined if no follower has this id.
 */
export async function unfollow({ inbox, project, emitter }: Place, id: string): Promise<Followed | undefined> {
  const removed = await remove(inbox.store, project, id);
  if (removed === undefined) return undefined;
  if (removed.what.kind === 'agent') await forgetAgent(inbox, removed.what, removed);
  await tellEnd(removed, await stateOf(inbox.store, removed.uid), emitter);
  await keepState(inbox.store, removed.uid, undefined);
  return removed;
}
