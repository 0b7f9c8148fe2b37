/** Lets one process at a time change a file of the state folder. */
import { closeSync, openSync, rmSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { makeFolders } from '../input/folders.ts';
import { isFolder } from './repository.ts';

const TRIES = 100;
const AGAIN_MS = 10;
/** A lock of this age belongs to a dead process: a change takes milliseconds. */
const STALE_MS = 5_000;

/**
 * For a process that reads a file of the state folder and writes it with a change: two processes must not undo each other's
 * changes. Returns the release function. If the lock cannot be made, the later write reports the error.
 */
export function lock(file: string): () => void {
  const name = `${file}.lock`;
  for (let tries = 0; tries < TRIES; tries++) {
    try {
      makeFolders(dirname(file));
      closeSync(openSync(name, 'wx', 0o600));
      return () => rmSync(name, { force: true });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST' || !isFolder(dirname(file))) break;
      const since = statSync(name, { throwIfNoEntry: false })?.mtimeMs;
      if (since !== undefined && Math.abs(Date.now() - since) > STALE_MS) rmSync(name, { force: true });
      else Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, AGAIN_MS);
    }
  }
  return () => {};
}
