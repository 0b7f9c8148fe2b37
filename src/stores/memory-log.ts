/** Keeps the log of one agent in memory: the records, and the indexes of the items. */
import { splitLog, type LogKey } from '../core/address.ts';
import { isExpired } from '../core/clocks.ts';
import { ANYONE, formerOf, type Item, settle, touches, type Touches } from '../core/items.ts';
import type { NotificationId } from '../core/notification.ts';
import {
  MAX_CONVERSATIONS_OF_AN_OVERVIEW,
  type AgentOverview,
  type ItemQuery,
  type LogOverview,
  type Presence,
  type ReadQuery,
} from '../core/ports.ts';
import { isSignOfWork, type CarrierId, type Stored } from '../core/records.ts';
import { heldFor, takenBy } from './audience.ts';
import { isHousekeeping, isPast, removable, removableLoose } from './retention.ts';

/** The cell of one item, which all indexes of the log share. When the item changes, the cell gets the new item. */
export type Cell = { item: Item };

/**
 * The records of one log, and the indexes of its items. `records` and `open` are ordered oldest first. `newestOpened` is the
 * highest position that an open item has had. `loose`: the housekeeping records that changed no item.
 */
export type Log = {
  readonly key: LogKey;
  readonly project: string;
  records: Stored[];
  readonly byId: Map<NotificationId, Cell[]>;
  readonly open: Set<Cell>;
  newestOpened: number;
  readonly gate: Set<Cell>;
  readonly unread: Set<Cell>;
  readonly closed: Set<Cell>;
  readonly byKey: Map<string, Set<Cell>>;
  readonly byCarrier: Map<CarrierId, Set<Cell>>;
  readonly loose: Stored[];
};

export function newLog(key: LogKey): Log {
  return {
    key,
    project: splitLog(key).project,
    records: [],
    byId: new Map(),
    open: new Set(),
    newestOpened: 0,
    gate: new Set(),
    unread: new Set(),
    closed: new Set(),
    byKey: new Map(),
    byCarrier: new Map(),
    loose: [],
  };
}

export function openOf(log: Log): LogOverview {
  const open = { info: 0, warning: 0, error: 0, critical: 0 };
  for (const { item } of log.open) open[item.notification.level]++;
  const [oldest] = log.open;
  return { log: log.key, open, ...(oldest === undefined ? {} : { oldestOpenAt: oldest.item.at }) };
}

export function overviewOf(key: LogKey, log: Log | undefined, presence: readonly Presence[], now: number): AgentOverview {
  const last = log?.records.findLast(({ body }) => isSignOfWork(body));
  const { conversation, on, name } = (last?.body ?? {}) as Record<string, unknown>;
  const what = name ?? on;
  const gates = [...(log?.gate ?? [])].map(({ item }) => item).filter((item) => !isExpired(item, now));
  return {
    ...(log === undefined ? { log: key, open: { info: 0, warning: 0, error: 0, critical: 0 } } : openOf(log)),
    paused: gates.some(({ notification }) => notification.action === 'pause'),
    gated: gates.length > 0,
    presence: presence
      .toSorted((a, b) => b.seenAt - a.seenAt || (a.conversation < b.conversation ? -1 : 1))
      .slice(0, MAX_CONVERSATIONS_OF_AN_OVERVIEW),
    ...(last === undefined
      ? {}
      : {
          last: {
            type: last.body.type,
            at: last.at,
            ...(typeof conversation === 'string' ? { conversation } : {}),
            ...(typeof what === 'string' ? { what } : {}),
          },
        }),
  };
}

/** Finds the cells that a record touches, including cells that earlier drafts of the same append made or changed. */
export function found(
  log: Log,
  need: Touches,
  pending: { made: ReadonlyMap<NotificationId, readonly Cell[]>; changed: ReadonlyMap<Cell, Item> },
): Cell[] {
  const cells: Cell[] = [];
  for (const id of new Set([...need.ids, ...need.creates]))
    for (const cell of [...(log.byId.get(id) ?? []), ...(pending.made.get(id) ?? [])]) cells.push(cell);
  if (need.carrier !== undefined) {
    const carried = new Set(log.byCarrier.get(need.carrier));
    for (const [cell, item] of pending.changed) if (item.carrier === need.carrier) carried.add(cell);
    for (const cell of [...carried].sort((a, b) => a.item.seq - b.item.seq)) cells.push(cell);
  }
  return cells;
}

/** Finds the cell with the item's former state, if there is one. */
export function cellOf(item: Item, cells: readonly Cell[], changed: ReadonlyMap<Cell, Item>): Cell | undefined {
  const now = (cell: Cell): Item => changed.get(cell) ?? cell.item;
  const was = formerOf(item, cells.map(now));
  return was && cells.find((cell) => now(cell) === was);
}

