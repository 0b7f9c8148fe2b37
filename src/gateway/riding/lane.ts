import type { Awaitable } from './rider.ts';

/**
 * Emits values in the order in which they were pushed. Some values are promises. A value waits for earlier promises. Without
 * earlier promises, a value passes at once.
 */
export class Lane<T> {
  readonly #emit: (value: T) => void;
  readonly #waiting: Awaitable<T | undefined>[] = [];
  #draining = false;

  /** `emit` gets each value except undefined. A pushed promise must not reject. */
  constructor(emit: (value: T) => void) {
    this.#emit = emit;
  }

  get idle(): boolean {
    return !this.#draining;
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
