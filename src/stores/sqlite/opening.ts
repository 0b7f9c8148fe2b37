/** Opens a database file. Makes a missing file, migrates an older file, and refuses an unusable file. */
import type { DatabaseSync } from 'node:sqlite';
import { fault } from '../../core/faults.ts';
import { Half, missingAt, realPath } from './files.ts';
import type { FileSystem } from './filesystem.ts';
import { markedError } from '../moving/marks.ts';
import type { Mark } from '../moving/port.ts';
import { APPLICATION_ID, MAJOR, MOVING_ID, STEPS, VERSION } from './migrations.ts';
import { checkHeader, prepareFile } from './refusals.ts';
import { isBusy } from './trouble.ts';
import { truncation } from './truncation.ts';

/**
 * `node:sqlite` is read from `process`, because an older Node lacks this module. In such a Node, an import would fail before
 * Earpiece can print its message about the version.
 */
const sqlite = process.getBuiltinModule('node:sqlite');

export type OpenOptions = {
  readonly path: string;
  /** For tests: the file system of a path. */
  readonly probe?: (path: string) => FileSystem;
  /** For tests: the version of SQLite. */
  readonly sqliteVersion?: string;
};

/** Whether a file with the mark of a move is opened too. */
export type OpensMarked = { readonly moving?: true };

/**
 * Opens the file at a path, and makes or migrates it if needed. `aside`: the new paths of files that were renamed by `setAside`.
 */
export function openFile(options: OpenOptions & OpensMarked): { readonly db: DatabaseSync; readonly aside: readonly string[] } {
  const aside = prepareFile(options.path, options.probe);
  // A truncated file must be found before SQLite opens it, because SQLite writes the `-wal` into the file when the last process
  // closes it.
  throwIf(truncation(options.path));
  if (missingAt(options.path).length > 0) refuseOthers(options.path);
  const db = new sqlite.DatabaseSync(options.path, { timeout: 0, defensive: true });
  try {
    migrate(db, options.path, options.moving === true);
    return { db, aside };
  } catch (error) {
    db.close();
    throw error;
  }
}

export function throwIf(error: Error | undefined): void {
  if (error !== undefined) throw error;
}

/**
 * Throws `Half` while another connection has a deleted `-wal` or `-shm` open, because that connection would not see this
 * process's writes.
 */
function refuseOthers(path: string): void {
  const db = new sqlite.DatabaseSync(path, { timeout: 0, defensive: true });
  try {
    db.exec('PRAGMA locking_mode = EXCLUSIVE');
    db.prepare('SELECT 1 FROM sqlite_schema LIMIT 1').get();
  } catch (error) {
    if (!isBusy(error)) throw truncation(path) ?? error;
    // Another process that opens the database at the same time may have made both files in the meantime.
    const missing = missingAt(path);
    if (missing.length > 0) throw new Half(realPath(path), missing);
  } finally {
    db.close();
  }
}

function migrate(db: DatabaseSync, path: string, moving: boolean): void {
  const header = (): { applicationId: number; version: number; empty: boolean } => ({
    applicationId: db.prepare('PRAGMA application_id').get()?.['application_id'] as number,
    version: db.prepare('PRAGMA user_version').get()?.['user_version'] as number,
    empty: db.prepare('SELECT 1 FROM sqlite_schema LIMIT 1').get() === undefined,
  });
  const before = reading(db, header);
  const isMarked = before.applicationId === MOVING_ID;
  if (isMarked && !moving) throw markedError(`sqlite ${path}`, markIn(db));
  if (!isMarked) checkHeader(path, before);
  // SQLite accepts this setting only for a file without tables. The setting allows compacting in steps.
  if (before.empty) db.exec('PRAGMA auto_vacuum = INCREMENTAL');
  db.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA trusted_schema = OFF; PRAGMA temp_store = MEMORY');
  db.exec('PRAGMA cache_size = -16000; PRAGMA journal_size_limit = 67108864');
  // For a file that was in another mode, only the first read makes the `-wal` and `-shm`, which the caller must know.
  db.prepare('SELECT 1 FROM sqlite_schema LIMIT 1').get();
  if (isMarked || (before.applicationId === APPLICATION_ID && before.version >= VERSION)) return;
  fault('migrate.begun');
  db.exec('BEGIN IMMEDIATE');
  try {
    // Another process may have migrated the file first.
    const now = header();
    checkHeader(path, now);
    const done = now.applicationId === APPLICATION_ID ? now.version - MAJOR * 1000 : 0;
    for (const step of STEPS.slice(done)) {
      db.exec(step);
      fault('migrate.step');
    }
    if (done < STEPS.length) db.exec(`PRAGMA application_id = ${APPLICATION_ID}; PRAGMA user_version = ${VERSION}`);
    db.exec('COMMIT');
  } catch (error) {
    if (db.isTransaction) db.exec('ROLLBACK');
    throw error;
  }
  fault('migrate.committed');
}

function markIn(db: DatabaseSync): Mark {
  const row = db.prepare("SELECT value FROM meta WHERE key = 'move'").get();
  return JSON.parse(String(row?.['value'])) as Mark;
}

/** Runs reads on one snapshot. Without a snapshot, another process could migrate the file between two reads. */
export function reading<T>(db: DatabaseSync, work: () => T): T {
  db.exec('BEGIN');
  try {
    return work();
  } finally {
    if (db.isTransaction) db.exec('COMMIT');
  }
}
