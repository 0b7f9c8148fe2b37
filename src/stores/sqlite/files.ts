/**
 * Compares and renames the files of one database: the main file, its `-wal` and its `-shm`. Processes that have opened different
 * inodes of these files overwrite each other, and the last process to close discards the records of the other processes. So each
 * process compares its open files with the files at the path.
 */
import { lstatSync, realpathSync, renameSync, statSync, type Stats } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { EarpieceError } from '../../core/errors.ts';
import { readRaw } from './raw-file.ts';

export type Files = {
  readonly main: string;
  readonly wal: string;
  readonly shm: string;
  /** The size of the main file, in bytes. */
  readonly size: number;
};

const NONE = 'none';

/**
 * Returns the identities of the three files, and the size of the main file. `real`: the path with its links followed, because
 * SQLite puts the `-wal` and `-shm` files beside the real file.
 */
export function filesAt(path: string, real: string): Files {
  const main = statSync(path, { throwIfNoEntry: false });
  return { main: identity(main), wal: identityOf(`${real}-wal`), shm: identityOf(`${real}-shm`), size: main?.size ?? 0 };
}

/** Returns the path with its links followed, even if no file exists yet. */
export function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}

const identityOf = (path: string): string => identity(statSync(path, { throwIfNoEntry: false }));
const identity = (file: Stats | undefined): string => (file === undefined ? NONE : `${file.dev}:${file.ino}`);

/**
 * The age of a folder's last change, in ms, from which on the next change certainly gives the folder other times. FAT stores
 * times in steps of two seconds.
 */
const SETTLED_MS = 3_000;

/**
 * Notices changes in the folder of the three files. The folder's times change when an entry is made, deleted or renamed, so one
 * check of the folder replaces the three checks of `filesAt`.
 */
export class Folder {
  readonly #path: string | undefined;
  /** The folder's state. Undefined if a further change might leave its times as they are. */
  #seen: Stats | undefined;

  /** `real`: the path with its links followed. */
  constructor(path: string, real: string) {
    const folder = dirname(path);
    // If the file is a link, its folder does not show changes of the linked file. Windows updates a folder's times late.
    const isHere = join(realPath(folder), basename(path)) === real && process.platform !== 'win32';
    this.#path = isHere ? folder : undefined;
  }

  /** Remembers the folder's state. Call this method before the files are checked. */
  note(): void {
    const now = this.#stat();
    this.#seen = now !== undefined && Date.now() - Math.min(now.mtimeMs, now.ctimeMs) > SETTLED_MS ? now : undefined;
  }

  /** Whether the folder has the same files as at the last `note`. False if the folder's state is unknown. */
  isSame(): boolean {
    const seen = this.#seen;
    if (seen === undefined) return false;
    const now = this.#stat();
    // Both times are compared: a program may reset the modification time, but no program can set the change time.
    return (
      now !== undefined &&
      now.mtimeMs === seen.mtimeMs &&
      now.ctimeMs === seen.ctimeMs &&
      now.ino === seen.ino &&
      now.dev === seen.dev
    );
  }

  #stat(): Stats | undefined {
    return this.#path === undefined ? undefined : statSync(this.#path, { throwIfNoEntry: false });
  }
}

export type Change =
  | { readonly kind: 'same' }
  /** The path names another file, or no file. */
  | { readonly kind: 'moved'; readonly deleted: boolean }
  /**
   * The main file is the opened file, but the named companions were deleted. Processes that have the companions open still have
   * all data.
   */
  | { readonly kind: 'half'; readonly missing: readonly string[] }
  /** Another program opened the database after its companions were deleted, so the two processes overwrite each other. */
  | { readonly kind: 'split'; readonly replaced: readonly string[] };

export function changeOf(opened: Files, now: Files): Change {
  if (now.main !== opened.main) return { kind: 'moved', deleted: now.main === NONE };
  const sides = (['wal', 'shm'] as const).filter((side) => now[side] !== opened[side]);
  if (sides.length === 0) return { kind: 'same' };
  const replaced = sides.filter((side) => now[side] !== NONE).map((side) => `-${side}`);
  if (replaced.length > 0) return { kind: 'split', replaced };
  return { kind: 'half', missing: sides.map((side) => `-${side}`) };
}

