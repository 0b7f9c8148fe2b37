/**
 * Finds a log file under its new name. A rotation renames the file between two checks, and its last lines would otherwise be
 * lost.
 */
import { closeSync, constants, fstatSync, lstatSync, openSync, readdirSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { realOf } from './links.ts';

/** The maximum number of files in a folder whose inode is compared. */
const MAX_NAMES = 1_000;

/**
 * Opens the file with this inode in the folder of `file`, or of the file to which `file` links. Undefined if no such file can be
 * read.
 */
export function openRotated(file: string, ino: number): number | undefined {
  for (const path of new Set([file, targetOf(file)])) {
    for (const name of namesLike(path)) {
      const opened = openIf(join(dirname(path), name), ino);
      if (opened !== undefined) return opened;
    }
  }
  return undefined;
}

/**
 * Returns the file at the end of the path's links; without a link, the path itself. The file may not exist, because a rotation may
 * have renamed it.
 */
function targetOf(file: string): string {
  const real = realOf(file, () => true);
  return real.kind === 'path' ? real.path : file;
}

/**
 * Returns names in the folder of the file, up to the limit. The names that share the longest beginning with the name of the
 * file are first, such as `app.log.1`. Among equals, the shortest name is first. Among names of one length, the name with the
 * latest date is first.
 */
function namesLike(file: string): readonly string[] {
  const own = basename(file);
  try {
    return readdirSync(dirname(file))
      .map((name) => ({ name, shared: sharedLength(name, own) }))
      .toSorted((a, b) => b.shared - a.shared || a.name.length - b.name.length || (a.name < b.name ? 1 : -1))
      .slice(0, MAX_NAMES)
      .map(({ name }) => name);
  } catch {
    return [];
  }
}

function sharedLength(a: string, b: string): number {
  let length = 0;
  while (length < a.length && a[length] === b[length]) length++;
  return length;
}

function openIf(path: string, ino: number): number | undefined {
  try {
    if (lstatSync(path).ino !== ino) return undefined;
    const opened = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    const stat = fstatSync(opened);
    if (stat.isFile() && stat.ino === ino) return opened;
    closeSync(opened);
  } catch {
    // The file disappeared, or may not be read.
  }
  return undefined;
}
