/** Makes the events of a repository, without I/O. */
import { defined } from '../../core/defined.ts';
import type { EventInput } from '../../core/event.ts';
import { inLine, keyOf, quoted } from '../wording.ts';
import type { Change } from './changes.ts';
import type { Arrived } from './state.ts';

type GitEvent = Omit<EventInput, 'source' | 'subject'>;

/** Details of a change that only git knows: the person who switched the branch, and the commits that arrived. */
export type Details = { readonly by?: string | undefined; readonly arrived?: Arrived | undefined };

const MOST_FILES = 20;

/**
 * Makes the event of a change. With `own`, the agent itself caused the change, and the event only withdraws earlier
 * notifications.
 */
export function gitEvent(top: string, change: Change, { by, arrived }: Details, own: boolean): GitEvent {
  switch (change.kind) {
    case 'switched': {
      const { from, to, detached } = change;
      return {
        type: 'git.branch_switched',
        severity: 'warning',
        data: { from, to, ...(detached ? { detached } : {}), ...defined({ by }) },
        key: keyOf(`git.branch ${top}`),
        supersede: true,
        message: detached
          ? `HEAD is now detached at ${quoted(to)} (before: ${quoted(from)})`
          : `the branch is now ${quoted(to)} (before: ${quoted(from)})`,
      };
    }
    case 'moved': {
      const { branch, upstream } = change;
      const { name, ahead, behind } = upstream;
      const { commits = [], count = behind, rewritten = false } = arrived ?? {};
      return {
        type: 'git.upstream_moved',
        severity: 'info',
        data: { branch, upstream: name, ahead, behind, commits: commits.map(subject), ...(rewritten ? { rewritten } : {}) },
        key: upstreamKey(top, branch),
        supersede: true,
        message: `${quoted(name)} ${rewritten ? 'was rewritten' : `has ${counted(count, 'new commit')}`}; ${quoted(branch)} is ${ahead > 0 ? `${counted(ahead, 'commit')} ahead and ${behind}` : counted(behind, 'commit')} behind`,
      };
    }
    case 'up_to_date': {
      const { branch, upstream } = change;
      return {
        type: 'git.up_to_date',
        severity: 'debug',
        data: { branch, upstream },
        key: upstreamKey(top, branch),
        message: `${quoted(branch)} has all of ${quoted(upstream)}`,
      };
    }
    case 'conflict': {
      const { operation, files } = change.conflict;
      const shown = files.slice(0, MOST_FILES);
      const rest = files.length - shown.length;
      const names = shown.slice(0, 5).map(quoted).join(', ');
      return {
        type: 'git.conflict',
        severity: 'error',
        data: { operation, files: shown.map((file) => file.toWellFormed()), ...(rest > 0 ? { more: rest } : {}) },
        key: conflictKey(top),
        supersede: true,
        message: `${operation === 'other' ? 'there is' : `the ${operation} stopped at`} a conflict in ${counted(files.length, 'file')}: ${names}${files.length > 5 ? ` and ${files.length - 5} more` : ''}`,
      };
    }
    case 'resolved':
      return {
        type: 'git.conflict_resolved',
        severity: own ? 'debug' : 'info',
        key: conflictKey(top),
        message: 'no file is in conflict any more',
      };
  }
}

const upstreamKey = (top: string, branch: string): string => keyOf(`git.upstream ${top} ${branch}`);
const conflictKey = (top: string): string => keyOf(`git.conflict ${top}`);

const counted = (count: number, what: string): string => `${count} ${what}${count === 1 ? '' : 's'}`;

const subject = (text: string): string => {
  const line = inLine(text);
  return line.length > 100 ? `${line.slice(0, 99).toWellFormed()}…` : line;
};
