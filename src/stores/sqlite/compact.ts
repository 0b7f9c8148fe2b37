/** Returns the space of removed records to the file system, while other processes continue. */
import type { Database } from './database.ts';

/** The size of the main file on the disk, in bytes. */
export type Compacted = {
  readonly before: number;
  readonly after: number;
  /** Unused bytes that the file keeps: release 0.0.0 made it, and it is too large to be rewritten. */
  readonly unused: number;
};

/** Pages that one transaction returns: some milliseconds. */
const STEP_PAGES = 1_000;
/**
 * A file that cannot shrink in steps is rewritten in one transaction, which stops other writers: about a second for this
 * size.
 */
const MAX_REWRITE = 256 * 1_048_576;

const number = (db: Database, pragma: string): number => {
  const [value] = Object.values(db.get<Record<string, number>>(`PRAGMA ${pragma}`) ?? {});
  return value ?? 0;
};

export const fileBytes = (db: Database): number => number(db, 'page_count') * number(db, 'page_size');

/** The bytes that `compactStep` cannot return. */
export const unusedBytes = (db: Database): number =>
  number(db, 'auto_vacuum') === 2 ? 0 : number(db, 'freelist_count') * number(db, 'page_size');

/** Does one step. False if nothing is left to do. Must not run inside a transaction. */
export function compactStep(db: Database, maxRewrite = MAX_REWRITE): boolean {
  const free = number(db, 'freelist_count');
  if (free === 0) return false;
  if (number(db, 'auto_vacuum') === 2) {
    db.all(`PRAGMA incremental_vacuum(${STEP_PAGES})`);
    return number(db, 'freelist_count') > 0;
  }
  // A database of 0.0.0. After rewriting it, later calls can go in steps.
  if (fileBytes(db) > maxRewrite) return false;
  db.all('PRAGMA auto_vacuum = INCREMENTAL');
  db.all('VACUUM');
  return false;
}

/** The main file keeps its size until now: it shrinks when the -wal is written into it. */
export function finishCompact(db: Database): void {
  db.all('PRAGMA wal_checkpoint(PASSIVE)');
}
