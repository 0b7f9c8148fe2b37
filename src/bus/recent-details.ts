/** Finds the details that a subscriber queued recently, in items from the log. The log has the items of all processes. Pure. */
import { messageOf, VOLATILE, type Event } from '../core/event.ts';
import { AGREE_MS, queuedAt } from '../core/clocks.ts';
import { defined } from '../core/defined.ts';
import type { Item } from '../core/items.ts';
import type { Json } from '../core/json.ts';
import { matchesType } from './matching.ts';
import type { Subscriber } from './subscriber.ts';

/** The log's facts about a queued notification. */
export type Logged = Pick<Item, 'notification' | 'at' | 'clock' | 'lastAt' | 'differs' | 'outcome'>;

/**
 * Converts the times of items to this process's clock. Omits an item whose time is more than a day in this clock's future,
 * because no event should wait for such a time.
 */
export const byClock = (items: readonly Logged[], now: number): readonly Logged[] =>
  items.flatMap((item) => {
    const at = queuedAt(item, now);
    if (at === undefined) return [];
    return [{ ...item, at, lastAt: item.lastAt > now + AGREE_MS ? at : item.lastAt }];
  });

/** The different details of a key, each with the time when it was first queued, epoch ms. */
export type RecentDetails = Map<string, number>;

/**
 * Makes the text that identifies a detail. The text contains the type, because a firing alert differs from its end. The text also
 * contains the purpose, because other conversations read an event for another purpose. A message that was made from the data is
 * omitted.
 */
function detailOf(of: { readonly type: string; readonly purpose?: string }, message: string | undefined, data: Json): string {
  const { type, purpose = '' } = of;
  const own = message === undefined || (isTable(data) && message === messageOf({ type, data })) ? '' : message;
  return `${type}\n${purpose}\n${own}\n${lasting(data)}`;
}

/**
 * Returns the JSON of the data without the fields in `VOLATILE`. A walk over all fields would take four times as long as
 * `JSON.stringify`.
 */
function lasting(data: Json): string {
  const text = JSON.stringify(data);
  if (!MAY_BE_VOLATILE.test(text)) return text;
  return JSON.stringify(data, (name, value: unknown) => (VOLATILE.has(name) ? undefined : value));
}

const MAY_BE_VOLATILE = new RegExp(`"(?:${[...VOLATILE].join('|')})":`, 'u');

export const detailOfEvent = (event: Event): string => detailOf(event, event.message, event.data);

const isTable = (data: Json): data is Readonly<Record<string, Json>> =>
  typeof data === 'object' && data !== null && !Array.isArray(data);

/**
 * Finds the details by key in the subscriber's `items`, which are sorted newest first. After a notification was withdrawn or its
 * state has ended, the same event counts as new. With `supersede`, only the newest item of a key counts.
 */
export function recentBy({ withdraw, output }: Subscriber, items: readonly Logged[]): Map<string, RecentDetails> {
  const recent = new Map<string, RecentDetails>();
  const over = new Set<string>();
  for (const { notification, outcome, at, lastAt, differs } of items) {
    const { key, message, data = {}, deliver, purpose, subscriber } = notification;
    if (key === undefined || subscriber?.rest || over.has(key)) continue;
    if (outcome === 'withdrawn' || withdraw?.types.some((type) => matchesType(type, subscriber?.event.type ?? ''))) {
      over.add(key);
      continue;
    }
    // An item that waits for a time may itself be a repetition, so its time does not count.
    if (typeof deliver === 'object' && 'at' in deliver) continue;
    const details = recent.get(key) ?? new Map<string, number>();
    recent.set(key, details);
    const add = (detail: string, when: number): void => void (details.has(detail) || details.set(detail, when));
    const of = { type: subscriber?.event.type ?? '', ...defined({ purpose }) };
    add(detailOf(of, message, data), at);
    for (const other of differs) add(detailOf(of, other.message ?? message, other.data ?? data), lastAt);
    if (output.supersede) over.add(key);
  }
  return recent;
}
