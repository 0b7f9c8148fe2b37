/** Compares two states of a repository, without I/O. */
import type { Conflict, GitState, Upstream } from './state.ts';

/** The states that were emitted and have not ended: a conflict, and the name of a moved upstream. */
export type Told = { readonly conflict: boolean; readonly upstream: string | undefined };

export const NOTHING_TOLD: Told = { conflict: false, upstream: undefined };

export type Change =
  | {
      readonly kind: 'switched';
      readonly from: string;
      readonly to: string;
      readonly detached: boolean;
      readonly wasDetached: boolean;
    }
  /** The upstream has moved. `before` is its earlier commit. */
  | {
      readonly kind: 'moved';
      readonly branch: string;
      readonly upstream: Upstream & { readonly at: string };
      readonly before: string;
    }
  /** The branch contains all commits of the moved upstream. */
  | { readonly kind: 'up_to_date'; readonly branch: string; readonly upstream: string }
  | { readonly kind: 'conflict'; readonly conflict: Conflict }
  | { readonly kind: 'resolved' };

export function changesBetween(before: GitState, now: GitState, told: Told): readonly Change[] {
  return [...switched(before, now), ...upstream(before, now, told), ...conflict(before, now, told)];
}

function switched(before: GitState, now: GitState): readonly Change[] {
  const same = before.branch === undefined ? now.branch === undefined && before.head === now.head : before.branch === now.branch;
  if (same) return [];
  const [detached, wasDetached] = [now.branch === undefined, before.branch === undefined];
  return [{ kind: 'switched', from: nameOf(before), to: nameOf(now), detached, wasDetached }];
}

const nameOf = ({ branch, head }: GitState): string => branch ?? head?.slice(0, 10) ?? 'nothing';

function upstream(before: GitState, now: GitState, told: Told): readonly Change[] {
  const [was, is] = [before.upstream, now.upstream];
  if (now.branch === undefined || is?.at === undefined) return [];
  if (is.behind === 0) return told.upstream === is.name ? [{ kind: 'up_to_date', branch: now.branch, upstream: is.name }] : [];
  // After a switch of the branch, a different upstream commit does not mean that an upstream has moved.
  if (before.branch !== now.branch || was?.at === undefined || was.name !== is.name || was.at === is.at) return [];
  return [{ kind: 'moved', branch: now.branch, upstream: { ...is, at: is.at }, before: was.at }];
}

/**
 * Returns the changes of a conflict. A conflict is emitted again if more files conflict or another step conflicts, but not while
 * its files are resolved one by one.
 */
function conflict(before: GitState, now: GitState, told: Told): readonly Change[] {
  const [was, is] = [before.conflict, now.conflict];
  if (is === undefined) return told.conflict ? [{ kind: 'resolved' }] : [];
  const known = was?.operation === is.operation && was.step === is.step ? new Set(was.files) : new Set<string>();
  return is.files.every((file) => known.has(file)) ? [] : [{ kind: 'conflict', conflict: is }];
}

export function toldAfter(told: Told, change: Change): Told {
  switch (change.kind) {
    case 'switched':
      return told;
    case 'moved':
      return { ...told, upstream: change.upstream.name };
    case 'up_to_date':
      return { ...told, upstream: undefined };
    case 'conflict':
      return { ...told, conflict: true };
    case 'resolved':
      return { ...told, conflict: false };
  }
}
