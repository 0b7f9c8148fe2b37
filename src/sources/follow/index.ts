/** Follows things outside of an agent, and notifies the agent when they change. */
import type { Inbox } from '../../inbox/index.ts';
import { agentFollower } from './agent.ts';
import { filesFollower } from './files.ts';
import { gitFollower } from './repository.ts';
import { urlFollower } from './url.ts';
import { logFollower } from './log.ts';
import { lspFollower } from './lsp/lsp.ts';
import { prFollower } from './pr/pr.ts';
import type { Follower } from './follower.ts';
import type { Group } from './list.ts';

export { followOutput } from './command.ts';
export { CannotLook, type Follower } from './follower.ts';
export { letGo, looker, RENEW_MS, renewLease, takeLease } from './lease.ts';
export {
  add,
  addRun,
  following,
  groupOf,
  type Group,
  isFollowed,
  isSameThing,
  keepState,
  listed,
  removeRun,
  NEW,
  stateOf,
  type Followed,
  type State,
  type What,
  type Until,
} from './list.ts';
export { patternOf } from './log.ts';
export { lookAfter, lookOnce, nameOf } from './look-after.ts';
export { unlinkedLog } from './permitted.ts';
export { portProblem } from './ports.ts';
export { isKnownBranch } from './pr/branch.ts';
export { findPr } from './pr/pr.ts';
export { checkRepository } from './repository.ts';
export { unfollow } from './unfollow.ts';

/** Makes the follower of a thing. Throws for a command, because the process that runs the command also follows it. */
export function followerOf(followed: Group, inbox: Inbox): Follower {
  const { what } = followed;
  switch (what.kind) {
    case 'pr':
      return prFollower(what);
    case 'log':
      return logFollower(what, followed);
    case 'url':
      return urlFollower(what, followed);
    case 'agent':
      return agentFollower(what, followed, inbox);
    case 'files':
      return filesFollower(what);
    case 'git':
      return gitFollower(what);
    case 'lsp':
      return lspFollower(what, followed);
    case 'command':
      throw new TypeError('only the process that runs a command can follow that command');
    default:
      return what satisfies never;
  }
}
