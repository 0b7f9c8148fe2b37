/**
 * Returns the space of removed records to the file system. Meanwhile, other processes can use the database, except during a
 * rewrite (`MAX_REWRITE`).
 */
import { setTimeout } from 'node:timers/promises';
import type { Database } from './database.ts';
import { realPath } from './files.ts';

/**
 * The size of the database before and after the work, in bytes. If `readable` contains the main file, the main file has not
 * shrunk yet.
 */
export type Compacted = {
  readonly before: number;
  readonly after: number;
  /** Unused bytes that the file keeps, because release 0.0.0 made the file and the file is too large to be rewritten. */
  readonly unused: number;
  /** The files that still contain removed records, because another process is reading or writing. */
  readonly readable: readonly string[];
};

/** The number of pages that one transaction returns to the file system. Such a transaction takes a few milliseconds. */
const STEP_PAGES = 1_000;
/**
 * The size, in bytes, of the largest file that is rewritten if it cannot shrink in steps. The rewrite is one transaction, which
 * stops other writers for about a second at this size.
 */
const MAX_REWRITE = 256 * 1_048_576;

/** The time between two tries of `untilEmpty`. Reads and writes of other processes take milliseconds each. */
const FINISH_EVERY_MS = 50;
const FINISH_TRIES = 20;

const number = (db: Database, pragma: string): number => {
  const [value] = Object.values(db.get<Record<string, number>>(`PRAGMA ${pragma}`) ?? {});
  return value ?? 0;
};

export const fileBytes = (db: Database): number => number(db, 'page_count') * number(db, 'page_size');

/** Returns the number of unused bytes in a file that cannot shrink in steps, and 0 for any other file. */
export const unusedBytes = (db: Database): number =>
  number(db, 'auto_vacuum') === 2 ? 0 : number(db, 'freelist_count') * number(db, 'page_size');

/**
 * Frees some unused pages of the file. Returns false if no further step is needed, or if the file is too large to be rewritten.
 * Must not run inside a transaction.
 */
export function compactStep(db: Database, maxRewrite = MAX_REWRITE): boolean {
  const free = number(db, 'freelist_count');
  if (free === 0) return false;
  if (number(db, 'auto_vacuum') === 2) {
    db.all(`PRAGMA incremental_vacuum(${STEP_PAGES})`);
    return number(db, 'freelist_count') > 0;
  }
  // Release 0.0.0 made this database. After one rewrite, later calls can shrink the file in steps.
  if (fileBytes(db) > maxRewrite) return false;
  db.all('PRAGMA auto_vacuum = INCREMENTAL');
  db.all('VACUUM');
  return false;
}

/**
 * Writes the `-wal` into the main file, which then shrinks, and empties the `-wal`. Returns the files that still contain
 * removed records because another process uses them. A retry a moment later can help.
 */
export function finishCompact(db: Database): readonly string[] {
  const done = db.get<{ busy: number; log: number; checkpointed: number }>('PRAGMA wal_checkpoint(TRUNCATE)');
  if (done?.busy === 0) return [];
  const wal = `${realPath(db.path)}-wal`;
  return done?.log === done?.checkpointed ? [wal] : [db.path, wal];
}

/** Repeats `finish` for up to a second, until no file contains removed records. Returns the files that still contain some. */
export async function untilEmpty(finish: () => Promise<readonly string[]>): Promise<readonly string[]> {
  let readable = await finish();
  for (let tries = 1; readable.length > 0 && tries < FINISH_TRIES; tries++) {
    await setTimeout(FINISH_EVERY_MS);
    readable = await finish();
  }
  return readable;
}
