/**
 * Counts the events of a line that the line does not list. The log does not keep every event of a storm, and a template gets at
 * most `LISTED_EVENTS` events. Earpiece itself adds the text about the unlisted events, because a template may omit it.
 */
import { MAX_DIFFERS } from './item.ts';
import type { Json } from './json.ts';
import type { Grouped, Line } from './plan.ts';

/** The events that a line counts and does not list. `keys`: some of their keys, for a reader who wants details. */
export type Unlisted = { readonly count: number; readonly type: string; readonly keys: readonly string[] };

/** The maximum number of different events of one line that its template gets. */
export const LISTED_EVENTS = 200;

/** The maximum number of keys that the line itself names. */
const KEYS_IN_LINE = 5;

/** Returns the events that the line does not list. Undefined if the line lists all events. */
export function unlistedOf({ group = [], subscriber }: Pick<Line, 'group' | 'subscriber'>): Unlisted | undefined {
  let count = 0;
  let room = LISTED_EVENTS;
  const keys: string[] = [];
  for (const item of group) {
    if (item.subscribed.rest) {
      count += item.count;
      for (const { data } of item.details) keys.push(...countedKeys(data));
      continue;
    }
    const listed = Math.min(room, item.details.length);
    room -= listed;
    if (listed < item.details.length) count += listed === 0 ? item.count : item.details.length - listed;
    if (listed > 0 && !keepsDetails(item)) count += Math.max(0, item.count - item.details.length);
  }
  return count === 0 ? undefined : { count, type: subscriber?.event.type ?? 'such', keys: [...new Set(keys)] };
}

/** Whether the log kept each different detail of these events. If false, further events may have had other details. */
export const keepsDetails = ({ details }: Pick<Grouped, 'details'>): boolean => details.length <= MAX_DIFFERS;

/** Whether a line only counts events, so that its template has nothing to show. */
export const listsNothing = ({ group = [] }: Pick<Line, 'group'>): boolean =>
  group.length > 0 && group.every(({ subscribed }) => subscribed.rest);

/** Returns a text such as `90 more build.failed events, not listed here: web, api, docs, …`. */
export function unlistedText({ count, type, keys }: Unlisted, most = KEYS_IN_LINE): string {
  const named = keys.slice(0, most);
  const list = named.length === 0 ? '' : `: ${named.join(', ')}${named.length < count ? ', …' : ''}`;
  return `${count} more ${type} event${count === 1 ? '' : 's'}, not listed here${list}`;
}

/** Returns the keys of a storm's unlisted events, from the data of the record that counts them. */
export function countedKeys(data: Json | undefined): readonly string[] {
  if (typeof data !== 'object' || data === null || !('keys' in data)) return [];
  const { keys } = data as { readonly keys: Json };
  return Array.isArray(keys) ? keys.filter((key) => typeof key === 'string') : [];
}
