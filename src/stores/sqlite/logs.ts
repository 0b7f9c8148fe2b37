import { type LogKey, splitLog } from '../../core/address.ts';
import { EarpieceError } from '../../core/errors.ts';
import type { Database } from './database.ts';

/** Maps logs to the numbers that identify them in the other tables. The numbers are cached, because a log keeps its number. */
export class Logs {
  readonly #db: Database;
  #generation: number;
  readonly #numbers = new Map<LogKey, number>();
  readonly #keys = new Map<number, LogKey>();

  constructor(db: Database) {
    this.#db = db;
    this.#generation = db.generation;
  }

  /** Returns the number of a log. Undefined if the database does not know the log. */
  numberOf(log: LogKey): number | undefined {
    this.#forgetOldFile();
    const known = this.#numbers.get(log);
    if (known !== undefined) return known;
    const id = this.#db.get<{ id: number }>('SELECT id FROM logs WHERE key = ?', log)?.id;
    // The number is not cached inside a transaction, because a rollback may remove the log.
    if (id !== undefined && !this.#db.isTransaction) this.#remember(log, id);
    return id;
  }

  /** Returns the number of a log. Creates the number for a new log. Must run inside a transaction. */
  numberFor(log: LogKey): number {
    const known = this.numberOf(log);
    if (known !== undefined) return known;
    const made = this.#db.run('INSERT INTO logs (key, project) VALUES (?, ?)', log, splitLog(log).project);
    return Number(made.lastInsertRowid);
  }

  keyOf(number: number): LogKey {
    this.#forgetOldFile();
    const known = this.#keys.get(number);
    if (known !== undefined) return known;
    const key = this.#db.get<{ key: LogKey }>('SELECT key FROM logs WHERE id = ?', number)?.key;
    if (key === undefined)
      throw new EarpieceError(
        'store_corrupt',
        `the database ${this.#db.path} has records of log ${number}, but no log with this number: restore a backup`,
      );
    this.#remember(key, number);
    return key;
  }

  #remember(log: LogKey, number: number): void {
    this.#numbers.set(log, number);
    this.#keys.set(number, log);
  }

  #forgetOldFile(): void {
    if (this.#generation === this.#db.generation) return;
    this.#generation = this.#db.generation;
    this.#numbers.clear();
    this.#keys.clear();
  }
}
