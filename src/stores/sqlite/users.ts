/** Finds the other processes that have a database file open. */
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { basename } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import { realPath } from './files.ts';
import { isBusy } from './trouble.ts';

/** `opening.ts` explains why `node:sqlite` is read from `process`. */
const sqlite = process.getBuiltinModule('node:sqlite');

/**
 * Describes the other processes that have the file open, such as `earpiece serve (process 812)`. This process must have closed
 * the file. Only Linux shows the names of processes, and only if this user may examine the processes.
 */
export function usersOf(path: string): readonly string[] {
  const file = realPath(path);
  const named = processes().flatMap((pid) => (pid !== process.pid && hasOpen(pid, file) ? [nameOf(pid)] : []));
  if (named.length > 0 || !isOpenElsewhere(file)) return named;
  return [`another process (to find that process: fuser ${file})`];
}

function processes(): readonly number[] {
  try {
    return readdirSync('/proc')
      .filter((name) => /^\d+$/u.test(name))
      .map(Number);
  } catch {
    return [];
  }
}

function hasOpen(pid: number, file: string): boolean {
  try {
    return readdirSync(`/proc/${pid}/fd`).some((fd) => linkOf(`/proc/${pid}/fd/${fd}`) === file);
  } catch {
    return false;
  }
}

function linkOf(path: string): string | undefined {
  try {
    return readlinkSync(path);
  } catch {
    return undefined;
  }
}

/** Names a process without the arguments of its command line, because an argument may be a secret. */
function nameOf(pid: number): string {
  const words = wordsOf(pid);
  const entry = words.findIndex((word) => /(?:^|\/)(?:earpiece|cli\/main\.[jt]s)$/u.test(word));
  const command = words.slice(entry + 1).find((word) => /^[a-z][a-z-]*$/u.test(word));
  const name = entry === -1 ? basename(words[0] ?? 'a program') : `earpiece${command === undefined ? '' : ` ${command}`}`;
  return `${name} (process ${pid})`;
}

function wordsOf(pid: number): readonly string[] {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0').filter(Boolean);
  } catch {
    return [];
  }
}

/**
 * Whether a connection of another process is open: each open connection holds a lock that refuses this exclusive lock. The migration
 * itself reports a file that cannot be opened.
 */
function isOpenElsewhere(file: string): boolean {
  let db: DatabaseSync | undefined;
  try {
    db = new sqlite.DatabaseSync(file, { timeout: 0, defensive: true });
    db.exec('PRAGMA locking_mode = EXCLUSIVE');
    db.prepare('SELECT 1 FROM sqlite_schema LIMIT 1').get();
    return false;
  } catch (error) {
    return isBusy(error);
  } finally {
    db?.close();
  }
}
