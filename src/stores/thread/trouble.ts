/**
 * Makes the errors of a store in a thread: it was closed, the thread does not answer or has ended, or the thread's file is
 * missing.
 */
import { EarpieceError } from '../../core/errors.ts';

export const closed = (path: string): EarpieceError =>
  new EarpieceError('store_unavailable', `the database ${path} was closed by this process: open the database again`);

export const stopped = (path: string, ms: number): EarpieceError =>
  new EarpieceError(
    'store_unavailable',
    `the database ${path} did not answer within ${Math.round(ms)} ms: the disk does not answer or is very slow, or another process holds the lock of the database; try again`,
    { retryable: true, data: { path } },
  );

export const lost = (path: string, why: string): EarpieceError =>
  new EarpieceError(
    'store_unavailable',
    `the thread of the database ${path} has ended (${why}); the next call starts the thread again, and no acknowledged record is lost`,
    { retryable: true, data: { path } },
  );

/** The error for a package without the file of the thread: a repeated call fails too. */
export const fileless = (path: string): EarpieceError =>
  new EarpieceError(
    'store_unavailable',
    `the database ${path} cannot be opened, because the package lacks the file of the database's thread; install earpiece again`,
    { data: { path } },
  );
