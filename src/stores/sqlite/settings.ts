import { randomBytes } from 'node:crypto';
import type { Json } from '../../core/json.ts';
import type { Swap } from '../../core/ports.ts';
import type { Database } from './database.ts';

/** Reads and writes values by name, and the secret of the database. Methods that write must be called inside a transaction. */
export class Settings {
  readonly #db: Database;

  constructor(db: Database) {
    this.#db = db;
  }

  get(key: string): Json | undefined {
    const value = this.#text(key);
    return value === undefined ? undefined : (JSON.parse(value) as Json);
  }

  set(key: string, value: Json | undefined): void {
    if (value === undefined) this.#db.run('DELETE FROM settings WHERE key = ?', key);
    else this.#db.run('INSERT OR REPLACE INTO settings (key, value) VALUES (?, ?)', key, JSON.stringify(value));
  }

  /** Changes a value from `from` to `to`. Returns false and changes nothing if the value differs from `from`. */
  swap({ key, from, to }: Swap): boolean {
    if (this.#text(key) !== (from === undefined ? undefined : JSON.stringify(from))) return false;
    this.set(key, to);
    return true;
  }

  secret(): string | undefined {
    return this.#db.get<{ value: string }>("SELECT value FROM meta WHERE key = 'secret'")?.value;
  }

  /** Makes the secret, unless another process has made it first. */
  makeSecret(): string {
    this.#db.run("INSERT OR IGNORE INTO meta (key, value) VALUES ('secret', ?)", randomBytes(32).toString('hex'));
    return this.secret() as string;
  }

  #text(key: string): string | undefined {
    return this.#db.get<{ value: string }>('SELECT value FROM settings WHERE key = ?', key)?.value;
  }
}
