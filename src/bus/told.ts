/** Finds the details that a subscriber queued recently. It reads them from the log, because other processes queue too. Pure. */
import { messageOf, VOLATILE, type Event } from '../core/event.ts';
import { AGREE_MS, queuedAt } from '../core/clocks.ts';
import type { Item } from '../core/items.ts';
import type { Json } from '../core/json.ts';
import { matchesType } from './matching.ts';
import type { Subscriber } from './subscriber.ts';

/** The log's facts about a queued notification. */
export type Logged = Pick<Item, 'notification' | 'at' | 'clock' | 'lastAt' | 'differs' | 'outcome'>;

/**
 * Converts the times of items to this clock. Omits an item whose time is in the clock's future, because an event must not wait
 * for such a time.
 */
export const byClock = (items: readonly Logged[], now: number): readonly Logged[] =>
  items.flatMap((item) => {
    const at = queuedAt(item, now);
    if (at === undefined) return [];
    return [{ ...item, at, lastAt: item.lastAt > now + AGREE_MS ? at : item.lastAt }];
  });

/** The different details of a key, each with the time when it was first queued, epoch ms. */
export type ToldDetails = Map<string, number>;

/**
 * Makes the text that identifies a detail. The type is part of it, because a firing alert differs from its end. A message that
 * was made from the data is not.
 */
function detailOf(type: string, message: string | undefined, data: Json): string {
  const own = message === undefined || (isTable(data) && message === messageOf({ type, data })) ? '' : message;
  return `${type}\n${own}\n${lasting(data)}`;
}

/** The JSON of the data without fields that differ from call to call. A walk over the fields would take four times as long. */
function lasting(data: Json): string {
  const text = JSON.stringify(data);
  if (!MAY_BE_VOLATILE.test(text)) return text;
  return JSON.stringify(data, (name, value: unknown) => (VOLATILE.has(name) ? undefined : value));
}

const MAY_BE_VOLATILE = new RegExp(`"(?:${[...VOLATILE].join('|')})":`, 'u');

export const detailOfEvent = ({ type, message, data }: Event): string => detailOf(type, message, data);

const isTable = (data: Json): data is Readonly<Record<string, Json>> =>
  typeof data === 'object' && data !== null && !Array.isArray(data);

/**
 * The details by key, from the subscriber's `items`, newest first. An event counts as new after its notification was withdrawn or
 * its state has ended. If there are several states, only the newest counts.
 */
export function toldBy({ withdraw, output }: Subscriber, items: readonly Logged[]): Map<string, ToldDetails> {
  const told = new Map<string, ToldDetails>();
  const over = new Set<string>();
  for (const { notification, outcome, at, lastAt, differs } of items) {
    const { key, message, data = {}, deliver, subscriber } = notification;
    if (key === undefined || subscriber?.rest || over.has(key)) continue;
    if (outcome === 'withdrawn' || withdraw?.types.some((type) => matchesType(type, subscriber?.event.type ?? ''))) {
      over.add(key);
      continue;
    }
    // This item is itself a repetition that waits for the end of the window.
    if (typeof deliver === 'object' && 'at' in deliver) continue;
    const details = told.get(key) ?? new Map<string, number>();
    told.set(key, details);
    const add = (detail: string, when: number): void => void (details.has(detail) || details.set(detail, when));
    const type = subscriber?.event.type ?? '';
    add(detailOf(type, message, data), at);
    for (const other of differs) add(detailOf(type, other.message ?? message, other.data ?? data), lastAt);
    if (output.supersede) over.add(key);
  }
  return told;
}
