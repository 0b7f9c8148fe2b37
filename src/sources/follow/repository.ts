/**
 * Follows the repository of a folder, and reports a switched branch, a moved upstream and a conflict. The events are the same as
 * those of the git source of `earpiece chat`.
 */
import { EarpieceError } from '../../core/errors.ts';
import type { EventInput } from '../../core/event.ts';
import type { Json } from '../../core/json.ts';
import { changesBetween, gitEvent, gitIn, detailsOf, NOTHING_TOLD, placesOf, readState, toldAfter } from '../git/index.ts';
import type { GitState, Told } from '../git/index.ts';
import { CannotLook, type Follower } from './follower.ts';
import type { What } from './list.ts';

const EVERY_MS = 5_000;
/** The time until the next check while git works on the repository. */
const SOON_MS = 500;

type Seen = { readonly git: GitState; readonly told: Told; readonly doubted: boolean };

export function gitFollower({ folder }: Extract<What, { kind: 'git' }>): Follower {
  const git = gitIn(folder);
  return {
    look: async (state) => {
      const before = state as unknown as Seen | undefined;
      const places = await placesOf(git, folder);
      if (places.kind === 'trouble') throw new CannotLook(places.line, { lasting: true });
      const found = await readState(git, places.value);
      if (found.kind === 'trouble') throw new CannotLook(found.line);
      const soon = { standing: [], news: [], summary: 'git is changing the repository', againMs: SOON_MS };
      if (found.kind === 'moving') return { ...soon, state: state ?? null };
      const now = found.value;
      // While git works, a check may find an incomplete change, such as a conflict of an unknown operation.
      if (before !== undefined && now.conflict?.operation === 'other' && !before.doubted)
        return { ...soon, state: { ...before, doubted: true } as unknown as Json };
      const events: EventInput[] = [];
      let told = before?.told ?? NOTHING_TOLD;
      for (const change of before === undefined ? [] : changesBetween(before.git, now, told)) {
        const details = await detailsOf(git, change);
        if (details === undefined) continue;
        told = toldAfter(told, change);
        events.push({ ...gitEvent(places.value.top, change, details, false), source: 'git', subject: '' });
      }
      return {
        standing: [],
        news: [],
        events,
        state: { git: now, told, doubted: false } as unknown as Json,
        summary: summaryOf(now),
        againMs: EVERY_MS,
      };
    },
  };
}

/** Throws `bad_argument` if git knows no repository at this folder. `by`: the option or command that the error names. */
export async function checkRepository(folder: string, by: string): Promise<void> {
  const places = await placesOf(gitIn(folder), folder);
  if (places.kind === 'found') return;
  throw new EarpieceError(
    'bad_argument',
    `${by}: ${places.why}; use a folder in the work tree of a repository, with git on the PATH`,
  );
}

function summaryOf({ branch, upstream, conflict }: GitState): string {
  const behind = upstream === undefined || upstream.behind === 0 ? '' : `, ${upstream.behind} behind ${upstream.name}`;
  const count = conflict?.files.length ?? 0;
  const conflicts = conflict === undefined ? '' : `, ${count} ${count === 1 ? 'file' : 'files'} in conflict`;
  return `${branch ?? 'a detached HEAD'}${behind}${conflicts}`;
}
