/**
 * Reads a database's files directly, in a process whose SQLite may have the same files open. When a process closes any descriptor
 * of a file, the operating system drops all locks of that process on the file (fcntl(2), "Advisory record locking"). SQLite's
 * locks are such locks. Without these locks, another process may delete or overwrite records that this process still writes
 * (https://sqlite.org/howtocorrupt.html#_posix_advisory_locks_canceled_by_a_separate_thread_doing_close_).
 *
 * So a descriptor is closed only if this process has no other descriptor of the same file. A descriptor that must not be closed
 * stays open for the next read.
 */
import { closeSync, fstatSync, openSync, readdirSync, readSync, statSync, type Stats } from 'node:fs';

/** Descriptors that stay open because closing them would drop locks of this process, by the file's device and inode. */
const PARKED = new Map<string, number[]>();

const keyOf = ({ dev, ino }: Stats): string => `${dev}:${ino}`;

/** Returns a descriptor of the file for reading. Throws as `openSync` does. */
export function openRaw(path: string): number {
  const file = statSync(path, { throwIfNoEntry: false });
  const parked = file === undefined ? undefined : PARKED.get(keyOf(file))?.pop();
  return parked ?? openSync(path, 'r');
}

/** Closes a descriptor of `openRaw`. If closing would drop locks of this process, keeps the descriptor for the next read. */
export function closeRaw(fd: number): void {
  const file = fstatSync(fd);
  // Windows keeps locks for each handle.
  if (process.platform === 'win32' || !isOpenElsewhere(fd, file)) return closeSync(fd);
  const key = keyOf(file);
  PARKED.set(key, [...(PARKED.get(key) ?? []), fd]);
}

/** Runs work with a descriptor of the file. Throws as `openSync` does. */
export function withRaw<T>(path: string, work: (fd: number) => T): T {
  const fd = openRaw(path);
  try {
    return work(fd);
  } finally {
    closeRaw(fd);
  }
}

/** Returns the first `length` bytes of the file, by default all. Throws as `openSync` does. */
export const readRaw = (path: string, length?: number): Buffer =>
  withRaw(path, (fd) => {
    const bytes = Buffer.alloc(length ?? fstatSync(fd).size);
    let done = 0;
    for (let read = -1; read !== 0 && done < bytes.length; done += read)
      read = readSync(fd, bytes, done, bytes.length - done, done);
    return bytes.subarray(0, done);
  });

/** Folders that list the open descriptors of this process, including those of all its threads: on Linux, and on other systems. */
const LISTS = ['/proc/self/fd', '/dev/fd'];

/** Whether this process has another descriptor of the file. True if the system does not list the descriptors. */
function isOpenElsewhere(own: number, file: Stats): boolean {
  for (const list of LISTS) {
    let names: readonly string[];
    try {
      names = readdirSync(list);
    } catch {
      continue;
    }
    return names.some((name) => {
      const fd = Number(name);
      if (fd === own) return false;
      try {
        return keyOf(fstatSync(fd)) === keyOf(file);
      } catch {
        // The listing's own descriptor is closed by now.
        return false;
      }
    });
  }
  return true;
}
