/**
 * Checks a folder that a program names. Without this check, a misspelt path would be watched, or would become a project's name,
 * without an error.
 */
import { statSync } from 'node:fs';
import { bad } from './arguments.ts';

/** Throws `bad_argument` if the path is not a folder. */
export function checkFolder(call: string, name: string, path: string): void {
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory() === true) return;
  throw bad(
    `${call}: ${name} ${JSON.stringify(path.slice(0, 200))} is not a folder; create the folder first, or name another folder`,
    name,
  );
}
