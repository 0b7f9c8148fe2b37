import { closeSync, openSync, statSync } from 'node:fs';
import type { DatabaseSync, SQLInputValue, SQLOutputValue, StatementSync } from 'node:sqlite';
import { EarpieceError } from '../../core/errors.ts';
import { changeOf, filesAt, Folder, Half, realPath, splitError, type Files } from './files.ts';
import { openFile, reading, throwIf, type OpenOptions } from './opening.ts';
import { checkSqlite } from './refusals.ts';
import { explain } from './trouble.ts';
import { truncation } from './truncation.ts';

/**
 * Read from `process` instead of imported: an older Node has no such module, and an import would fail before Earpiece can print
 * its message about the version.
 */
const sqlite = process.getBuiltinModule('node:sqlite');

/** How often the files at the path are compared with the opened ones, even without any calls. */
const LOOK_EVERY_MS = 500;
/** Connections that must stay open. Closing them would delete records of other programs: see `Database.close`. */
const LEFT_OPEN = new Set<DatabaseSync>();

/** A process that ends by itself closes its connections. After `exit` the system does that. */
function leaveOpen(db: DatabaseSync): void {
  if (LEFT_OPEN.size === 0) process.once('exit', () => process.exit());
  LEFT_OPEN.add(db);
}

export type DatabaseOptions = OpenOptions & {
  /** Called with a line that a person should read, e.g. that the file was deleted. Default: a process warning. */
  readonly report?: (line: string) => void;
};

/** One caller's part of a shared transaction: its work, and whether to keep the result. */
export type Step<T = unknown> = { readonly work: () => T; readonly keep: (result: T) => boolean };

export type Outcome = { readonly kind: 'done'; readonly result: unknown } | { readonly kind: 'failed'; readonly error: unknown };

type Row = Record<string, SQLOutputValue>;

/** One connection: opened and migrated, with cached statements and whole transactions. All of it is synchronous. */
export class Database {
  readonly path: string;
  /** Grows when the file at the path was replaced and the new one opened: caches of the old file are then invalid. */
  generation = 0;
  /** Committed transactions of this connection; `data_version` counts those of all others. */
  #commits = 0;
  /** The commit count at the last check of other connections in this turn of the event loop; -1: not checked yet. */
  #askedAt = -1;
  #seen = '';
  readonly #options: DatabaseOptions;
  readonly #statements = new Map<string, StatementSync>();
  /** Undefined while it is reopened. */
  #open: DatabaseSync | undefined;
  #real = '';
  #files: Files = { main: '', wal: '', shm: '', size: 0 };
  #folder: Folder | undefined;
  #lookedAt = 0;
  readonly #timer: NodeJS.Timeout;

  /** Throws `store_refused`, `store_corrupt`, `store_full`, or SQLite's "busy", after which a retry can help. */
  constructor(options: DatabaseOptions) {
    this.path = options.path;
    this.#options = options;
    checkSqlite(options.sqliteVersion ?? process.versions['sqlite'] ?? '0');
    this.#reopen();
    this.#timer = setInterval(() => this.#lookAround(), LOOK_EVERY_MS).unref();
  }

