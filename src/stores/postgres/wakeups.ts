/**
 * Notices appends of other processes by PostgreSQL's NOTIFY. A pooler does not pass NOTIFY on. A NOTIFY is only a hint, because
 * an append with a lower position may not be committed yet. After a NOTIFY, the listener therefore asks for the head.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Listen } from '../wakeups.ts';
import type { Database } from './database.ts';
import type { Driver } from './driver.ts';

export const listenWith =
  (driver: Driver, db: Database): Listen =>
  ({ ready, lost }) => {
    const client = new driver.Client({
      connectionString: db.url,
      application_name: 'earpiece listener',
      keepAlive: true,
      connectionTimeoutMillis: 5_000,
    });
    const end = (): void => void client.end().catch(() => {});
    const broke = (): void => {
      lost();
      end();
    };
    client.on('error', broke);
    client.on('end', broke);
    client.on('notification', ready);
    client
      .connect()
      .then(() => client.query(`LISTEN "${db.channel}"`))
      .then(ready)
      .catch(broke);
    return end;
  };

/** The minimum time between two NOTIFY commands of one process. */
const PAUSE_MS = 50;

/**
 * Informs other processes by NOTIFY that records were appended. The NOTIFY is a separate transaction after the append, because
 * transactions with a NOTIFY commit one after the other.
 */
export class Announcer {
  readonly #db: Database;
  #newest = 0;
  #running: Promise<void> | undefined;
  readonly #ended = new AbortController();

  constructor(db: Database) {
    this.#db = db;
  }

  announce(seq: number): void {
    this.#newest = Math.max(this.#newest, seq);
    this.#running ??= this.#run().finally(() => (this.#running = undefined));
  }

  /** Resolves after the last NOTIFY. */
  async end(): Promise<void> {
    this.#ended.abort();
    await this.#running;
  }

  async #run(): Promise<void> {
    for (let told = 0; told < this.#newest;) {
      told = this.#newest;
      // A lost NOTIFY does no harm, because waiting processes also read the head from time to time.
      await this.#db.read({ withinMs: 1_000 }, 'SELECT pg_notify($1, $2)', this.#db.channel, String(told)).catch(() => {});
      await sleep(PAUSE_MS, undefined, { ref: false, signal: this.#ended.signal }).catch(() => {});
    }
  }
}
