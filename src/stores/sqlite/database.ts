import { closeSync, openSync, statSync } from 'node:fs';
import type { DatabaseSync, SQLInputValue, SQLOutputValue, StatementSync } from 'node:sqlite';
import { EarpieceError } from '../../core/errors.ts';
import { fault } from '../../core/faults.ts';
import type { FileSystem } from './filesystem.ts';
import { APPLICATION_ID, MAJOR, STEPS, VERSION } from './migrations.ts';
import { checkHeader, checkSqlite, prepareFile } from './refusals.ts';
import { explain } from './trouble.ts';

/** Asked for, not imported: an older Node has no such module, and an import would fail before our own line about its age. */
const sqlite = process.getBuiltinModule('node:sqlite');

/** How often the file is asked for at its path: who holds one that was replaced would speak into the void. */
const LOOK_EVERY_MS = 1000;

export type DatabaseOptions = {
  readonly path: string;
  /** For tests: what file system a path lies on. */
  readonly probe?: (path: string) => FileSystem;
  /** For tests: the version of SQLite. */
  readonly sqliteVersion?: string;
};

type Row = Record<string, SQLOutputValue>;

/** One connection: opened and migrated, its statements kept, its transactions whole. All of it is synchronous. */
export class Database {
  readonly path: string;
  /** Grows when the file at the path was replaced and the new one opened: what was remembered of the old one is void. */
  generation = 0;
  /** Transactions of this connection that were kept; `data_version` counts those of all others. */
  #commits = 0;
  /** The count of commits at which the others' was asked for in this go of the event loop; -1: not yet. */
  #askedAt = -1;
  #seen = '';
  readonly #options: DatabaseOptions;
  readonly #statements = new Map<string, StatementSync>();
  #db: DatabaseSync;
  #file: string;
  #lookedAt = performance.now();

  /** Throws `store_refused`, `store_corrupt`, `store_full`, or SQLite's "busy", after which trying again can help. */
  constructor(options: DatabaseOptions) {
    this.path = options.path;
    this.#options = options;
    checkSqlite(options.sqliteVersion ?? process.versions['sqlite'] ?? '0');
    this.#db = open(options);
    this.#file = identityOf(this.path);
  }

