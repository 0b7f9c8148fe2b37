import { closeSync, openSync, statSync } from 'node:fs';
import type { DatabaseSync, SQLInputValue, SQLOutputValue, StatementSync } from 'node:sqlite';
import { EarpieceError } from '../../core/errors.ts';
import { changeOf, filesAt, Folder, Half, hasOthers, realPath, setAsideOf, splitError, type Files } from './files.ts';
import { openFile, reading, throwIf, type OpenOptions, type OpensMarked } from './opening.ts';
import { checkSqlite } from './refusals.ts';
import { explain } from './trouble.ts';
import { truncation } from './truncation.ts';

/**
 * `node:sqlite` is read from `process`, because an older Node lacks this module. In such a Node, an import would fail before
 * Earpiece can print its message about the version.
 */
const sqlite = process.getBuiltinModule('node:sqlite');

/** How often the files at the path are compared with the opened files, even if no call is made. */
const CHECK_EVERY_MS = 500;
/** Connections that must stay open. Closing such a connection would delete records of other programs: see `Database.close`. */
const LEFT_OPEN = new Set<DatabaseSync>();

/**
 * Keeps a connection open until the process ends. At a normal end, Node would close the connection. So a listener of `exit` ends
 * the process at once, and the operating system closes the files.
 */
function leaveOpen(db: DatabaseSync): void {
  if (LEFT_OPEN.size === 0) process.once('exit', () => process.exit());
  LEFT_OPEN.add(db);
}

export type DatabaseOptions = OpenOptions & {
  /** Called with a message for people, for example if the file was deleted. Default: a process warning. */
  readonly report?: (line: string) => void;
};

/** One caller's part of a shared transaction: its work, and whether to keep the result. */
export type Step<T = unknown> = { readonly work: () => T; readonly keep: (result: T) => boolean };

export type Outcome = { readonly kind: 'done'; readonly result: unknown } | { readonly kind: 'failed'; readonly error: unknown };

type Row = Record<string, SQLOutputValue>;

/** Runs statements and transactions on one open, migrated connection. All methods except `backup` are synchronous. */
export class Database {
  readonly path: string;
  /**
   * Grows when the files are opened again, for example because the file was replaced. A cache is valid for one generation only.
   */
  generation = 0;
  /**
   * The number of transactions that this connection committed. SQLite's `data_version` changes only with the commits of other
   * connections.
   */
  #commits = 0;
  /** The value of `#commits` at the last check in the running synchronous code. -1 if this code has made no check. */
  #askedAt = -1;
  #seen = '';
  readonly #options: DatabaseOptions & OpensMarked;
  readonly #statements = new Map<string, StatementSync>();
  /** The open connection. Undefined while no files are open: after `close`, or if the files could not be opened again. */
  #open: DatabaseSync | undefined;
  #real = '';
  #files: Files = { main: '', wal: '', shm: '', size: 0 };
  #folder: Folder | undefined;
  #checkedAt = 0;
  readonly #timer: NodeJS.Timeout;

  /**
   * Throws `store_refused`, `store_corrupt`, `store_full`, `Half`, or an error of SQLite. After `Half` or "busy", a retry can
   * help.
   */
  constructor(options: DatabaseOptions & OpensMarked) {
    this.path = options.path;
    this.#options = options;
    checkSqlite(options.sqliteVersion ?? process.versions['sqlite'] ?? '0');
    this.#reopen();
    this.#timer = setInterval(() => this.#checkFiles(), CHECK_EVERY_MS).unref();
  }

