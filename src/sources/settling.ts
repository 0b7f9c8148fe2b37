/**
 * Waits for each key until the key has not changed for `quietMs`. All keys share one timer, because a hundred thousand changed
 * files must not need a hundred thousand timers.
 */
export type SettlingOptions = {
  readonly quietMs: number;
  /** How long after a key's first change further changes delay the key, in ms. Default: ten times `quietMs`. */
  readonly withinMs?: number;
  /** Returns a monotonic time in milliseconds. */
  readonly now?: () => number;
};

export class Settling<K> {
  readonly #quietMs: number;
  readonly #withinMs: number;
  readonly #now: () => number;
  readonly #due: (key: K) => void;
  /** The keys in the order of their due times. A key that is delayed moves to the end. */
  #waiting = new Map<K, { readonly first: number; readonly due: number }>();
  #timer: NodeJS.Timeout | undefined;

  constructor({ quietMs, withinMs = quietMs * 10, now = () => performance.now() }: SettlingOptions, due: (key: K) => void) {
    [this.#quietMs, this.#withinMs, this.#now, this.#due] = [quietMs, withinMs, now, due];
  }

  get size(): number {
    return this.#waiting.size;
  }

  touch(key: K): void {
    const now = this.#now();
    const first = this.#waiting.get(key)?.first ?? now;
    if (now - first < this.#withinMs) {
      this.#waiting.delete(key);
      this.#waiting.set(key, { first, due: now + this.#quietMs });
    }
    this.#arm(this.#quietMs);
  }

  /** Makes all keys due now. */
  flush(): void {
    const keys = [...this.#waiting.keys()];
    this.clear();
    for (const key of keys) this.#due(key);
  }

  clear(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#waiting.clear();
  }

  #arm(ms: number): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      const now = this.#now();
      for (const [key, { due }] of this.#waiting) {
        if (due > now) return this.#arm(due - now);
        this.#waiting.delete(key);
        this.#due(key);
      }
    }, ms);
  }
}