/**
 * Returns the companions that a main file lacks: `-wal`, `-shm`, both or none. A file that is not in WAL mode lacks no
 * companion.
 */
export function missingAt(path: string): readonly string[] {
  const { main, wal, shm } = filesAt(path, realPath(path));
  if (main === NONE || headerOf(path)?.wal !== true) return [];
  return [...(wal === NONE ? ['-wal'] : []), ...(shm === NONE ? ['-shm'] : [])];
}

const HEADER = Buffer.from('SQLite format 3\0');

/** Reads the header of a database. Undefined for an empty file or a file of another kind. */
export function headerOf(path: string): { readonly wal: boolean; readonly pageSize: number; readonly bytes: number } | undefined {
  const start = readRaw(path, 100);
  if (start.length < 28 || !start.subarray(0, 16).equals(HEADER)) return undefined;
  const bytes = Buffer.concat([start], 100);
  const pageSize = bytes.readUInt16BE(16) === 1 ? 65_536 : bytes.readUInt16BE(16);
  // The page count is valid only if it was written together with the last change.
  const counted = bytes.readUInt32BE(24) === bytes.readUInt32BE(92) ? bytes.readUInt32BE(28) : 1;
  return { wal: bytes[18] === 2 && bytes[19] === 2, pageSize, bytes: pageSize * counted };
}

/**
 * Renames a `-wal` or `-shm` that has no main file, and returns the new paths. SQLite would read such a file into the new
 * database, or delete it.
 */
export function setAside(path: string): readonly string[] {
  if (lstatSync(path, { throwIfNoEntry: false }) !== undefined) return [];
  const real = realPath(path);
  return (['wal', 'shm'] as const).flatMap((side) => renamed(real, side));
}

/**
 * Renames the companions that belong to `opened`, whose main file was replaced, and returns the new paths. SQLite would read the
 * old `-wal` into the new main file. Another process may have renamed the companions first, and may have made new companions.
 */
export function setAsideOf(opened: Files, real: string): readonly string[] {
  const now = filesAt(real, real);
  if (now.main === NONE || now.main === opened.main) return [];
  return (['wal', 'shm'] as const).flatMap((side) =>
    now[side] !== NONE && now[side] === opened[side] ? renamed(real, side) : [],
  );
}

/** Whether a companion at the path is not the opened file. */
export const hasOthers = (opened: Files, now: Files): boolean =>
  (['wal', 'shm'] as const).some((side) => now[side] !== NONE && now[side] !== opened[side]);

function renamed(real: string, side: 'wal' | 'shm'): readonly string[] {
  const from = `${real}-${side}`;
  const to = `${real}.left-${Date.now()}-${side}`;
  try {
    renameSync(from, to);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
  return [to];
}

/**
 * The error while other processes still have deleted files of this database open. These processes notice the deletion within a
 * second, so a later retry succeeds.
 */
export class Half extends Error {
  readonly error: EarpieceError;

  constructor(path: string, missing: readonly string[]) {
    const files = missing.map((side) => `${path}${side}`).join(' and ');
    super(`${files} missing`);
    this.error = new EarpieceError(
      'store_unavailable',
      `${files} ${missing.length === 1 ? 'was' : 'were'} deleted while a program uses the database. Nothing was written. Try again: the program restores the file within a second of its next use; if that fails, stop the program (\`fuser ${path}\`)`,
      { retryable: true, data: { path } },
    );
  }
}

export const splitError = (path: string, replaced: readonly string[]): EarpieceError => {
  const files = replaced.map((side) => `${path}${side}`).join(' and ');
  return new EarpieceError(
    'store_unavailable',
    `${files} ${replaced.length === 1 ? 'was' : 'were'} replaced while this process (${process.pid}) uses the database. This process writes nothing more to the database: restart the process`,
    { data: { path } },
  );
};
