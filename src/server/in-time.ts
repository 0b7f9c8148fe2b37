/**
 * Lists notifications that were queued, delivered or waiting in a period, page by page. One page reads a limited number of
 * notifications, regardless of how many were queued after the period.
 */
import type { LogKey } from '../core/address.ts';
import { asListed } from '../core/clocks.ts';
import type { Item } from '../core/items.ts';
import type { Inbox } from '../inbox/index.ts';
import { Chunks, PageBytes } from './page-bytes.ts';

export const TIMED_BY = ['queued', 'delivered', 'waiting'] as const;
/** The meaning of the period: queued from `from` to `to`, delivered from `from` to `to`, or waiting (open at `to`). */
export type TimedBy = (typeof TIMED_BY)[number];

export type Timed = {
  readonly by: TimedBy;
  /** Epoch ms, inclusive. */
  readonly from: number;
  /** Epoch ms, exclusive. */
  readonly to: number;
  readonly limit: number;
  /** The value `next` of the previous page. */
  readonly before?: Place | undefined;
  readonly wants: (item: Item) => boolean;
};

/** The end of a page: the position, and the closing time if the page is ordered by closing time. */
export type Place = { readonly at: number; readonly seq: number };

export type TimedPage = { readonly found: readonly { readonly log: LogKey; readonly item: Item }[]; readonly next: Place | null };

/** After this many items of one log, a page stops reading that log. The last chunk may exceed the number. */
const MAX_LOOKED_AT = 2_000;
const CHUNK = 200;

/**
 * Finds the lowest position from which on all records of a log were written at `time` or later. Times never decrease in a log, so
 * a binary search needs some 20 steps.
 */
export async function positionAt(inbox: Inbox, log: LogKey, time: number): Promise<number> {
  const head = await inbox.store.head();
  let low = 1;
  let high = head + 1;
  if (time > inbox.store.now()) {
    // Most requests ask for a period that has not ended. If the newest record is older than `time`, no search is needed.
    const [last] = await inbox.store.read({ log, newestFirst: true, limit: 1 });
    if (last === undefined || last.at < time) return high;
  }
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    const [found] = await inbox.store.read({ log, after: middle - 1, limit: 1 });
    if (found === undefined || found.at >= time) high = middle;
    else low = found.seq + 1;
  }
  return low;
}

type Found = { readonly log: LogKey; readonly item: Item };

/** Lists one page from several logs, newest first. `delivered` is ordered by the time of delivery. */
export async function listInTime(inbox: Inbox, logs: readonly LogKey[], query: Timed): Promise<TimedPage> {
  let page: TimedPage = { found: [], next: null };
  for (const log of logs) {
    const { items, stopped } = await oneLog(inbox, log, query);
    page = merged(
      page,
      items.map((item) => ({ log, item })),
      stopped,
      query,
    );
  }
  return page;
}

/** Adds the items of a log to the page. If a log was not read to its end, the page ends where the reading of that log stopped. */
function merged(page: TimedPage, more: readonly Found[], stopped: Place | null, { by, limit }: Timed): TimedPage {
  const place = ({ item }: Found): Place => placeOf(item, by);
  const floor = page.next === null || (stopped !== null && isAfter(stopped, page.next)) ? stopped : page.next;
  const sorted = [...page.found, ...more]
    .filter((each) => floor === null || !isAfter(floor, place(each)))
    .toSorted((a, b) => (isAfter(place(a), place(b)) ? -1 : isAfter(place(b), place(a)) ? 1 : 0));
  const room = new PageBytes();
  const found: Found[] = [];
  // A notification is never split: the page contains its items for all audiences.
  for (const group of Map.groupBy(sorted, ({ item }) => item.seq).values()) {
    const last = found.at(-1);
    if (last !== undefined && (found.length >= limit || !room.take(group.map(sizedAs)))) return { found, next: place(last) };
    if (last === undefined) room.take(group.map(sizedAs));
    for (const each of group) found.push(each);
  }
  return { found, next: floor };
}

/** Returns the parts of an item that make up most of its size in an answer. */
const sizedAs = ({ item: { notification, history, text, group } }: Found): unknown => [notification, history, text, group];

const placeOf = (item: Item, by: TimedBy): Place => ({ at: by === 'delivered' ? (item.closedAt ?? 0) : 0, seq: item.seq });
const isAfter = (a: Place, b: Place): boolean => a.at > b.at || (a.at === b.at && a.seq > b.seq);

async function oneLog(
  inbox: Inbox,
  log: LogKey,
  query: Timed,
): Promise<{ readonly items: readonly Item[]; readonly stopped: Place | null }> {
  const { by, from, to, limit, wants } = query;
  const items: Item[] = [];
  let before: Place = query.before ?? { at: to, seq: by === 'delivered' ? 0 : await positionAt(inbox, log, to) };
  const chunks = new Chunks(CHUNK);
  const room = new PageBytes();
  for (let looked = 0; looked < MAX_LOOKED_AT;) {
    const chunk = chunks.next();
    looked += chunk;
    const page: readonly Item[] =
      by === 'delivered'
        ? await inbox.store.items(log, {
            kind: 'closed',
            limit: chunk,
            from,
            to,
            before: { closedAt: before.at, seq: before.seq },
          })
        : await inbox.store.items(log, { kind: 'latest', limit: chunk, before: before.seq });
    const last = page.at(-1);
    if (last === undefined) return { items, stopped: null };
    // The last notification may have more items for other audiences, so all its items are read.
    const whole =
      page.length < chunk
        ? page
        : [...page.filter(({ seq }) => seq !== last.seq), ...(await inbox.store.items(log, { kind: 'ids', ids: [last.id] }))];
    const wanted = whole.filter((item) => isThen(asListed(item, inbox.store.now()), query) && wants(item));
    for (const item of wanted) items.push(item);
    before = placeOf(last, by);
    if (page.length < chunk || (by === 'queued' && last.at < from)) return { items, stopped: null };
    // The page is full.
    if (items.length > limit || !room.take(wanted.map((item) => sizedAs({ log, item })))) break;
    // Other requests can run between two reads.
    await new Promise(setImmediate);
  }
  return { items, stopped: before };
}

function isThen(item: Item, { by, from, to }: Timed): boolean {
  const { at, closedAt = Number.POSITIVE_INFINITY } = item;
  // A folded item is left out, because the count of another item includes it.
  if (item.outcome === 'folded') return false;
  switch (by) {
    case 'queued':
      return at >= from && at < to;
    case 'delivered':
      return item.outcome === 'delivered' && closedAt >= from && closedAt < to;
    case 'waiting':
      return at < to && closedAt >= to;
    default:
      return by satisfies never;
  }
}
