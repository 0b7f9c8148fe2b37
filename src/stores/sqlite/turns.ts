import { EarpieceError } from '../../core/errors.ts';
import type { Wait } from '../../core/ports.ts';
import { busyFor, explain, isBusy } from './trouble.ts';
import { truncation } from './truncation.ts';

/** `askedAt`: in a shared transaction, the time at which its first call began, by `performance.now()`. */
type Asked = Wait & { readonly askedAt?: number };

/**
 * The number of attempts before the event loop runs again. The delays between these attempts block the event loop for about 1 ms.
 */
const TRIES_IN_A_GO = 4;
/**
 * The delay between two attempts. SQLite's own busy handler waits for up to 100 ms. With that handler, the slowest append took 5
 * to 7 times as long.
 */
const PAUSE_MS = { min: 0.05, max: 0.45 };
/**
 * The time after which the holder of the lock is probably stuck, so that attempts are some ms apart. (With 25 ms, the slowest
 * appends of four writers took twice as long.)
 */
const STUCK_MS = 500;

const sleeping = new Int32Array(new SharedArrayBuffer(4));
const pause = (): void => {
  Atomics.wait(sleeping, 0, 0, PAUSE_MS.min + Math.random() * (PAUSE_MS.max - PAUSE_MS.min));
};

/**
 * Runs work on a database that other processes lock for moments. If the database is locked, the work is retried for `withinMs`.
 * Work is synchronous and must leave no open transaction. The writers of one process run in the order of their calls. Readers
 * do not wait for these writers.
 */
export class Turns {
  readonly #path: string;
  readonly #defaultMs: number;
  #waiting: Promise<unknown> | undefined;
  #ended = false;

  constructor(path: string, defaultMs: number) {
    this.#path = path;
    this.#defaultMs = defaultMs;
  }

  async write<T>(work: () => T, options: Asked | undefined): Promise<T> {
    this.#admit(options);
    const deadline = this.#deadline(options);
    const before = this.#waiting;
    if (before === undefined) {
      const first = this.#attempt(work);
      if (first.kind === 'done') return first.result;
    }
    const mine = (before ?? Promise.resolve()).then(() => this.#insist(work, deadline, options));
    const settled = Promise.allSettled([mine]).finally(() => {
      if (this.#waiting === settled) this.#waiting = undefined;
    });
    this.#waiting = settled;
    return mine;
  }

  async read<T>(work: () => T, options: Wait | undefined): Promise<T> {
    this.#admit(options);
    const first = this.#attempt(work);
    return first.kind === 'done' ? first.result : this.#insist(work, this.#deadline(options), options);
  }

  /** Refuses further calls. Resolves when the waiting writes have run or failed. A waiting write fails if a lock is held. */
  async end(): Promise<void> {
    this.#ended = true;
    await this.#waiting;
  }

  #admit(options: Wait | undefined): void {
    if (this.#ended)
      throw new EarpieceError(
        'store_unavailable',
        `the database ${this.#path} was closed by this process: open the database again`,
      );
    options?.signal?.throwIfAborted();
  }

  #deadline(options: Wait | undefined): number {
    return performance.now() + (options?.withinMs ?? this.#defaultMs);
  }

  #waited({ askedAt, withinMs }: Asked = {}): number {
    return askedAt === undefined ? (withinMs ?? this.#defaultMs) : performance.now() - askedAt;
  }

  #attempt<T>(work: () => T): { kind: 'done'; result: T } | { kind: 'busy'; error: unknown } {
    try {
      return { kind: 'done', result: work() };
    } catch (error) {
      if (isBusy(error)) return { kind: 'busy', error };
      throw explain(error, this.#path);
    }
  }

  async #insist<T>(work: () => T, deadline: number, options: Asked | undefined): Promise<T> {
    const started = performance.now();
    for (;;) {
      for (let i = 0; i < TRIES_IN_A_GO; i++) {
        options?.signal?.throwIfAborted();
        const tried = this.#attempt(work);
        if (tried.kind === 'done') return tried.result;
        if (performance.now() >= deadline || this.#ended)
          throw truncation(this.#path, true) ?? busyFor(this.#path, this.#waited(options), tried.error);
        pause();
      }
      const stuck = performance.now() - started > STUCK_MS;
      await new Promise<void>((resolve) => {
        if (stuck) setTimeout(resolve, 1 + Math.random() * 4);
        else setImmediate(resolve);
      });
    }
  }
}