  /**
   * Opens the files at the path if they differ from the opened files. Must not run inside a transaction. If the last check is at
   * least 500 ms old, the call checks the files. Callers that write pass `atOnce`: the call then also checks the files if the
   * folder may have changed since the last check. Throws the error of a broken file to each caller until the file is fixed.
   */
  follow(atOnce = false): void {
    const now = performance.now();
    if (this.#open === undefined) {
      this.#reopen();
      this.generation++;
      return;
    }
    if (now - this.#checkedAt < CHECK_EVERY_MS && (!atOnce || this.#folder?.isSame())) return;
    this.#checkedAt = Number.NEGATIVE_INFINITY;
    this.#folder?.note();
    const files = filesAt(this.path, this.#real);
    const change = changeOf(this.#files, files);
    switch (change.kind) {
      case 'same':
        if (files.size < this.#files.size) throwIf(truncation(this.path, true));
        if (files.size !== this.#files.size) this.#files = files;
        this.#checkedAt = now;
        return;
      case 'moved':
        this.#leaveMoved(change.deleted);
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
   * Yields the rows one by one, for results that may not fit into memory. Other statements may run between two rows, because this
   * statement is not cached.
   */
  each<T = Row>(sql: string, ...values: SQLInputValue[]): Iterable<T> {
    return this.#db.prepare(sql).iterate(...values) as Iterable<T>;
  }

  /** Runs one transaction. If `keep` returns false, the transaction is rolled back, and the result is still returned. */
  write<T>(work: () => T, keep: (result: T) => boolean = () => true): T {
    // A deferred transaction reads first. If another transaction then writes, the deferred transaction can no longer write.
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
   * Runs several callers' work in one transaction, in their order. Each part is kept or rolled back separately. If the whole
   * transaction fails, or if the only part throws, throws and keeps nothing.
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
      // SQLite itself has rolled back the whole transaction.
      if (!this.#db.isTransaction) throw error;
      outcome = { kind: 'failed', error };
    }
    if (!kept) this.run('ROLLBACK TO part');
    this.run('RELEASE part');
    return outcome;
  }

  /**
   * Whether any process has committed since the last call. The calls of one run of synchronous code share one read of the file. A
   * read takes more time than all other work before a tool call. With `atOnce`, each call reads the file.
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

  /** Runs several reads on one snapshot, even if other processes write meanwhile. */
  reading<T>(work: () => T): T {
    return reading(this.#db, work);
  }

  /** Returns the time at which the file was made, by the kernel's clock, epoch ms. 0 if that time is not recorded. */
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
          ? `${target} exists: a backup needs a new file; name another file`
          : `cannot write the backup ${target} (${(error as NodeJS.ErrnoException).code ?? (error as Error).message}): name a new file in a folder that exists and may be written`,
        { cause: error },
      );
    }
    try {
      // The copy is made in one step. With several steps, SQLite would start again after each write of another process.
      await sqlite.backup(this.#db, target, { rate: 0x7f_ff_ff_ff });
    } catch (error) {
      throw explain(error, target);
    }
  }

  /**
   * Closes the connection. The last connection that closes writes the `-wal` into the main file, and deletes `-wal` and `-shm` by
   * their paths. If another program now uses these paths, its records would be lost. In that case, and if the main file was
   * truncated, the connection stays open until the process ends.
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

  /**
   * Leaves a main file that is no longer at the path. The close writes the old `-wal` into the old main file, and deletes the
   * companions at the path. If another process has made new companions at the path, the connection stays open.
   */
  #leaveMoved(deleted: boolean): void {
    const aside = setAsideOf(this.#files, this.#real);
    this.#report(
      `${this.path} was ${deleted ? 'deleted or moved away, and a new database is created at the path' : 'replaced, and the new file is used from now on'}. Open notifications stay in the old file` +
        (aside.length === 0 ? '' : `; the companion files of the old file are now ${aside.join(' and ')}`),
    );
    if (hasOthers(this.#files, filesAt(this.path, this.#real))) {
      leaveOpen(this.#db);
      this.#open = undefined;
    }
    this.#leave();
  }

  /**
   * Writes the content of the deleted files into the main file, and closes the main file. The next opening makes new
   * companions.
   */
  #restore(missing: readonly string[]): void {
    const done = this.#db.prepare('PRAGMA wal_checkpoint(PASSIVE)').get();
    if (done?.['busy'] !== 0 || done['log'] !== done['checkpointed']) throw new Half(this.#real, missing);
    this.#report(
      `${missing.map((side) => `${this.#real}${side}`).join(' and ')} ${missing.length === 1 ? 'was' : 'were'} deleted while the database is in use. Nothing was lost: the records are in ${this.#real}`,
    );
    this.#leave();
  }

  #reopen(): void {
    this.#checkedAt = Number.NEGATIVE_INFINITY;
    const { db, aside } = openFile(this.#options);
    this.#open = db;
    this.#real = realPath(this.path);
    this.#files = filesAt(this.path, this.#real);
    this.#folder = new Folder(this.path, this.#real);
    this.#checkedAt = performance.now();
    if (aside.length > 0)
      this.#report(
        `${this.path} did not exist, but its companion files did: these files are now called ${aside.join(' and ')}, and the database is new`,
      );
  }

  #report(line: string): void {
    if (this.#options.report === undefined) process.emitWarning(line, 'EarpieceWarning');
    else this.#options.report(line);
  }

  /** Checks the files even if no call is made, because other processes wait until this process closes deleted files. */
  #checkFiles(): void {
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
