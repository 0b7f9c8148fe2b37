/** Gives the space of removed records back to the file system, while other processes go on. */
import type { Database } from './database.ts';

/** What the main file takes on the disk, in bytes. */
export type Compacted = {
  readonly before: number;
  readonly after: number;
  /** Bytes that the file keeps though nothing is in them: it was made by 0.0.0 and is too large to be written anew. */
  readonly unused: number;
};

/** Pages given back in one transaction: some milliseconds. */
const STEP_PAGES = 1_000;
/** A file that cannot be shrunk in steps is written anew in one transaction, which stops other writers: about a second for this size. */
const MAX_REWRITE = 256 * 1_048_576;

const number = (db: Database, pragma: string): number => {
  const [value] = Object.values(db.get<Record<string, number>>(`PRAGMA ${pragma}`) ?? {});
  return value ?? 0;
};

export const fileBytes = (db: Database): number => number(db, 'page_count') * number(db, 'page_size');

/** What `compactStep` cannot give back. */
export const unusedBytes = (db: Database): number =>
  number(db, 'auto_vacuum') === 2 ? 0 : number(db, 'freelist_count') * number(db, 'page_size');

/** One step. False when nothing is left to do. Not inside a transaction. */
export function compactStep(db: Database, maxRewrite = MAX_REWRITE): boolean {
  const free = number(db, 'freelist_count');
  if (free === 0) return false;
  if (number(db, 'auto_vacuum') === 2) {
    db.all(`PRAGMA incremental_vacuum(${STEP_PAGES})`);
    return number(db, 'freelist_count') > 0;
  }
  // A database of 0.0.0. Rewriting it also lets later calls go in steps.
  if (fileBytes(db) > maxRewrite) return false;
  db.all('PRAGMA auto_vacuum = INCREMENTAL');
  db.all('VACUUM');
  return false;
}

/** Until now the main file keeps its size: it shrinks when the -wal is written into it. */
export function finishCompact(db: Database): void {
  db.all('PRAGMA wal_checkpoint(PASSIVE)');
}
