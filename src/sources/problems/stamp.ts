/** Finds out whether a file of a problem has changed since the program printed the problem. */
import { readdirSync, statSync, type Stats } from 'node:fs';
import { basename, dirname, resolve } from 'node:path';
import type { Problem } from './problem.ts';

/** A relative path that a build cannot find, as in `Failed to resolve import "./missing" from "src/a.ts"`. */
const UNRESOLVED = /resolve (?:import )?["'](?<path>\.{1,2}\/[^"']+)["']/u;

/**
 * Returns a function that gives a text for a file. The text changes when the file changes, or when a missing import of the file
 * is created. The text is undefined if the file does not exist.
 */
export const stampIn =
  (folder: string) =>
  (file: string, { message }: Problem): string | undefined => {
    const path = resolve(folder, file);
    const stats = statsOf(path);
    if (stats === undefined) return undefined;
    const wanted = UNRESOLVED.exec(message)?.groups?.['path'];
    const isThere = wanted !== undefined && exists(resolve(dirname(path), wanted));
    return `${stats.mtimeMs} ${stats.size}${isThere ? ' found' : ''}`;
  };

/** Returns the state of a file or folder. A program may print any text as a path, so any error means that the file is missing. */
export function statsOf(path: string): Stats | undefined {
  try {
    return statSync(path);
  } catch {
    return undefined;
  }
}

/** Whether a file exists at this path, with any extension. */
function exists(path: string): boolean {
  try {
    const name = basename(path);
    return readdirSync(dirname(path)).some((each) => each === name || each.startsWith(`${name}.`));
  } catch {
    return false;
  }
}