/** Puts the new items into their cells. */
export function placeAll(log: Log, changed: ReadonlyMap<Cell, Item>): void {
  let sorted = true;
  for (const [cell, item] of changed) {
    if (item.state !== 'closed' && !log.open.has(cell)) {
      // The position of a copy, or of an item that opens again, may be lower than the positions of open items.
      if (item.seq < log.newestOpened) sorted = false;
      else log.newestOpened = item.seq;
    }
    place(log, cell, item);
  }
  if (!sorted) inOrder(log.open);
}

/**
 * Puts the new item into the cell. Moves the cell into the indexes to which the new item belongs, and out of all other indexes.
 */
function place(log: Log, cell: Cell, item: Item): void {
  const { key } = item.notification;
  const previous = cell.item;
  const isClosed = item.state === 'closed';
  cell.item = item;
  keep(log.open, cell, !isClosed);
  keep(log.closed, cell, isClosed);
  keep(log.gate, cell, item.gate);
  keep(log.unread, cell, isUnread(item));
  if (key !== undefined) index(log.byKey, key, cell, item.state === 'open');
  if (previous.carrier !== undefined && previous.carrier !== item.carrier) index(log.byCarrier, previous.carrier, cell, false);
  if (item.carrier !== undefined) index(log.byCarrier, item.carrier, cell, true);
}

function inOrder(cells: Set<Cell>): void {
  const sorted = [...cells].sort((a, b) => a.item.seq - b.item.seq);
  cells.clear();
  for (const cell of sorted) cells.add(cell);
}

const isUnread = (item: Item): boolean =>
  item.state === 'closed' && !item.read && (item.outcome === 'delivered' || item.outcome === 'summarized');

const isDone = (item: Item): boolean => item.state === 'closed' && !isUnread(item);

function keep(set: Set<Cell>, cell: Cell, belongs: boolean): void {
  if (belongs) set.add(cell);
  else set.delete(cell);
}

function index<K>(map: Map<K, Set<Cell>>, key: K, cell: Cell, belongs: boolean): void {
  const set = map.get(key);
  if (set === undefined) {
    if (belongs) map.set(key, new Set([cell]));
    return;
  }
  keep(set, cell, belongs);
  if (set.size === 0) map.delete(key);
}

export function select(log: Log, query: ItemQuery): Item[] {
  switch (query.kind) {
    case 'open': {
      const { conversation, limit = Infinity } = query;
      const items: Item[] = [];
      for (const { item } of log.open) {
        if (items.length >= limit) break;
        if (conversation === undefined || item.audience === conversation || item.audience === ANYONE) items.push(item);
      }
      return items;
    }
    case 'held':
      return select(log, { kind: 'open' }).filter((item) => takenBy(item) !== ANYONE);
    case 'gate':
      return oldestFirst(log.gate).filter((item) => heldFor(item, query.conversation) && (!query.read || isDone(item)));
    case 'unread':
      return newestFirst(log.unread)
        .filter((item) => item.seq < (query.before ?? Infinity))
        .filter((item) => query.conversation === undefined || takenBy(item) === query.conversation)
        .slice(0, query.limit);
    case 'key':
      return oldestFirst(log.byKey.get(query.key) ?? []);
    case 'ids':
      return oldestFirst([...new Set(query.ids)].flatMap((id) => log.byId.get(id) ?? []));
    case 'carrier':
      return oldestFirst(log.byCarrier.get(query.carrier) ?? []);
    case 'latest': {
      const { before = Infinity, state } = query;
      const cells = [...log.byId.values()]
        .flat()
        .filter(({ item }) => item.seq < before && (state === undefined || (item.state === 'closed') === (state === 'closed')));
      return newestFirst(cells).slice(0, query.limit);
    }
    case 'closed': {
      const { from, to, limit, before = { closedAt: to, seq: 0 } } = query;
      return [...log.byId.values()]
        .flat()
        .map(({ item }) => ({ item, at: item.closedAt ?? -Infinity }))
        .filter(({ item, at }) => at >= from && (at < before.closedAt || (at === before.closedAt && item.seq < before.seq)))
        .sort((a, b) => b.at - a.at || b.item.seq - a.item.seq)
        .slice(0, limit)
        .map(({ item }) => item);
    }
  }
}

const oldestFirst = (cells: Iterable<Cell>): Item[] => Array.from(cells, (cell) => cell.item).sort((a, b) => a.seq - b.seq);
const newestFirst = (cells: Iterable<Cell>): Item[] => Array.from(cells, (cell) => cell.item).sort((a, b) => b.seq - a.seq);

/**
 * Removes old closed items from one log, and adds the positions of the removed records to `removed`. Returns the number of
 * removed items. `most`: the approximate maximum number of removed items, and of removed records without an item.
 */
