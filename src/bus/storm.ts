/** What there is too much of at once: as much as fits one line is listed, the others are counted. */
import type { Event, Heard } from '../core/event.ts';

/** One different detail of a key, counted. */
export type Detail = { event: Event; count: number };

/** `last`: the number of the newest event of it. */
type Listed = Detail & { readonly key: string | undefined; last: number };

export class Storm {
  readonly details = new Map<string, Listed>();
  readonly more = new Tally();
  last: Event;
  /** What of it had to be told before the rest. */
  readonly before: Promise<Heard>[] = [];
  readonly done = Promise.withResolvers<Heard>();
  readonly #listed: number;

  constructor(first: Event, listed: number) {
    this.last = first;
    this.#listed = listed;
  }

  /** Whether it is listed now, and was not before. */
  count(event: Event, key: string | undefined, last: number): boolean {
    this.last = event;
    const name = key ?? event.id;
    const detail = this.details.get(name);
    if (detail) {
      detail.count++;
      detail.event = event;
      detail.last = last;
      return false;
    }
    if (this.details.size >= this.#listed) {
      this.more.add(key, 1);
      return false;
    }
    this.details.set(name, { event, count: 1, key, last });
    return true;
  }

  /** What is listed of the key; from now on it is not of this storm. */
  takeOut(key: string): Detail | undefined {
    const detail = this.details.get(key);
    this.details.delete(key);
    return detail;
  }

  /** It is over: then it is neither listed nor counted. */
  takeBack(key: string): void {
    this.details.delete(key);
    this.more.take(key);
  }
}

/** So many are remembered by their keys. What is counted beyond them stays counted when it is over. */
const KEYS = 10_000;

/** How much was counted, and under which keys. */
export class Tally {
  readonly #byKey = new Map<string, number>();
  total = 0;

  add(key: string | undefined, count: number): void {
    this.total += count;
    if (key === undefined) return;
    const known = this.#byKey.get(key);
    if (known !== undefined || this.#byKey.size < KEYS) this.#byKey.set(key, (known ?? 0) + count);
  }

  /** How much it was; from now on it is not counted. */
  take(key: string): number {
    const count = this.#byKey.get(key) ?? 0;
    this.#byKey.delete(key);
    this.total -= count;
    return count;
  }

  addAll(other: Tally): void {
    for (const [key, count] of other.#byKey) this.add(key, count);
    this.total += other.total - [...other.#byKey.values()].reduce((sum, count) => sum + count, 0);
  }

  clear(): void {
    this.#byKey.clear();
    this.total = 0;
  }
}
