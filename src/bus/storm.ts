/**
 * A storm: more different events at once than a channel may queue. The storm lists events up to a limit, some of which may still
 * be queued, and only counts further events.
 */
import type { Event, Handled } from '../core/event.ts';
import type { Item } from '../core/items.ts';
import type { Json } from '../core/json.ts';

/** One detail of a key, and the number of its occurrences. */
export type Detail = { event: Event; count: number };

/** `last`: the number (`OrderedWriter.arrived`) of the detail's newest event. */
type Listed = Detail & { readonly key: string | undefined; last: number };

export class Storm {
  readonly details = new Map<string, Listed>();
  readonly more = new Tally();
  last: Event;
  /** The number of events, listed or only counted. */
  events = 0;
  /** The results of events that had to be queued before the storm's other events. */
  readonly before: Promise<Handled>[] = [];
  readonly done = Promise.withResolvers<Handled>();
  readonly #listed: number;

  constructor(first: Event, listed: number) {
    this.last = first;
    this.#listed = listed;
  }

  /** Counts an event. Returns true if the event is newly listed. */
  count(event: Event, key: string | undefined, last: number): boolean {
    this.last = event;
    this.events++;
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

  /** Removes the listed detail of the key from this storm and returns it. */
  takeOut(key: string): Detail | undefined {
    const detail = this.details.get(key);
    this.details.delete(key);
    return detail;
  }

  /** Removes a key whose state has ended from the list and the counts. */
  takeBack(key: string): void {
    this.details.delete(key);
    this.more.take(key);
  }
}

/** The maximum number of tracked keys. Events of further keys stay counted even after their state has ended. */
const KEYS = 4_000;

/** The maximum number of keys that the notification about the counted events names. */
const NAMED = 100;
const NAME_CHARS = 80;

/** Counts events by key. */
export class Tally {
  readonly #byKey = new Map<string, number>();
  total = 0;

  add(key: string | undefined, count: number): void {
    this.total += count;
    if (key === undefined) return;
    const known = this.#byKey.get(key);
    if (known !== undefined || this.#byKey.size < KEYS) this.#byKey.set(key, (known ?? 0) + count);
  }

  /** Subtracts the events of the key. */
  take(key: string): void {
    this.total -= this.#byKey.get(key) ?? 0;
    this.#byKey.delete(key);
  }

  /** Returns some of the keys as people read them, without the prefix of the subscriber `id`. */
  names(id: string): readonly string[] {
    return namesOf(this.#byKey.keys(), id);
  }

  /** Returns the counts by key for the log, so that any process can subtract events that have ended. */
  counted(): Counted {
    return new Map([...this.#byKey].map(([key, count]) => [shortName(key), count]));
  }
}

/** The number of counted events for each key's short name. */
export type Counted = ReadonlyMap<string, number>;

/** Reads the counts from a notification about the counted events of storms, and from the notifications folded into it. */
export function countedIn({ notification, differs }: Pick<Item, 'notification' | 'differs'>): Counted {
  const counted = new Map<string, number>();
  for (const { data } of [notification, ...differs])
    if (isTable(data) && isTable(data['counted']))
      for (const [name, count] of Object.entries(data['counted']))
        if (typeof count === 'number') counted.set(name, (counted.get(name) ?? 0) + count);
  return counted;
}

/**
 * Subtracts the events that have ended (`over`) from the counted events. A key is subtracted at most as often as it was counted.
 */
export function withoutEnded(counted: Counted, over: Counted): { readonly left: Counted; readonly subtracted: number } {
  const left = new Map(counted);
  let subtracted = 0;
  for (const [name, count] of over) {
    const known = counted.get(name) ?? 0;
    subtracted += Math.min(known, count);
    if (known > count) left.set(name, known - count);
    else left.delete(name);
  }
  return { left, subtracted };
}

function namesOf(keys: Iterable<string>, id: string): readonly string[] {
  const names: string[] = [];
  for (const key of keys) {
    if (names.length >= NAMED) break;
    if (key.length <= NAME_CHARS) names.push(key.startsWith(`${id}:`) ? key.slice(id.length + 1) : key);
  }
  return names;
}

export const stillCounted = (names: readonly string[], counted: Counted, id: string): readonly string[] =>
  names.filter((name) => counted.has(shortName(name)) || counted.has(shortName(`${id}:${name}`)));

/**
 * Makes the data of a counting notification. `write` makes the data of each notification different, because a fold keeps equal
 * data only once.
 */
export const dataOf = (counted: Counted, write: string, keys: readonly string[]): Json => ({
  counted: Object.fromEntries(counted),
  write,
  ...(keys.length === 0 ? {} : { keys }),
});

const isTable = (data: Json | undefined): data is Readonly<Record<string, Json>> =>
  typeof data === 'object' && data !== null && !Array.isArray(data);

/** Returns a 64-bit hash of a key in few characters, because one record may contain thousands of keys. */
export function shortName(key: string): string {
  let a = 0x811c9dc5;
  let b = 0x9dc5811c;
  for (let at = 0; at < key.length; at++) {
    const code = key.charCodeAt(at);
    a = Math.imul(a ^ code, 0x01000193);
    b = Math.imul(b ^ code, 0x85ebca6b) ^ (a >>> 15);
  }
  return (a >>> 0).toString(36) + (b >>> 0).toString(36).padStart(7, '0');
}
