/** Makes the context that a subscriber's template gets for a line of the plan. */
import { defined } from '../../core/defined.ts';
import type { Json } from '../../core/json.ts';
import { formatKind } from '../../core/notification.ts';
import type { Grouped, Line } from '../../core/plan.ts';
import { keepsDetails, LISTED_EVENTS } from '../../core/unlisted.ts';

/** The maximum length of a text in a payload, and of a message, in characters. */
const TEXT_CHARS = 500;
const MESSAGE_CHARS = 2_000;
/**
 * The maximum number of characters in one event's message and payload, and in all messages and payloads of a line. Text beyond a
 * limit is replaced by "…".
 */
const EVENT_CHARS = 20_000;
const LINE_CHARS = 100_000;
const MAX_DEPTH = 50;

/**
 * Makes the values that a template of a subscriber can use:
 * - `notification`: `{subscriber_id, kind, level}`.
 * - `events`, oldest first, one for each different detail: `{type, source, severity, timestamp, payload, data, message, count}`.
 *   `data` equals `payload`. `timestamp` is in ISO format. `event` is the first event. `event` is missing if there is no event.
 * - `count`: the number of all events, including unlisted events. A template need not state the number of unlisted events,
 *   because Earpiece adds this number (`core/unlisted.ts`).
 * - `timestamp`: the time of the last event. `time_zone`: the zone for `format_time`.
 *
 * For events that were counted together, the count of each detail is unknown. Each detail counts as 1, and the first detail also
 * gets the remainder. If the log does not keep each detail, the remainder is unlisted. Control characters stay, because views
 * neutralize the results of templates.
 */
export function contextOf(
  line: Pick<Line, 'subscriber' | 'group' | 'kind' | 'level' | 'lastAt'>,
  { timeZone = 'UTC' }: { readonly timeZone?: string } = {},
): Json {
  const group = line.group ?? [];
  const listed = group.filter(({ subscribed }) => subscribed.rest !== true);
  const purse: Purse = { left: LINE_CHARS };

  const all = listed.flatMap((item) => item.details.map((_detail, at) => ({ item, at })));
  const events = all.slice(0, LISTED_EVENTS).map(({ item, at }) => eventOf(item, at, purse));
  const [event] = events;
  return {
    notification: { subscriber_id: line.subscriber?.id ?? '', kind: formatKind(line.kind), level: line.level },
    events,
    ...defined({ event }),
    count: sum(group.map(({ count }) => count)),
    timestamp: isoOf(line.lastAt),
    time_zone: timeZone,
  };
}

function eventOf(item: Grouped, at: number, purse: Purse): Json {
  const { event } = item.subscribed;
  const detail = item.details[at];
  const own: Purse = { left: Math.min(EVENT_CHARS, purse.left) };
  const given = own.left;
  const message = lighter(detail?.message ?? '', own, MESSAGE_CHARS);
  const data = lighter(detail?.data ?? {}, own, TEXT_CHARS);
  purse.left -= given - own.left;
  const payload = typeof data === 'object' && data !== null && !Array.isArray(data) ? data : { value: data };
  return {
    type: event.type,
    source: event.source,
    severity: event.severity,
    // The log does not keep the times of later details. Each later detail gets the time of the last detail, which is an upper
    // bound.
    timestamp: isoOf(at === 0 ? event.time : item.lastAt),
    payload,
    data: payload,
    message,
    count: countOf(item, at),
  };
}

const countOf = (item: Grouped, at: number): number =>
  at === 0 && keepsDetails(item) ? Math.max(1, item.count - item.details.length + 1) : 1;

type Purse = { left: number };

/**
 * Copies a value and cuts long texts. Beyond the limit in `purse`, a value becomes "…", and further fields of an object are left
 * out.
 */
function lighter(value: Json, purse: Purse, chars: number, depth = 0): Json {
  if (purse.left <= 0) return '…';
  if (typeof value === 'string') {
    const text = cut(value, chars);
    purse.left -= text.length + 4;
    return text;
  }
  if (typeof value !== 'object' || value === null) {
    purse.left -= 4;
    return value;
  }
  purse.left -= 16;
  if (depth >= MAX_DEPTH) return '…';
  if (Array.isArray(value)) {
    const list: Json[] = [];
    for (const each of value as readonly Json[]) {
      list.push(lighter(each, purse, chars, depth + 1));
      if (purse.left <= 0) break;
    }
    return list.length < value.length ? [...list, '…'] : list;
  }
  const fields: [string, Json][] = [];
  for (const [key, each] of Object.entries(value)) {
    purse.left -= key.length + 4;
    fields.push([key, lighter(each, purse, chars, depth + 1)]);
    if (purse.left <= 0) break;
  }
  return Object.fromEntries(fields);
}

/** Cuts a text to at most `chars` UTF-16 units, and never within a surrogate pair. */
function cut(text: string, chars: number): string {
  if (text.length <= chars) return text;
  const end = chars - 1;
  const high = text.charCodeAt(end - 1);
  return `${text.slice(0, high >= 0xd800 && high <= 0xdbff ? end - 1 : end)}…`;
}

const sum = (counts: readonly number[]): number => counts.reduce((total, count) => total + count, 0);
const isoOf = (time: number): string => new Date(time).toISOString();
