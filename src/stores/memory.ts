import type { ConversationId, LogKey } from '../core/address.ts';
import { splitLog } from '../core/address.ts';
import { clockBeside } from '../core/clocks.ts';
import { EarpieceError } from '../core/errors.ts';
import { type Item, settle, touches } from '../core/items.ts';
import { type Json, jsonCopy } from '../core/json.ts';
import type { NotificationId } from '../core/notification.ts';
import type {
  AgentOverview,
  Appended,
  Clock,
  Erased,
  ItemQuery,
  LogOverview,
  Presence,
  PresenceQuery,
  PresenceUpdate,
  ReadQuery,
  Store,
  Swap,
  Wait,
  Withheld,
} from '../core/ports.ts';
import type { Draft, Owner, Stored } from '../core/records.ts';
import { presenceAfter } from './presence.ts';
import { isHousekeeping, mustConcernNoItem } from './retention.ts';
import { unsound } from './soundness.ts';
import {
  cellOf,
  eraseLog,
  found,
  newLog,
  openOf,
  overviewOf,
  placeAll,
  pruneLog,
  select,
  selectRecords,
  type Cell,
  type Log,
} from './memory-log.ts';
import { storable } from './placing.ts';
import { twice } from './settle-append.ts';
import { Waiters } from './waiters.ts';

/** Makes a store in memory, for tests, and for agents whose notifications need not survive the process. */
export function memoryStore(options: { clock?: Clock } = {}): Store {
  return new MemoryStore(options.clock ?? { now: () => Date.now() });
}

