import type { LogKey } from '../core/address.ts';
import { EarpieceError } from '../core/errors.ts';
import { fault } from '../core/faults.ts';
import type { Appended, Swap, Wait } from '../core/ports.ts';
import { DEFAULT_MS } from './insist.ts';
import type { Written } from './placing.ts';

/** `newIds`: no other call can have used the ids that the drafts queue. */
export type Asked = { readonly drafts: readonly Written[]; readonly swaps: readonly Swap[]; readonly newIds?: boolean };
export type Answer =
  | { readonly kind: 'done'; readonly appended: Appended }
  /** An error that concerns only this append. */
  | { readonly kind: 'failed'; readonly error: unknown };
export type BatchHead = { readonly seq: number; readonly at: number };
/** `head`: the newest position and time, if anything was appended. */
export type Batch = { readonly answers: readonly Answer[]; readonly head?: BatchHead };

/** Writes appends of one log in one step, and returns an answer for each append. */
type Commit = (log: LogKey, batch: readonly Asked[], withinMs: number) => Promise<Batch>;

type Waiting = Asked & {
  readonly deadline: number;
  readonly signal: AbortSignal | undefined;
  readonly resolve: (appended: Appended) => void;
  readonly reject: (error: unknown) => void;
};

/** The maximum number of appends in a batch. A larger batch would delay its first caller. */
const MOST = 128;

/** Writes the appends of this process: for each log one batch at a time, of at most 128 waiting appends. */
export class Appends {
  readonly #write: Commit;
  readonly #onHead: (head: BatchHead) => void;
  readonly #waiting = new Map<LogKey, Waiting[]>();
  readonly #running = new Set<Promise<void>>();

  constructor(write: Commit, onHead: (head: BatchHead) => void) {
    this.#write = write;
    this.#onHead = onHead;
  }

  append(log: LogKey, asked: Asked, options: Wait | undefined): Promise<Appended> {
    const { promise, resolve, reject } = Promise.withResolvers<Appended>();
    const deadline = performance.now() + (options?.withinMs ?? DEFAULT_MS);
    const one: Waiting = { ...asked, deadline, signal: options?.signal, resolve, reject };
    const queue = this.#waiting.get(log);
    if (queue !== undefined) queue.push(one);
    else {
      this.#waiting.set(log, [one]);
      const running = Promise.resolve()
        .then(() => this.#run(log))
        .finally(() => this.#running.delete(running));
      this.#running.add(running);
    }
    return promise;
  }

  /** Resolves when all waiting appends have been answered. */
  async end(): Promise<void> {
    await Promise.all(this.#running);
  }

  async #run(log: LogKey): Promise<void> {
    const queue = this.#waiting.get(log) ?? [];
    while (queue.length > 0) await this.#commit(log, queue.splice(0, MOST));
    this.#waiting.delete(log);
  }

  async #commit(log: LogKey, all: readonly Waiting[]): Promise<void> {
    const batch = all.filter((one) => {
      if (one.signal?.aborted) one.reject(one.signal.reason);
      return !one.signal?.aborted;
    });
    if (batch.length === 0) return;
    const withinMs = Math.max(0, Math.max(...batch.map(({ deadline }) => deadline)) - performance.now());
    try {
      const { answers, head } = await this.#write(log, batch, withinMs);
      fault('append.committed');
      if (head !== undefined) this.#onHead(head);
      for (const [at, answer] of answers.entries()) {
        if (answer.kind === 'done') batch[at]?.resolve(answer.appended);
        else batch[at]?.reject(answer.error);
      }
    } catch (error) {
      const isUnavailable = error instanceof EarpieceError && error.code === 'store_unavailable';
      if (batch.length === 1 || isUnavailable) for (const one of batch) one.reject(error);
      // The whole write failed, so each append is retried alone and gets its own answer.
      else for (const one of batch) await this.#commit(log, [one]);
    }
  }
}
