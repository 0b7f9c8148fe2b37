/**
 * Wakes waiting callers when records are appended. An append of this process wakes them directly, and an append of another
 * process by a NOTIFY of PostgreSQL. While a caller waits, a poll also reads the head, because a pooler does not pass NOTIFY on,
 * and a connection may break without an error.
 */
import type pg from 'pg';
import { Waiters } from '../waiters.ts';
import type { Database } from './database.ts';
import { type Driver } from './driver.ts';

/** How often the head is read while a caller waits. */
const ASK_EVERY_MS = 500;

export class Wakeups {
  readonly #waiters: Waiters;
  readonly #driver: Driver;
  readonly #db: Database;
  readonly #head: () => Promise<number>;
  #newest = 0;
  #timer: NodeJS.Timeout | undefined;
  #listener: pg.Client | undefined;
  #asking = false;
  #closed = false;

  constructor(driver: Driver, db: Database, head: () => Promise<number>) {
    this.#driver = driver;
    this.#db = db;
    this.#head = head;
    this.#waiters = new Waiters({ busy: () => this.#start(), idle: () => this.#stop() });
  }

  /** Resolves with the head when it is above `after`, or with `after` on abort, timeout or close. */
  async wait(after: number, options: { withinMs?: number | undefined; signal?: AbortSignal | undefined }): Promise<number> {
    if (this.#closed) return after;
    return this.#newest > after ? this.#newest : this.#waiters.wait(after, options);
  }

  wake(head: number): void {
    this.#newest = Math.max(this.#newest, head);
    this.#waiters.wake(head);
  }

  close(): void {
    this.#closed = true;
    this.#waiters.close();
    this.#stop();
  }

  #start(): void {
    this.#timer = setInterval(() => {
      void this.#ask();
      if (this.#listener === undefined) this.#listen();
    }, ASK_EVERY_MS);
    this.#listen();
    // A record may have been appended since the caller read the head.
    void this.#ask();
  }

  #stop(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
    const listener = this.#listener;
    this.#listener = undefined;
    listener?.end().catch(() => {});
  }

  async #ask(): Promise<void> {
    if (this.#asking) return;
    this.#asking = true;
    try {
      this.wake(await this.#head());
    } catch {
      // The callers' own reads report this error.
    } finally {
      this.#asking = false;
    }
  }

  #listen(): void {
    const listener = new this.#driver.Client({
      connectionString: this.#db.address.url,
      application_name: 'earpiece listener',
      keepAlive: true,
      connectionTimeoutMillis: 5_000,
    });
    this.#listener = listener;
    const lost = (): void => {
      if (this.#listener === listener) this.#listener = undefined;
      listener.end().catch(() => {});
    };
    listener.on('error', lost);
    listener.on('end', lost);
    listener.on('notification', ({ payload }) => this.wake(Number(payload)));
    listener
      .connect()
      .then(() => listener.query(`LISTEN "${this.#db.channel}"`))
      // A record may have been appended between the first read and LISTEN.
      .then(() => this.#ask())
      .catch(lost);
  }
}