class MemoryStore implements Store {
  readonly name = 'memory';
  readonly private = true;
  readonly #clock: Clock;
  readonly #logs = new Map<LogKey, Log>();
  readonly #presence = new Map<string, Presence>();
  readonly #bindings = new Map<string, { log: LogKey; conversation: ConversationId; at: number }>();
  readonly #withheld = new Map<string, Withheld>();
  readonly #settings = new Map<string, Json>();
  readonly #waiters = new Waiters();
  #records: Stored[] = [];
  #head = 0;
  #lastAt = 0;
  #secret: string | undefined;
  #closed = false;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  now(): number {
    return this.#clock.now();
  }

  ordered(): number {
    return Math.max(this.#clock.now(), this.#lastAt);
  }

  async append(key: LogKey, drafts: readonly Draft[], options?: Wait & { readonly swaps?: readonly Swap[] }): Promise<Appended> {
    this.#check(options);
    const { swaps = [] } = options ?? {};
    const stale = swaps.find((swap) => !this.#isStill(swap));
    if (stale !== undefined) return { kind: 'stale', key: stale.key };
    const log = this.#log(key);
    const at = this.ordered();
    const beside = clockBeside(at, this.now());
    const records: Stored[] = [];
    /** `changed`: the new state of each cell. `made`: the new cells, by id. Both are applied after all drafts are settled. */
    const changed = new Map<Cell, Item>();
    const made = new Map<NotificationId, Cell[]>();
    const loose: Stored[] = [];
    for (const draft of drafts) {
      const body = storable(draft, () => jsonCopy(draft) as Draft);
      const seq = this.#head + records.length + 1;
      const need = touches(body);
      const cells = found(log, need, { made, changed });
      const result = settle(
        body,
        { seq, at, ...beside },
        cells.map((cell) => changed.get(cell) ?? cell.item),
      );
      if (result.kind === 'conflict') return result;
      if (result.kind === 'duplicate') {
        if (made.has(result.id) && !log.byId.has(result.id)) throw twice(result.id);
        const [first] = cells.filter((cell) => cell.item.id === result.id);
        return { kind: 'duplicate', id: result.id, item: (first as Cell).item };
      }
      const stored = { seq, log: key, at, ...beside, body };
      records.push(stored);
      if (result.items.length === 0 && isHousekeeping(body)) loose.push(stored);
      for (const item of result.items) {
        let cell = cellOf(item, cells, changed);
        if (cell === undefined) {
          cell = { item };
          const of = made.get(item.id);
          if (of === undefined) made.set(item.id, [cell]);
          else of.push(cell);
          cells.push(cell);
        }
        changed.set(cell, item);
      }
    }
    for (const { key: name, to } of swaps) this.#set(name, to);
    for (const record of records) {
      log.records.push(record);
      this.#records.push(record);
    }
    for (const record of loose) log.loose.push(record);
    this.#head += records.length;
    if (records.length > 0) this.#lastAt = at;
    for (const [id, cells] of made) log.byId.set(id, [...(log.byId.get(id) ?? []), ...cells]);
    placeAll(log, changed);
    this.#waiters.wake(this.#head);
    return { kind: 'appended', records, items: [...changed.values()] };
  }

  async read(query: ReadQuery, options?: Wait): Promise<readonly Stored[]> {
    this.#check(options);
    return selectRecords(query.log === undefined ? this.#records : (this.#logs.get(query.log)?.records ?? []), query);
  }

  async head(options?: Wait): Promise<number> {
    this.#check(options);
    return this.#head;
  }

  async items(key: LogKey, query: ItemQuery, options?: Wait): Promise<readonly Item[]> {
    this.#check(options);
    const log = this.#logs.get(key);
    return log === undefined ? [] : select(log, query);
  }

  quiet(key: LogKey, conversation: ConversationId): boolean {
    const log = this.#logs.get(key);
    if (log === undefined) return true;
    return (
      select(log, { kind: 'open', conversation, limit: 1 }).length === 0 &&
      select(log, { kind: 'gate', conversation }).length === 0 &&
      this.#presence.get(presenceKey(key, conversation))?.endedAt === undefined
    );
  }

  async countOpen(log: LogKey, options?: Wait): Promise<number> {
    this.#check(options);
    return this.#logs.get(log)?.open.size ?? 0;
  }

  async overview(project?: string, options?: Wait): Promise<readonly LogOverview[]> {
    this.#check(options);
    return [...this.#logs.values()]
      .filter((log) => log.records.length > 0 && (project === undefined || log.project === project))
      .map(openOf)
      .sort((a, b) => (a.log < b.log ? -1 : 1));
  }

  async agents(query: { project?: string; after?: LogKey; limit?: number }, options?: Wait): Promise<readonly AgentOverview[]> {
    this.#check(options);
    const { project, after = '', limit = 100 } = query;
    const seen = Map.groupBy(this.#presence.values(), ({ log }) => log);
    const now = this.now();
    return [...new Set([...this.#logs.keys(), ...seen.keys()])]
      .filter((key) => key > after && !key.endsWith('/*') && (project === undefined || splitLog(key).project === project))
      .filter((key) => seen.has(key) || (this.#logs.get(key)?.records.length ?? 0) > 0)
      .sort((a, b) => (a < b ? -1 : 1))
      .slice(0, limit)
      .map((key) => overviewOf(key, this.#logs.get(key), seen.get(key) ?? [], now));
  }

  async changed(after: number, options: Wait = {}): Promise<number> {
    this.#check(undefined);
    return this.#head > after ? this.#head : this.#waiters.wait(after, options);
  }

  async touch(update: PresenceUpdate, options?: Wait): Promise<Presence> {
    this.#check(options);
    const key = presenceKey(update.log, update.conversation);
    const known = presenceAfter(this.#presence.get(key), update, this.now());
    this.#presence.set(key, known);
    return known;
  }

  async presence(query: PresenceQuery, options?: Wait): Promise<readonly Presence[]> {
    this.#check(options);
    const all = [...this.#presence.entries()]
      .filter(
        ([, known]) =>
          (query.log === undefined || known.log === query.log) &&
          (query.conversation === undefined || known.conversation === query.conversation) &&
          (query.after === undefined || known.log > query.after) &&
          (query.project === undefined || splitLog(known.log).project === query.project),
      )
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([, known]) => known);
    if (query.limit === undefined) return all;
    const page = new Set([...new Set(all.map(({ log }) => log))].slice(0, query.limit));
    return all.filter(({ log }) => page.has(log));
  }

  async bind(host: Owner, to: { log: LogKey; conversation: ConversationId }, options?: Wait): Promise<void> {
    this.#check(options);
    this.#bindings.set(ownerKey(host), { log: to.log, conversation: to.conversation, at: this.now() });
  }

  async binding(host: Owner, options?: Wait): Promise<{ log: LogKey; conversation: ConversationId; at: number } | undefined> {
    this.#check(options);
    return this.#bindings.get(ownerKey(host));
  }

  async withhold(held: Withheld, options?: Wait): Promise<void> {
    this.#check(options);
    this.#withheld.set(`${presenceKey(held.log, held.conversation)}\n${held.id}`, held);
  }

  async withheld(log: LogKey, conversation: ConversationId, options?: Wait & { take?: boolean }): Promise<readonly Withheld[]> {
    this.#check(options);
    const now = this.now();
    const mine = [...this.#withheld].filter(
      ([, held]) => held.log === log && held.conversation === conversation && held.until > now,
    );
    if (options?.take) for (const [key] of mine) this.#withheld.delete(key);
    return mine.map(([, held]) => held).sort((a, b) => a.at - b.at);
  }

  async prune(before: number, options?: Wait): Promise<{ readonly records: number; readonly items: number }> {
    this.#check(options);
    const removed = new Set<number>();
    let items = 0;
    for (const log of this.#logs.values()) items += pruneLog(log, { before, head: this.#head, removed });
    if (removed.size > 0) this.#records = this.#records.filter((record) => !removed.has(record.seq));
    for (const [key, held] of this.#withheld) if (held.until <= this.now()) this.#withheld.delete(key);
    for (const [key, known] of this.#presence)
      // If notifications wait for the conversation, its presence stays, because a wrong clock may have recorded its end.
      if (known.endedAt !== undefined && known.endedAt < before && !this.#waitsFor(known)) this.#presence.delete(key);
    for (const [key, bound] of this.#bindings)
      if (bound.at < before && !this.#presence.has(presenceKey(bound.log, bound.conversation))) this.#bindings.delete(key);
    return { records: removed.size, items };
  }

  async forget(seqs: readonly number[], options?: Wait & { readonly swaps?: readonly Swap[] }): Promise<boolean> {
    this.#check(options);
    const { swaps = [] } = options ?? {};
    if (!swaps.every((swap) => this.#isStill(swap)) || seqs.includes(this.#head)) return false;
    const removed = new Set(seqs);
    const stays = ({ seq }: Stored): boolean => !removed.has(seq);
    const going = this.#records.filter((record) => !stays(record));
    going.forEach(mustConcernNoItem);
    for (const { key, to } of swaps) this.#set(key, to);
    this.#records = this.#records.filter(stays);
    for (const log of new Set(going.map((record) => record.log))) {
      const held = this.#log(log);
      held.records = held.records.filter(stays);
    }
    return true;
  }

  async erase(log: LogKey, before: number, options?: Wait): Promise<Erased> {
    this.#check(options);
    const stays = (record: Stored): boolean => record.log !== log || record.seq >= before;
    const settings = this.#settings.size;
    const going = this.#records.filter((record) => !stays(record));
    this.#records = this.#records.filter(stays);
    const held = this.#logs.get(log);
    const notifications = held === undefined ? 0 : eraseLog(held, before);
    const drop = <T extends { readonly log: LogKey }>(map: Map<string, T>): number => {
      const mine = [...map].filter(([, each]) => each.log === log);
      for (const [key] of mine) map.delete(key);
      return mine.length;
    };
    drop(this.#bindings);
    for (const [key, value] of this.#settings)
      if (key.endsWith(` ${log}`) || key.includes(` ${log}#`) || (typeof value === 'string' && value.startsWith(`${log}#`)))
        this.#settings.delete(key);
    return {
      records: going.length,
      notifications,
      conversations: drop(this.#presence),
      withheld: drop(this.#withheld),
      settings: settings - this.#settings.size,
    };
  }

  async setting(key: string, options?: Wait): Promise<Json | undefined> {
    this.#check(options);
    return this.#settings.get(key);
  }

  async setSetting(key: string, value: Json | undefined, options?: Wait): Promise<void> {
    this.#check(options);
    this.#set(key, value);
  }

  async swapSetting(key: string, from: Json | undefined, to: Json | undefined, options?: Wait): Promise<boolean> {
    this.#check(options);
    if (!this.#isStill({ key, from })) return false;
    this.#set(key, to);
    return true;
  }

  async secret(options?: Wait): Promise<string> {
    this.#check(options);
    this.#secret ??= Buffer.from(crypto.getRandomValues(new Uint8Array(32))).toString('hex');
    return this.#secret;
  }

  async verify(options?: Wait): Promise<readonly string[]> {
    this.#check(options);
    return [...this.#logs.values()].flatMap((log) =>
      unsound(
        log.key,
        log.records,
        [...log.byId.values()].flat().map((cell) => cell.item),
      ),
    );
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#waiters.close();
  }

  #waitsFor({ log, conversation }: Presence): boolean {
    return [...(this.#logs.get(log)?.open ?? [])].some(({ item }) => item.audience === conversation);
  }

  #isStill({ key, from }: Pick<Swap, 'key' | 'from'>): boolean {
    return JSON.stringify(this.#settings.get(key)) === JSON.stringify(from);
  }

  #set(key: string, value: Json | undefined): void {
    if (value === undefined) this.#settings.delete(key);
    else this.#settings.set(key, jsonCopy(value) as Json);
  }

  #check(options: Wait | undefined): void {
    if (this.#closed)
      throw new EarpieceError('store_unavailable', 'the memory store was closed by this process: create a new store', {
        retryable: false,
      });
    options?.signal?.throwIfAborted();
  }

  #log(key: LogKey): Log {
    let log = this.#logs.get(key);
    if (log === undefined) {
      log = newLog(key);
      this.#logs.set(key, log);
    }
    return log;
  }
}
const presenceKey = (log: LogKey, conversation: ConversationId): string => `${log}\n${conversation}`;
const ownerKey = (owner: Owner): string => JSON.stringify([owner.machine, owner.pid, owner.startedAt]);
