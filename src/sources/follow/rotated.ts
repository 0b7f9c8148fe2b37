/**
 * Finds a log file under its new name. A rotation renames the file between two checks, and its last lines would otherwise be
 * lost.
 */
import { closeSync, constants, fstatSync, lstatSync, openSync, readdirSync, realpathSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** The maximum number of names in a folder that are compared. */
const MAX_NAMES = 1_000;

/** Opens the file with this inode in the folder of `file`. Undefined if no such file can be read. */
export function openRotated(file: string, ino: number): number | undefined {
  for (const folder of new Set([dirname(file), realFolderOf(file)])) {
    for (const name of namesIn(folder)) {
      const opened = openIf(join(folder, name), ino);
      if (opened !== undefined) return opened;
    }
  }
  return undefined;
}

/** The folder of the file to which the path may link. */
function realFolderOf(file: string): string {
  try {
    return dirname(realpathSync(file));
  } catch {
    return dirname(file);
  }
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder).slice(0, MAX_NAMES);
  } catch {
    return [];
  }
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
