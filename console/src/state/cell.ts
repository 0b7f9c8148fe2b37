/** A value that can change, with its listeners. */
import { useSyncExternalStore } from 'react';

export class Cell<T> {
  #value: T;
  readonly #watchers = new Set<() => void>();

  constructor(value: T) {
    this.#value = value;
  }

  get value(): T {
    return this.#value;
  }

  set(value: T): void {
    if (Object.is(value, this.#value)) return;
    this.#value = value;
    for (const watcher of this.#watchers) watcher();
  }

  watch = (watcher: () => void): (() => void) => {
    this.#watchers.add(watcher);
    return () => this.#watchers.delete(watcher);
  };

  read = (): T => this.#value;
}

export const useCell = <T>(cell: Cell<T>): T => useSyncExternalStore(cell.watch, cell.read);
