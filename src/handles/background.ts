/** Work beside the calls: what is queued, withdrawn and recorded, one after the other. Its failures never reach a caller. */
export class Background {
  readonly #onTrouble: (error: unknown) => void;
  #queue: Promise<void> = Promise.resolve();

  constructor(onTrouble: (error: unknown) => void) {
    this.#onTrouble = onTrouble;
  }

  /** Runs the task after all that were given before it. */
  run(task: () => Promise<void>): void {
    this.#queue = this.#queue.then(task).catch((error: unknown) => this.#onTrouble(error));
  }

  /** Runs something of the caller's that may throw, such as its display. */
  attempt(work: () => void): void {
    try {
      work();
    } catch (error) {
      this.#onTrouble(error);
    }
  }

  /** Resolves when every task has run, and those that they gave. */
  async idle(): Promise<void> {
    for (let seen; seen !== this.#queue;) await (seen = this.#queue);
  }
}