  /**
   * Opens the file that stands at the path now, where it is another one. Not inside a transaction. `atOnce`: looks whenever it
   * is asked, for whoever is to write. What is no database there is told to each who asks, until it is gone.
   */
  follow(atOnce = false): void {
    const now = performance.now();
    if (!atOnce && now - this.#lookedAt < LOOK_EVERY_MS) return;
    if (identityOf(this.path) === this.#file) {
      this.#lookedAt = now;
      return;
    }
    this.#lookedAt = Number.NEGATIVE_INFINITY;
    const next = open(this.#options);
    this.#statements.clear();
    this.#db.close();
    this.#db = next;
    this.#file = identityOf(this.path);
    this.#lookedAt = now;
    this.generation++;
  }

  run(sql: string, ...values: SQLInputValue[]): ReturnType<StatementSync['run']> {
    return this.#statement(sql).run(...values);
  }

  all<T = Row>(sql: string, ...values: SQLInputValue[]): T[] {
    return this.#statement(sql).all(...values) as T[];
  }

  // oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- names the row's shape at the call, as in `all`
  get<T = Row>(sql: string, ...values: SQLInputValue[]): T | undefined {
    return this.#statement(sql).get(...values) as T | undefined;
  }

  /** One row after the other, for what may not fit into memory. Its own statement: others may run meanwhile. */
  each<T = Row>(sql: string, ...values: SQLInputValue[]): Iterable<T> {
    return this.#db.prepare(sql).iterate(...values) as Iterable<T>;
  }

  /** All or nothing. What `keep` says no to is rolled back and handed out all the same. */
  write<T>(work: () => T, keep: (result: T) => boolean = () => true): T {
    // Not deferred: a transaction that reads first and then wants to write fails for good when another wrote in between.
    this.run('BEGIN IMMEDIATE');
    try {
      const result = work();
      const kept = keep(result);
      this.run(kept ? 'COMMIT' : 'ROLLBACK');
      if (kept) this.#commits++;
      return result;
    } catch (error) {
      if (this.#db.isTransaction) this.#db.exec('ROLLBACK');
      throw error;
    }
  }

  /**
   * Whether anything was committed by anyone since this was asked last. The file is asked once for whatever comes in one go
   * of the event loop (calls that arrived together): it costs some microseconds, more than all else before a tool call.
   */
  changed(): boolean {
    if (this.#askedAt === this.#commits) return false;
    this.#askedAt = this.#commits;
    queueMicrotask(() => (this.#askedAt = -1));
    const version = this.get<{ data_version: number }>('PRAGMA data_version')?.data_version;
    const seen = `${version} ${this.#commits} ${this.generation}`;
    if (seen === this.#seen) return false;
    this.#seen = seen;
    return true;
  }

  /** Reads of one moment, whatever others write meanwhile. */
  reading<T>(work: () => T): T {
    return reading(this.#db, work);
  }

  get isTransaction(): boolean {
    return this.#db.isTransaction;
  }

  /** A consistent copy in a new file, for this user alone. */
  async backup(target: string): Promise<void> {
    try {
      closeSync(openSync(target, 'ax', 0o600));
    } catch (error) {
      throw new EarpieceError(
        'bad_argument',
        (error as NodeJS.ErrnoException).code === 'EEXIST'
          ? `${target} exists: a backup needs a new file, name another`
          : `cannot write the backup ${target} (${(error as NodeJS.ErrnoException).code ?? (error as Error).message}): name a new file in a folder that exists and may be written`,
        { cause: error },
      );
    }
    try {
      // In one step: with several it would begin anew after each write of another process.
      await sqlite.backup(this.#db, target, { rate: 0x7f_ff_ff_ff });
    } catch (error) {
      throw explain(error, target);
    }
  }

  close(): void {
    this.#statements.clear();
    this.#db.close();
  }

  #statement(sql: string): StatementSync {
    let statement = this.#statements.get(sql);
    if (statement === undefined) {
      statement = this.#db.prepare(sql);
      this.#statements.set(sql, statement);
    }
    return statement;
  }
}

function open(options: DatabaseOptions): DatabaseSync {
  prepareFile(options.path, options.probe);
  const db = new sqlite.DatabaseSync(options.path, { timeout: 0, defensive: true });
  try {
    migrate(db, options.path);
    return db;
  } catch (error) {
    db.close();
    throw error;
  }
}

function migrate(db: DatabaseSync, path: string): void {
  const header = (): { applicationId: number; version: number; empty: boolean } => ({
    applicationId: db.prepare('PRAGMA application_id').get()?.['application_id'] as number,
    version: db.prepare('PRAGMA user_version').get()?.['user_version'] as number,
    empty: db.prepare('SELECT 1 FROM sqlite_schema LIMIT 1').get() === undefined,
  });
  const before = reading(db, header);
  checkHeader(path, before);
  db.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA trusted_schema = OFF; PRAGMA temp_store = MEMORY');
  db.exec('PRAGMA cache_size = -16000; PRAGMA journal_size_limit = 67108864');
  if (before.applicationId === APPLICATION_ID && before.version >= VERSION) return;
  fault('migrate.begun');
  db.exec('BEGIN IMMEDIATE');
  try {
    // Another process may have been faster.
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

/** Of one moment: in between, another process may make the file ours. */
function reading<T>(db: DatabaseSync, work: () => T): T {
  db.exec('BEGIN');
  try {
    return work();
  } finally {
    if (db.isTransaction) db.exec('COMMIT');
  }
}

function identityOf(path: string): string {
  const file = statSync(path, { throwIfNoEntry: false });
  return file === undefined ? 'none' : `${file.dev}:${file.ino}`;
}
