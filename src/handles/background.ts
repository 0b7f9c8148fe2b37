/**
 * Runs tasks in sequence and outside of the tool calls. A task queues or withdraws a notification, or writes a record. The error
 * of a failed task goes to `onTrouble` and never to a caller.
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

  /** Runs a callback that may throw, such as `onChange`. An error goes to `onTrouble`. */
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
