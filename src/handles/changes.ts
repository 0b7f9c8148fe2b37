/** Lets several callers wait for the next change of any handle. */
export class Changes {
  readonly #listeners = new Set<() => void>();

  happened(): void {
    const listeners = [...this.#listeners];
    this.#listeners.clear();
    for (const listener of listeners) listener();
  }

  /** Resolves at the next change, or if the signal aborts. */
  next(signal: AbortSignal): Promise<void> {
    if (signal.aborted) return Promise.resolve();
    return new Promise((resolve) => {
      const done = (): void => {
        this.#listeners.delete(done);
        signal.removeEventListener('abort', done);
        resolve();
      };
      this.#listeners.add(done);
      signal.addEventListener('abort', done, { once: true });
    });
  }
}