export function pruneLog(
  log: Log,
  { before, head, removed, most = Infinity }: { before: number; head: number; removed: Set<number>; most?: number },
): number {
  const going = new Set<NotificationId>();
  for (const cell of log.closed) {
    if (going.size >= most) break;
    const { id, outcome, group } = cell.item;
    const cells = log.byId.get(id) ?? [];
    if (outcome === 'folded' && group !== undefined) continue;
    if (cells.every(({ item }) => isPast(item, before) && !item.history.includes(head))) going.add(id);
  }
  // A folded item stays as long as the item into which it was folded. A replay of that item needs the record of the fold.
  for (const { item } of log.closed)
    if (item.outcome === 'folded' && item.group?.[0] && going.has(item.group[0])) going.add(item.id);
  const old = log.loose.filter((record) => record.at < before && record.seq !== head);
  if (going.size === 0 && old.length === 0) return 0;
  const seqs = new Set<number>();
  let items = 0;
  for (const id of going)
    for (const cell of log.byId.get(id) ?? []) {
      items++;
      for (const seq of cell.item.history) seqs.add(seq);
    }
  const history = log.records.filter((record) => seqs.has(record.seq));
  for (const seq of removable(history, (id) => log.byId.has(id) && !going.has(id))) removed.add(seq);
  const loose = new Set(removableLoose(old).slice(0, most));
  for (const seq of loose) removed.add(seq);
  if (loose.size > 0) {
    const left = log.loose.filter((record) => !loose.has(record.seq));
    log.loose.length = 0;
    for (const record of left) log.loose.push(record);
  }
  for (const id of going) {
    for (const cell of log.byId.get(id) ?? []) {
      log.closed.delete(cell);
      log.unread.delete(cell);
      if (cell.item.carrier !== undefined) index(log.byCarrier, cell.item.carrier, cell, false);
    }
    log.byId.delete(id);
  }
  if (removed.size > 0) log.records = log.records.filter((record) => !removed.has(record.seq));
  return items;
}

/**
 * Applies a record whose position is already fixed, and returns the changed and new items. Returns undefined and adds nothing if
 * `settle` refuses the record, for example because the log already has the notification's id.
 */
export function follow(log: Log, record: Stored): Item[] | undefined {
  const { seq, at, clock, body } = record;
  const cells = found(log, touches(body), { made: new Map(), changed: new Map() });
  const result = settle(
    body,
    { seq, at, ...(clock === undefined ? {} : { clock }) },
    cells.map((cell) => cell.item),
    true,
  );
  if (result.kind !== 'settled') return undefined;
  log.records.push(record);
  if (result.items.length === 0 && isHousekeeping(body)) log.loose.push(record);
  const changed = new Map<Cell, Item>();
  for (const item of result.items) {
    let cell = cellOf(item, cells, changed);
    if (cell === undefined) {
      cell = { item };
      const of = log.byId.get(item.id);
      if (of === undefined) log.byId.set(item.id, [cell]);
      else of.push(cell);
      cells.push(cell);
    }
    changed.set(cell, item);
  }
  placeAll(log, changed);
  return [...result.items];
}

/**
 * Returns the records that match the query, in the query's order and up to its limit. Ignores the query's `log`: the caller has
 * already selected the records of that log. `records` must be in the order of their positions.
 */
export function selectRecords(records: readonly Stored[], query: ReadQuery): Stored[] {
  const { after = 0, upTo = Number.MAX_SAFE_INTEGER, limit = 1000, conversation, newestFirst = false } = query;
  const types = query.types && new Set(query.types);
  const seqs = query.seqs && new Set(query.seqs);
  const matches = ({ log, seq, body }: Stored): boolean =>
    (query.project === undefined || splitLog(log).project === query.project) &&
    (conversation === undefined || body['conversation'] === conversation) &&
    (types === undefined || types.has(body.type)) &&
    (seqs === undefined || seqs.has(seq));
  const selected: Stored[] = [];
  const from = firstAbove(records, after);
  const to = firstAbove(records, upTo);
  for (let i = 0; i < to - from && selected.length < limit; i++) {
    const record = records[newestFirst ? to - 1 - i : from + i] as Stored;
    if (matches(record)) selected.push(record);
  }
  return selected;
}

function firstAbove(records: readonly Stored[], seq: number): number {
  let low = 0;
  let high = records.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((records[middle] as Stored).seq <= seq) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Removes the log's content before this position, and returns the number of removed notifications. */
export function eraseLog(log: Log, before: number): number {
  let notifications = 0;
  log.records = log.records.filter(({ seq }) => seq >= before);
  log.loose.splice(0, log.loose.length, ...log.loose.filter(({ seq }) => seq >= before));
  for (const [id, cells] of log.byId) {
    const going = cells.filter(({ item }) => item.seq < before);
    if (going.length > 0) notifications++;
    if (going.length === cells.length) log.byId.delete(id);
    for (const cell of going) {
      for (const set of [log.open, log.gate, log.unread, log.closed, ...log.byKey.values(), ...log.byCarrier.values()])
        set.delete(cell);
    }
  }
  return notifications;
}
