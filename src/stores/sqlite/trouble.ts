import { EarpieceError } from '../../core/errors.ts';
import { FROZEN, frozenError } from '../moving/marks.ts';
import { Half } from './files.ts';

/** The primary result codes of SQLite that this file treats specially. */
const CODE = {
  PERM: 3,
  BUSY: 5,
  LOCKED: 6,
  NOMEM: 7,
  READONLY: 8,
  IOERR: 10,
  CORRUPT: 11,
  FULL: 13,
  CANTOPEN: 14,
  PROTOCOL: 15,
  AUTH: 23,
  NOTADB: 26,
} as const;

/** SQLite's I/O errors of writes: the disk is full, a quota or limit is reached, or the disk fails. */
const WRITE_ERRORS: ReadonlySet<number> = new Set([
  10 | (3 << 8), // WRITE
  10 | (4 << 8), // FSYNC
  10 | (5 << 8), // DIR_FSYNC
  10 | (6 << 8), // TRUNCATE
  10 | (19 << 8), // SHMSIZE
]);

const errcode = (error: unknown): number | undefined =>
  error instanceof Error && (error as { code?: unknown }).code === 'ERR_SQLITE_ERROR'
    ? (error as Error & { errcode: number }).errcode
    : undefined;

/**
 * Whether another connection holds the lock, or holds deleted files of the database open (`Half`), so that a retry may succeed.
 */
export function isBusy(error: unknown): boolean {
  if (error instanceof Half) return true;
  const code = errcode(error);
  if (code === undefined) return false;
  const primary = code & 0xff;
  return primary === CODE.BUSY || primary === CODE.LOCKED || primary === CODE.PROTOCOL;
}

/**
 * Whether the error is `store_unavailable`, for example because another process held the lock for longer than the caller waits.
 */
export const isUnavailable = (error: unknown): boolean => error instanceof EarpieceError && error.code === 'store_unavailable';

/** Turns an error of SQLite into an `EarpieceError`. Returns locks (`isBusy`), unknown codes and other errors unchanged. */
export function explain(error: unknown, path: string): unknown {
  const code = errcode(error);
  if (code === undefined) return error;
  const said = (error as Error).message;
  const options = { cause: error, data: { path, sqlite: code } };
  const isFull = (code & 0xff) === CODE.FULL;
  if (isFull || WRITE_ERRORS.has(code)) {
    const why = isFull ? 'the disk is full or a quota is reached' : 'the disk is full, a quota is reached, or the disk fails';
    const remedy = isFull ? 'free some space' : 'free some space, or check the disk';
    return new EarpieceError(
      'store_full',
      `the database ${path} cannot be written (${said}): ${why}, but no acknowledged record is lost; ${remedy}`,
      { ...options, retryable: true },
    );
  }
  if (said === FROZEN) return frozenError(`the database ${path}`, error);
  switch (code & 0xff) {
    case CODE.CORRUPT:
      return new EarpieceError(
        'store_corrupt',
        `the database ${path} is damaged (${said}): move the file away with its -wal and -shm files, or restore a backup; \`sqlite3 ${path} .recover\` may save the readable data`,
        options,
      );
    case CODE.NOTADB:
      return new EarpieceError(
        'store_corrupt',
        `${path} is not an SQLite database (${said}): name another file with --db or EARPIECE_DB, or move this file away`,
        options,
      );
    case CODE.PERM:
    case CODE.READONLY:
    case CODE.CANTOPEN:
    case CODE.AUTH:
      return new EarpieceError(
        'store_refused',
        `the database ${path} cannot be opened for writing (${said}): give this user read and write access to the file and its folder. Or name another file with --db or EARPIECE_DB`,
        options,
      );
    case CODE.IOERR:
    case CODE.NOMEM:
      return new EarpieceError(
        'store_unavailable',
        `the database ${path} could not be read (${said}): check the disk and try again`,
        {
          ...options,
          retryable: true,
        },
      );
    default:
      return error;
  }
}

/** Makes the error for a database that stays locked. `last`: the error of the last attempt. */
export const busyFor = (path: string, ms: number, last: unknown): EarpieceError =>
  last instanceof Half
    ? last.error
    : new EarpieceError(
        'store_unavailable',
        `the database ${path} stayed locked by another process for ${Math.round(ms)} ms: try again, or find that process (\`fuser ${path}\`)`,
        { retryable: true, data: { path, written: false } },
      );
