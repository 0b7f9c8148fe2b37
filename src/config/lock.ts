/** Locks files of the state folder, so that processes change a file one after the other. */
import { randomUUID } from 'node:crypto';
import { readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { makeFolders } from '../input/folders.ts';
import { isFolder } from './repository.ts';

/** The age at which a lock is removed. A change takes milliseconds, so an older lock belongs to a dead process. */
const STALE_MS = 5_000;
const AGAIN_MS = 10;
/** A lock of a dead process is stale after half of these tries. */
const TRIES = (2 * STALE_MS) / AGAIN_MS;

/**
 * Locks a file of the state folder while this process reads and changes the file, so that two processes do not undo each other's
 * changes. Returns the release function. Waits until the other process releases its lock, or until that lock is stale. If other
 * processes lock the file again and again for ten seconds, continues without the lock. If the lock cannot be created, the later
 * write of the file reports the error.
 */
export function lock(file: string): () => void {
  const name = `${file}.lock`;
  const token = randomUUID();
  for (let tries = 0; tries < TRIES; tries++) {
    try {
      makeFolders(dirname(file));
      writeFileSync(name, token, { flag: 'wx', mode: 0o600 });
      return () => {
        if (contentOf(name) === token) rmSync(name, { force: true });
      };
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST' || !isFolder(dirname(file))) break;
      const since = statSync(name, { throwIfNoEntry: false })?.mtimeMs;
      if (since !== undefined && Math.abs(Date.now() - since) > STALE_MS) rmSync(name, { force: true });
      else Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, AGAIN_MS);
    }
  }
  return () => {};
}

function contentOf(name: string): string | undefined {
  try {
    return readFileSync(name, 'utf8');
  } catch {
    // Another process removed this lock as stale, and has released its own lock since.
    return undefined;
  }
}
