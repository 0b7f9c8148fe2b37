/** Finds out whether a word names a branch of a repository. */
import { gitIn } from '../../git/index.ts';

/** Whether the repository of this folder has a local or remote branch of this name. Undefined if `git` does not answer. */
export async function isKnownBranch(folder: string, word: string): Promise<boolean | undefined> {
  const answer = await gitIn(folder)(['for-each-ref', '--format=%(refname)', 'refs/heads', 'refs/remotes']);
  if (answer.kind !== 'ok') return undefined;
  return answer.out.split('\n').some((ref) => ref.replace(/^refs\/(?:heads|remotes\/[^/]+)\//u, '') === word);
}
