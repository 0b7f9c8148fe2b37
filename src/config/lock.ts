/** Locks files of the state folder, so that processes change a file one after the other. */
import { closeSync, openSync, rmSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { makeFolders } from '../input/folders.ts';
import { isFolder } from './repository.ts';

const TRIES = 100;
const AGAIN_MS = 10;
/** The age at which a lock is removed. A change takes milliseconds, so an older lock belongs to a dead process. */
const STALE_MS = 5_000;

/**
 * Locks a file of the state folder while this process reads and changes the file, so that two processes do not undo each other's
 * changes. Returns the release function. Waits at most about a second for another process, and then continues without the lock.
 * If the lock cannot be created, the later write of the file reports the error.
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
