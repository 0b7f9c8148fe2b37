/** Asks git for the details of a change. */
import type { Change } from './changes.ts';
import type { Git } from './command.ts';
import type { Details } from './events.ts';
import { arrivedBetween, lastMove } from './state.ts';

/** Returns the details of a change; undefined if the details show that nothing has changed. */
export async function detailsOf(git: Git, change: Change): Promise<Details | undefined> {
  switch (change.kind) {
    case 'switched': {
      const move = await lastMove(git);
      // A commit on a detached HEAD moves HEAD, but does not switch the branch.
      if (change.detached && change.wasDetached && move?.what.startsWith('checkout:') === false) return undefined;
      return { by: move?.by };
    }
    case 'moved':
      return { arrived: await arrivedBetween(git, change.before, change.upstream.at) };
    case 'up_to_date':
    case 'conflict':
    case 'resolved':
      return {};
  }
}
