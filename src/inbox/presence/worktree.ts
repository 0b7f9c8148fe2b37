import { existsSync, realpathSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** Returns the root of the git worktree that contains `folder`. Outside of a worktree, returns `folder`. */
export function worktreeOf(folder: string): string {
  const start = real(folder);
  for (let at = start; ; at = dirname(at)) {
    if (existsSync(join(at, '.git'))) return at;
    if (dirname(at) === at) return start;
  }
}

function real(folder: string): string {
  try {
    return realpathSync(folder);
  } catch {
    return folder;
  }
}
