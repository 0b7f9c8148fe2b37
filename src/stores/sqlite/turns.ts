import { EarpieceError } from '../../core/errors.ts';
import { busyFor, explain, isBusy } from './trouble.ts';

/** Tries in one go before the event loop gets its turn: it is held up for at most about 1 ms. */
const TRIES_IN_A_GO = 4;
/** Between two tries. SQLite's own busy handler backs off to 100 ms and starves: its worst append took 5 to 7 x longer. */
const PAUSE_MS = { min: 0.05, max: 0.45 };
/** After this long between goes with immediate turns of the event loop, it gets pauses of a few ms. */
const IMPATIENT_MS = 25;

const sleeping = new Int32Array(new SharedArrayBuffer(4));
const pause = (): void => {
  Atomics.wait(sleeping, 0, 0, PAUSE_MS.min + Math.random() * (PAUSE_MS.max - PAUSE_MS.min));
};

/**
 * Runs work on a database that other processes lock for moments: at once where possible, else again and again until
 * `withinMs` have passed. Work is synchronous and leaves no open transaction behind. Callers of one process get their turn
 * in the order in which they came.
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

  async run<T>(work: () => T, options: { withinMs?: number; signal?: AbortSignal } | undefined): Promise<T> {
    if (this.#ended)
      throw new EarpieceError('store_unavailable', `the database ${this.#path} was closed by this process: open it again`);
    options?.signal?.throwIfAborted();
    if (this.#waiting === undefined) {
      try {
        return work();
      } catch (error) {
        if (!isBusy(error)) throw explain(error, this.#path);
      }
    }
    const deadline = performance.now() + (options?.withinMs ?? this.#defaultMs);
    const mine = (this.#waiting ?? Promise.resolve()).then(() => this.#insist(work, deadline, options));
    const settled = Promise.allSettled([mine]).finally(() => {
      if (this.#waiting === settled) this.#waiting = undefined;
    });
    this.#waiting = settled;
    return mine;
  }

  /** No more turns; resolves when those that wait had theirs or gave up. */
  async end(): Promise<void> {
    this.#ended = true;
    await this.#waiting;
  }

  async #insist<T>(
    work: () => T,
    deadline: number,
    options: { withinMs?: number; signal?: AbortSignal } | undefined,
  ): Promise<T> {
    const started = performance.now();
    for (;;) {
      for (let i = 0; i < TRIES_IN_A_GO; i++) {
        options?.signal?.throwIfAborted();
        try {
          return work();
        } catch (error) {
          if (!isBusy(error)) throw explain(error, this.#path);
        }
        if (performance.now() >= deadline || this.#ended) throw busyFor(this.#path, options?.withinMs ?? this.#defaultMs);
        pause();
      }
      const patient = performance.now() - started < IMPATIENT_MS;
      await new Promise<void>((resolve) => {
        if (patient) setImmediate(resolve);
        else setTimeout(resolve, 1 + Math.random() * 2);
      });
    }
  }
}