  /**
   * Compares the files at the path with the open ones, and opens the current ones. Must not run inside a transaction. `atOnce`:
   * checks on every call, for callers that write. Other callers check at most every 500 ms. In between, an unchanged folder holds
   * the same files. The error of a broken file reaches each caller until somebody fixes the file.
   */
  follow(atOnce = false): void {
    const now = performance.now();
    if (this.#open === undefined) {
      this.#reopen();
      this.generation++;
      return;
    }
    if (now - this.#lookedAt < LOOK_EVERY_MS && (!atOnce || this.#folder?.isSame())) return;
    this.#lookedAt = Number.NEGATIVE_INFINITY;
    this.#folder?.note();
    const files = filesAt(this.path, this.#real);
    const change = changeOf(this.#files, files);
    switch (change.kind) {
      case 'same':
        if (files.size < this.#files.size) throwIf(truncation(this.path, true));
        if (files.size !== this.#files.size) this.#files = files;
        this.#lookedAt = now;
        return;
      case 'moved':
        this.#report(
          `${this.path} was ${change.gone ? 'deleted or moved away, and a new database is made in its place' : 'replaced, and the new file is used from now on'}. Open notifications stay in the old one`,
        );
        this.#leave();
        break;
      case 'half':
        this.#restore(change.missing);
        break;
      case 'split':
        leaveOpen(this.#open);
        throw splitError(this.#real, change.replaced);
    }
    this.#reopen();
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

  /**
   * One row after the other, for results that may not fit into memory. It has its own statement, so other statements may run in
   * between.
   */
  each<T = Row>(sql: string, ...values: SQLInputValue[]): Iterable<T> {
    return this.#db.prepare(sql).iterate(...values) as Iterable<T>;
  }

  /** Runs one transaction: all or nothing. A result that `keep` rejects is rolled back and still returned. */
  write<T>(work: () => T, keep: (result: T) => boolean = () => true): T {
    // Not deferred: a transaction that reads first and then wants to write fails permanently if another one wrote in between.
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
   * Runs several callers' work in one transaction, in their order. Each part is kept or rolled back by itself. Throws if the
   * transaction as a whole fails; then none of it is kept.
   */
  writeAll(steps: readonly Step[]): readonly Outcome[] {
    const [only] = steps;
    if (only !== undefined && steps.length === 1) return [{ kind: 'done', result: this.write(only.work, only.keep) }];
    this.run('BEGIN IMMEDIATE');
    try {
      const outcomes = steps.map((step) => this.#part(step));
      this.run('COMMIT');
      this.#commits++;
      return outcomes;
    } catch (error) {
      if (this.#db.isTransaction) this.#db.exec('ROLLBACK');
      throw error;
    }
  }

  #part({ work, keep }: Step): Outcome {
    this.run('SAVEPOINT part');
    let outcome: Outcome;
    let kept = false;
    try {
      const result = work();
      kept = keep(result);
      outcome = { kind: 'done', result };
    } catch (error) {
      // SQLite has rolled back the transaction itself: no part of it is kept.
      if (!this.#db.isTransaction) throw error;
      outcome = { kind: 'failed', error };
    }
    if (!kept) this.run('ROLLBACK TO part');
    this.run('RELEASE part');
    return outcome;
  }

  /**
   * Whether any process committed since the last call. The file is read once for all calls of one turn of the event loop
   * (calls that arrived together): a read costs some microseconds, more than all other work before a tool call. `atOnce`:
   * reads it each time.
   */
  changed(atOnce = false): boolean {
    if (!atOnce && this.#askedAt === this.#commits) return false;
    this.#askedAt = this.#commits;
    queueMicrotask(() => (this.#askedAt = -1));
    const version = this.get<{ data_version: number }>('PRAGMA data_version')?.data_version;
    const seen = `${version} ${this.#commits} ${this.generation}`;
    if (seen === this.#seen) return false;
    this.#seen = seen;
    return true;
  }

  /** Runs several reads on one snapshot, whatever other processes write meanwhile. */
  reading<T>(work: () => T): T {
    return reading(this.#db, work);
  }

  /** When the file was made, epoch ms; 0 if the file system does not know. From the kernel's clock, not this process's. */
  bornAt(): number {
    const file = statSync(this.path, { throwIfNoEntry: false });
    return file === undefined || file.birthtimeMs > file.mtimeMs ? 0 : Math.floor(file.birthtimeMs);
  }

  get isTransaction(): boolean {
    return this.#db.isTransaction;
  }

  /** Writes a consistent copy to a new file that only this user can read. */
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
      // In one step: with several, SQLite would start over after each write of another process.
      await sqlite.backup(this.#db, target, { rate: 0x7f_ff_ff_ff });
    } catch (error) {
      throw explain(error, target);
    }
  }

  /**
   * Closes the connection. The last connection that closes writes the `-wal` into the main file and deletes both companions
   * by their path. If other files have replaced these, that would destroy another program's records: the connection then
   * stays open until the process ends.
   */
  close(): void {
    clearInterval(this.#timer);
    const db = this.#open;
    if (db === undefined) return;
    const files = filesAt(this.path, this.#real);
    const change = changeOf(this.#files, files);
    const wrong =
      change.kind === 'split'
        ? splitError(this.#real, change.replaced)
        : change.kind === 'same' && files.size < this.#files.size
          ? truncation(this.path, true)
          : undefined;
    if (wrong !== undefined) {
      leaveOpen(db);
      this.#open = undefined;
      this.#report(wrong.message);
      return;
    }
    this.#leave();
  }

  get #db(): DatabaseSync {
    if (this.#open === undefined) throw new Half(this.#real, ['-wal']);
    return this.#open;
  }

  #leave(): void {
    this.#statements.clear();
    this.#open?.close();
    this.#open = undefined;
  }

  /** Writes the content of the deleted files into the main file. The next process that opens it makes new ones. */
  #restore(missing: readonly string[]): void {
    const done = this.#db.prepare('PRAGMA wal_checkpoint(PASSIVE)').get();
    if (done?.['busy'] !== 0 || done['log'] !== done['checkpointed']) throw new Half(this.#real, missing);
    this.#report(
      `${missing.map((side) => `${this.#real}${side}`).join(' and ')} ${missing.length === 1 ? 'was' : 'were'} deleted while the database is in use. Nothing was lost: the records are in ${this.#real}`,
    );
    this.#leave();
  }

  #reopen(): void {
    this.#lookedAt = Number.NEGATIVE_INFINITY;
    const { db, aside } = openFile(this.#options);
    this.#open = db;
    this.#real = realPath(this.path);
    this.#files = filesAt(this.path, this.#real);
    this.#folder = new Folder(this.path, this.#real);
    this.#lookedAt = performance.now();
    if (aside.length > 0)
      this.#report(
        `${this.path} was gone and its companion files were still there: they are now ${aside.join(' and ')}, and the database is new`,
      );
  }

  #report(line: string): void {
    if (this.#options.report === undefined) process.emitWarning(line, 'EarpieceWarning');
    else this.#options.report(line);
  }

  /** Runs even without calls, because other processes wait until this one closes deleted files. */
  #lookAround(): void {
    try {
      if (this.#open === undefined || !this.#open.isTransaction) this.follow(true);
    } catch {
      // The next caller gets the error.
    }
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
