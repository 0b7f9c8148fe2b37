/** Finds the repository of a folder. All worktrees of one repository have the same root. */
import { realpathSync, statSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { readLimited } from '../input/index.ts';

/**
 * Finds the root of `folder`, which has `.git` or is outside of any repository. For a worktree, the root is the folder of its
 * repository, without symbolic links. Otherwise the root is `folder` itself. Never throws.
 */
export function rootOf(folder: string): string {
  try {
    const git = join(folder, '.git');
    if (statSync(git).isDirectory()) return folder;
    const [, given] = /^gitdir: (.+)$/m.exec(small(git)) ?? [];
    if (given === undefined) return folder;
    const own = realpathSync(resolve(folder, given.trim()));
    // A clone may claim to be a worktree of another repository, so the files of that repository must confirm the claim.
    if (realpathSync(small(join(own, 'gitdir')).trim()) !== realpathSync(git)) return folder;
    const common = realpathSync(resolve(own, small(join(own, 'commondir')).trim()));
    return basename(common) === '.git' ? dirname(common) : common;
  } catch {
    return folder;
  }
}

/** The maximum size of git's small files, which contain one path each. */
const MAX_BYTES = 65_536;

const small = (file: string): string => readLimited(file, MAX_BYTES).toString('utf8');

export const isFolder = (folder: string): boolean => {
  try {
    return statSync(folder, { throwIfNoEntry: false })?.isDirectory() === true;
  } catch {
    return false;
  }
};
