/** Decides which subscribers get an event, and which key the event has. Pure. */
import { severityRank, type Event } from '../core/event.ts';
import { shortened } from '../core/checksum.ts';
import type { Json } from '../core/json.ts';
import type { Subscriber, SubscriberSet } from './subscriber.ts';

/**
 * Finds the subscribers that listen to an event type, or that withdraw notifications at events of this type. The result for
 * each type is cached.
 */
export class TypeIndex {
  readonly #listening: ByType;
  readonly #withdrawn: ByType;

  constructor(set: SubscriberSet) {
    this.#listening = new ByType(set.subscribers, (subscriber) => subscriber.events.types);
    this.#withdrawn = new ByType(set.subscribers, (subscriber) => subscriber.withdraw?.types ?? []);
  }

  listening(type: string): readonly Subscriber[] {
    return this.#listening.of(type);
  }

  withdrawing(type: string): readonly Subscriber[] {
    return this.#withdrawn.of(type);
  }
}

const NOBODY: readonly Subscriber[] = [];
/** The maximum number of cached types. A source may emit any number of different types. */
const TYPES_KEPT = 1_000;

class ByType {
  readonly #subscribers: readonly Subscriber[];
  readonly #types: (subscriber: Subscriber) => readonly string[];
  readonly #known = new Map<string, readonly Subscriber[]>();

  constructor(subscribers: readonly Subscriber[], types: (subscriber: Subscriber) => readonly string[]) {
    this.#subscribers = subscribers;
    this.#types = types;
  }

  of(type: string): readonly Subscriber[] {
    const known = this.#known.get(type);
    if (known !== undefined) return known;
    const found = this.#subscribers.filter((subscriber) => this.#types(subscriber).some((pattern) => matchesType(pattern, type)));
    if (this.#known.size >= TYPES_KEPT) this.#known.clear();
    this.#known.set(type, found.length === 0 ? NOBODY : found);
    return found;
  }
}

/** Whether the pattern is the type, or is `prefix.*` and the type begins with `prefix.`. */
export const matchesType = (pattern: string, type: string): boolean =>
  pattern === type || (pattern.endsWith('.*') && type.startsWith(pattern.slice(0, -1)) && type.length >= pattern.length);

/**
 * Returns the reason why a subscriber that listens to this type does not get the event. Undefined if neither the severity nor the
 * source excludes the event.
 */
export function excludedBecause({ events }: Subscriber, event: Event): string | undefined {
  if (severityRank(event.severity) < severityRank(events.severityFilter))
    return `severity ${event.severity} is below ${events.severityFilter}`;
  if (events.sources !== undefined && !events.sources.includes(event.source))
    return `source ${event.source} is not among ${events.sources.join(', ')}`;
  return undefined;
}

/** Whether the event comes from a webhook, from a token of an agent, from a send-only token or from an agent's command. */
export const isFromOutside = ({ source }: Event): boolean => /^(?:(?:webhook|token)(?:\/|$)|agent\/)/u.test(source);

/**
 * Returns the dedupe key of an event. Events with the same key are counted, superseded and withdrawn together. The event's own
 * key is used unchanged, because the receiver of an event from outside has already added the source to this key. A key that the
 * subscriber makes for an event from outside also begins with the source. An event without any key is never folded with other
 * events.
 */
export function keyOf({ id, batching }: Subscriber, event: Event): string | undefined {
  if (event.key !== undefined) return event.key;
  if (batching.dedupeKey === undefined) return undefined;
  let key = isFromOutside(event) ? `${event.source}:${id}` : id;
  for (const part of batching.dedupeKey) key += `:${textOf(valueAt(part, event))}`;
  return shortened(key, KEY_CHARS);
}

const KEY_CHARS = 250;

function valueAt(part: string, event: Event): Json | undefined {
  switch (part) {
    case 'type':
    case 'source':
    case 'severity':
    case 'subject':
      return event[part];
    default:
      return part.startsWith('payload.') ? valueIn(event.data, part.slice('payload.'.length).split('.')) : undefined;
  }
}

export function valueIn(data: Json, path: readonly string[]): Json | undefined {
  let value: Json | undefined = data;
  for (const name of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined;
    value = (value as Readonly<Record<string, Json>>)[name];
  }
  return value;
}

const textOf = (value: Json | undefined): string =>
  value === undefined ? '' : typeof value === 'string' ? value : JSON.stringify(value);
