import type { Wait } from '../../core/ports.ts';
import type { Database, Step } from './database.ts';
import { explain, isUnavailable } from './trouble.ts';
import type { Turns } from './turns.ts';

type Waiting = Step & {
  readonly askedAt: number;
  readonly deadline: number;
  readonly signal: AbortSignal | undefined;
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: unknown) => void;
};

/** The maximum number of writes in a batch. A larger batch would delay its first caller. */
const MOST = 256;

/**
 * Commits the waiting writes, at most `MOST`, in one transaction, with one sync of the disk, in the order of their arrival. Each
 * caller gets its own result. A write that throws or is rolled back does not affect the other writes.
 */
export class Together {
  readonly #db: Database;
  readonly #turns: Turns;
  readonly #defaultMs: number;
  #waiting: Waiting[] = [];
  #running: Promise<void> | undefined;

  constructor(db: Database, turns: Turns, defaultMs: number) {
    this.#db = db;
    this.#turns = turns;
    this.#defaultMs = defaultMs;
  }

  write<T>(step: Step<T>, options: Wait | undefined): Promise<T> {
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    const askedAt = performance.now();
    this.#waiting.push({
      ...(step as Step),
      askedAt,
      deadline: askedAt + (options?.withinMs ?? this.#defaultMs),
      signal: options?.signal,
      resolve: resolve as (result: unknown) => void,
      reject,
    });
    // The batch runs after the current synchronous code, so that all calls of that code share the transaction.
    this.#running ??= Promise.resolve().then(() => this.#run());
    return promise;
  }

  /** Resolves when all waiting writes have been answered. */
  async end(): Promise<void> {
    await this.#running;
  }

  async #run(): Promise<void> {
    while (this.#waiting.length > 0) await this.#commit(this.#waiting.splice(0, MOST));
    this.#running = undefined;
  }

  async #commit(all: readonly Waiting[]): Promise<void> {
    const batch = all.filter((one) => {
      if (one.signal?.aborted) one.reject(one.signal.reason);
      return !one.signal?.aborted;
    });
    if (batch.length === 0) return;
    const left = Math.max(...batch.map(({ deadline }) => deadline)) - performance.now();
    try {
      const outcomes = await this.#turns.write(
        () => {
          // A write is acknowledged only if it is in the file that other processes open.
          this.#db.follow(true);
          return this.#db.writeAll(batch);
        },
        { withinMs: Math.max(0, left), askedAt: Math.min(...batch.map(({ askedAt }) => askedAt)) },
      );
      outcomes.forEach((outcome, at) => {
        if (outcome.kind === 'done') batch[at]?.resolve(outcome.result);
        else batch[at]?.reject(explain(outcome.error, this.#db.path));
      });
    } catch (error) {
      if (batch.length === 1 || isUnavailable(error)) for (const one of batch) one.reject(error);
      // The whole transaction failed, for example on a full disk, so each write is retried alone, with its own result.
      else for (const one of batch) await this.#commit([one]);
    }
  }
}
