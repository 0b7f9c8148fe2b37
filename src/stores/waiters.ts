/**
 * Wakes the callers that wait for new records in a store. Each store has one `Waiters`. `wake` is called with the head after each
 * append of this process, and after each noticed append of another process. `busy` runs when the first caller begins to wait, and
 * `idle` when the last caller stops waiting.
 */
export class Waiters {
  readonly #waiting = new Set<{ after: number; settle: (head: number) => void }>();
  readonly #onBusy: () => void;
  readonly #onIdle: () => void;

  constructor(on: { busy?: () => void; idle?: () => void } = {}) {
    this.#onBusy = on.busy ?? (() => {});
    this.#onIdle = on.idle ?? (() => {});
  }

  get size(): number {
    return this.#waiting.size;
  }

  /** Resolves with the head of the next `wake` above `after`, or with `after` on abort, timeout or close. */
  wait(after: number, options: { withinMs?: number | undefined; signal?: AbortSignal | undefined }): Promise<number> {
    const { withinMs, signal } = options;
    if (signal?.aborted || withinMs === 0) return Promise.resolve(after);
    return new Promise((resolve) => {
      const giveUp = (): void => waiter.settle(after);
      const timer = withinMs === undefined ? undefined : setTimeout(giveUp, withinMs);
      const waiter = {
        after,
        settle: (head: number): void => {
          if (!this.#waiting.delete(waiter)) return;
          clearTimeout(timer);
          signal?.removeEventListener('abort', giveUp);
          if (this.#waiting.size === 0) this.#onIdle();
          resolve(head);
        },
      };
      signal?.addEventListener('abort', giveUp, { once: true });
      this.#waiting.add(waiter);
      if (this.#waiting.size === 1) this.#onBusy();
    });
  }

  wake(head: number): void {
    for (const waiter of this.#waiting) if (head > waiter.after) waiter.settle(head);
  }

  close(): void {
    for (const waiter of this.#waiting) waiter.settle(waiter.after);
  }
}
