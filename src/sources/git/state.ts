/**
 * Reads the relevant state of a repository from git. Never reads the files of the work tree, because these reads would take long.
 */
import { existsSync, readFileSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';

import type { Answer, Git } from './command.ts';

/**
 * The folders of a repository. `own` is git's folder for this work tree, and `common` is git's folder for the whole repository.
 * In the main work tree, `own` and `common` are the same folder.
 */
export type Places = { readonly top: string; readonly own: string; readonly common: string };

export type GitState = {
  /** The branch, or during a rebase the rebased branch; undefined if HEAD is detached. */
  readonly branch: string | undefined;
  /** The commit of HEAD; undefined if there is no commit yet. */
  readonly head: string | undefined;
  readonly upstream: Upstream | undefined;
  readonly conflict: Conflict | undefined;
};

/** The upstream of the branch. `at` is the commit of the remote-tracking branch, or undefined if that branch was deleted. */
export type Upstream = {
  readonly name: string;
  readonly at: string | undefined;
  readonly ahead: number;
  readonly behind: number;
};

export const OPERATIONS = ['merge', 'rebase', 'am', 'cherry-pick', 'revert', 'other'] as const;
export type Operation = (typeof OPERATIONS)[number];

/** A conflict. `step` is the applied commit or the number of the patch, which distinguishes two conflicts of one rebase. */
export type Conflict = { readonly operation: Operation; readonly step: string | undefined; readonly files: readonly string[] };

export type Found<T> = { readonly kind: 'found'; readonly value: T } | { readonly kind: 'trouble'; readonly line: string };

/** `why`: why the folders cannot be found. `line`: this reason with its consequence for a watcher. */
type Placed =
  | { readonly kind: 'found'; readonly value: Places }
  | { readonly kind: 'trouble'; readonly why: string; readonly line: string };

export async function placesOf(git: Git, root: string): Promise<Placed> {
  const none = (why: string): Placed => ({ kind: 'trouble', why, line: `${why}; nothing is watched` });
  if (!existsSync(root)) return none(`${root} does not exist`);
  const answer = await git(['rev-parse', '--show-toplevel', '--absolute-git-dir', '--git-common-dir']);
  if (answer.kind === 'missing') return none('git is not installed, or not in the PATH');
  if (answer.kind !== 'ok') {
    if (/not a git repository/i.test(because(answer))) return none(`${root} is not a git repository`);
    const why = `${root} cannot be watched: ${because(answer)}`;
    return { kind: 'trouble', why, line: why };
  }
  const [top = '', own = '', common = ''] = answer.out.split('\n');
  return { kind: 'found', value: { top, own, common: resolve(root, common) } };
}

/**
 * Reads the state, at most three times, until git does not change the repository during a read. `moving`: git changed the
 * repository during each read.
 */
export async function readState(git: Git, places: Places): Promise<Found<GitState> | { readonly kind: 'moving' }> {
  for (let tries = 0; tries < 3; tries++) {
    const before = stampOf(places);
    const found = await readOnce(git, places);
    if (stampOf(places) === before) return found;
  }
  return { kind: 'moving' };
}

const STAMPED = [
  'HEAD',
  'index',
  'MERGE_HEAD',
  'CHERRY_PICK_HEAD',
  'REVERT_HEAD',
  'rebase-merge',
  'rebase-apply',
  'reftable/tables.list',
];

/**
 * Returns a text that changes when git writes a part of the state. If the text changes during the reads, the parts may not fit
 * together.
 */
const stampOf = ({ own }: Places): string =>
  STAMPED.map((name) => {
    const stats = statSync(join(own, name), { bigint: true, throwIfNoEntry: false });
    return stats === undefined ? '-' : `${stats.ino}:${stats.size}:${stats.mtimeNs}`;
  }).join(' ');

async function readOnce(git: Git, { own }: Places): Promise<Found<GitState>> {
  const [pointer, commit, unmerged] = await Promise.all([
    git(['symbolic-ref', '-q', 'HEAD']),
    git(['rev-parse', '-q', '--verify', 'HEAD^{commit}']),
    git(['ls-files', '--unmerged', '-z', '--full-name', '--', ':/']),
  ]);
  // The first command ends with exit code 1 if HEAD is detached, the second if there is no commit yet.
  for (const answer of [pointer, commit])
    if (answer.kind !== 'ok' && !(answer.kind === 'failed' && answer.code === 1)) return troubled(answer);
  if (unmerged.kind !== 'ok') return troubled(unmerged);

  const under = operationIn(own);
  const ref = pointer.kind === 'ok' ? pointer.out.trim() : under.rebased;
  const upstream = ref === undefined ? ({ kind: 'found', value: undefined } as const) : await upstreamOf(git, ref);
  if (upstream.kind === 'trouble') return upstream;
  const files = [...new Set(unmerged.out.split('\0').flatMap((line) => line.split('\t').slice(1)))];
  return {
    kind: 'found',
    value: {
      branch: ref?.replace(/^refs\/heads\//, ''),
      head: commit.kind === 'ok' ? commit.out.trim() : undefined,
      upstream: upstream.value,
      conflict: files.length === 0 ? undefined : { operation: under.operation, step: under.step, files },
    },
  };
}

async function upstreamOf(git: Git, ref: string): Promise<Found<Upstream | undefined>> {
  const format = '%(upstream)%00%(upstream:short)%00%(upstream:track,nobracket)';
  const answer = await git(['for-each-ref', `--format=${format}`, ref]);
  if (answer.kind !== 'ok') return troubled(answer);
  const [full = '', name = '', track = ''] = (answer.out.split('\n', 1)[0] ?? '').split('\0');
  if (full === '') return { kind: 'found', value: undefined };
  const at = await git(['rev-parse', '-q', '--verify', `${full}^{commit}`]);
  if (at.kind !== 'ok' && at.kind !== 'failed') return troubled(at);
  const count = (word: string): number => Number(new RegExp(`${word} (\\d+)`).exec(track)?.[1] ?? 0);
  return {
    kind: 'found',
    value: { name, at: at.kind === 'ok' ? at.out.trim() : undefined, ahead: count('ahead'), behind: count('behind') },
  };
}

/** Finds the unfinished operation by the files that the operation leaves in git's folder, as git's own prompt does. */
function operationIn(own: string): {
  readonly operation: Operation;
  readonly step?: string | undefined;
  readonly rebased?: string | undefined;
} {
  const read = (name: string): string | undefined => {
    try {
      return readFileSync(join(own, name), 'utf8').trim();
    } catch {
      return undefined;
    }
  };
  for (const folder of ['rebase-merge', 'rebase-apply']) {
    if (!existsSync(join(own, folder))) continue;
    const name = read(`${folder}/head-name`);
    return {
      operation: existsSync(join(own, folder, 'applying')) ? 'am' : 'rebase',
      step: read('REBASE_HEAD') ?? read(`${folder}/next`),
      rebased: name?.startsWith('refs/') ? name : undefined,
    };
  }
  const [operation, step] =
    (
      [
        ['merge', read('MERGE_HEAD')],
        ['cherry-pick', read('CHERRY_PICK_HEAD')],
        ['revert', read('REVERT_HEAD')],
      ] as const
    ).find(([, commit]) => commit !== undefined) ?? (['other', undefined] as const);
  return { operation, step };
}

/** Returns the last move of HEAD from git's reflog: its author and its description. */
export async function lastMove(git: Git): Promise<{ readonly by: string; readonly what: string } | undefined> {
  const answer = await git(['log', '-g', '-1', '--format=%gn%x00%gs', 'HEAD', '--']);
  const [by, what] = answer.kind === 'ok' ? answer.out.trim().split('\0') : [];
  return by === undefined || what === undefined ? undefined : { by, what };
}

export type Arrived = { readonly commits: readonly string[]; readonly count: number; readonly rewritten: boolean };

/**
 * Returns the number of commits between two commits of the upstream, the subjects of the newest five, and whether older commits
 * have left the upstream.
 */
export async function arrivedBetween(git: Git, from: string, to: string): Promise<Arrived> {
  const [log, counts] = await Promise.all([
    git(['log', '-5', '--format=%s', `${from}..${to}`, '--']),
    git(['rev-list', '--left-right', '--count', `${from}...${to}`, '--']),
  ]);
  const commits = log.kind === 'ok' ? log.out.split('\n').filter((line) => line !== '') : [];
  const [left, right] = counts.kind === 'ok' ? counts.out.trim().split(/\s+/).map(Number) : [];
  return { commits, count: right ?? commits.length, rewritten: (left ?? 0) > 0 };
}

const troubled = (answer: Exclude<Answer, { kind: 'ok' }>): { readonly kind: 'trouble'; readonly line: string } => ({
  kind: 'trouble',
  line: because(answer),
});

export function because(answer: Exclude<Answer, { kind: 'ok' }>): string {
  switch (answer.kind) {
    case 'failed':
      return answer.line;
    case 'missing':
      return 'git is not in the PATH, or the watched folder does not exist';
    case 'stopped':
      return answer.why === 'timeout' ? 'git did not answer in time' : 'git was stopped';
  }
}
