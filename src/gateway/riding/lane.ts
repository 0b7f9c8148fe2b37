import type { Awaitable } from './rider.ts';

/**
 * Keeps values in order when some need to wait. While nothing waits, values pass at once. A value that follows a waiting one
 * waits too, although its own work has begun.
 */
export class Lane<T> {
  readonly #emit: (value: T) => void;
  readonly #waiting: Awaitable<T | undefined>[] = [];
  #draining = false;

  /** A pushed promise must not reject. `undefined` emits nothing. */
  constructor(emit: (value: T) => void) {
    this.#emit = emit;
  }

  push(value: Awaitable<T | undefined>): void {
    if (value === undefined) return;
    if (!this.#draining && !(value instanceof Promise)) return this.#emit(value);
    this.#waiting.push(value);
    if (!this.#draining) void this.#drain();
  }

  async #drain(): Promise<void> {
    this.#draining = true;
    for (let next = this.#waiting.shift(); next !== undefined; next = this.#waiting.shift()) {
      const value = next instanceof Promise ? await next : next;
      if (value !== undefined) this.#emit(value);
    }
    this.#draining = false;
  }
}
