/** Makes Earpiece's folders. By default, only the owner can read a folder, even with a permissive umask. */
import { chmodSync, existsSync, mkdirSync, readdirSync, rmSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';

/**
 * Makes a folder and its missing parents, with mode 0700 unless another mode is given. Returns the outermost folder that was
 * made; undefined if the folder exists. Node's option `recursive` is not used, because with it `mkdir` never ends if the parent
 * accepts no folders (`/proc`).
 */
export function makeFolders(folder: string, mode = 0o700): string | undefined {
  try {
    mkdirSync(folder, { mode });
    return folder;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EEXIST' && statSync(folder).isDirectory()) return undefined;
    if (code !== 'ENOENT' || existsSync(dirname(folder))) throw error;
    const outermost = makeFolders(dirname(folder), mode);
    const made = makeFolders(folder, mode);
    return outermost ?? made;
  }
}

/**
 * Removes the rights of other users from an existing folder. Returns false if the folder belongs to another user, or if another
 * user may replace the folder in its parent. Returns true on Windows, which has no such rights.
 */
export function keepPrivate(folder: string): boolean {
  const uid = process.getuid?.();
  if (uid === undefined) return true;
  const parent = statSync(dirname(folder));
  const sticky = (parent.mode & 0o1000) !== 0;
  if ((parent.mode & 0o022) !== 0 && !sticky) return false;
  const { uid: owner, mode } = statSync(folder);
  if (owner !== uid) return false;
  if ((mode & 0o077) !== 0) chmodSync(folder, mode & 0o700);
  return true;
}

/**
 * Makes a private folder for files that programs run. Deletes files that other users could have put there. Returns false if the
 * folder stays unsafe.
 */
export function makePrivateCache(folder: string): boolean {
  makeFolders(folder);
  const { mode } = statSync(folder);
  if (!keepPrivate(folder)) return false;
  if (process.getuid !== undefined && (mode & 0o022) !== 0)
    for (const name of readdirSync(folder)) rmSync(join(folder, name), { recursive: true, force: true });
  return true;
}
