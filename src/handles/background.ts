/**
 * Runs tasks outside of the calls, in sequence. The tasks queue, withdraw and record notifications. Their failures never reach a
 * caller.
 */
export class Background {
  readonly #onTrouble: (error: unknown) => void;
  #queue: Promise<void> = Promise.resolve();

  constructor(onTrouble: (error: unknown) => void) {
    this.#onTrouble = onTrouble;
  }

  /** Runs the task after all earlier tasks. */
  run(task: () => Promise<void>): void {
    this.#queue = this.#queue.then(task).catch((error: unknown) => this.#onTrouble(error));
  }

  /** Runs a callback that may throw, such as the display. */
  attempt(work: () => void): void {
    try {
      work();
    } catch (error) {
      this.#onTrouble(error);
    }
  }

  /** Resolves when every task has run, including tasks that other tasks added. */
  async idle(): Promise<void> {
    for (let seen; seen !== this.#queue;) await (seen = this.#queue);
  }
}
