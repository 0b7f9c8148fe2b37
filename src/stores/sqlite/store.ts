import { realpathSync } from 'node:fs';
import { resolve } from 'node:path';
import type { ConversationId, LogKey } from '../../core/address.ts';
import { defined } from '../../core/defined.ts';
import { fault } from '../../core/faults.ts';
import type { Item } from '../../core/items.ts';
import type { Json } from '../../core/json.ts';
import type {
  AgentOverview,
  Appended,
  Clock,
  ItemQuery,
  LogOverview,
  Presence,
  PresenceQuery,
  PresenceUpdate,
  Progress,
  ReadQuery,
  Store,
  Swap,
  Wait,
  Withheld,
  Erased,
} from '../../core/ports.ts';
import type { Draft, Owner, Stored } from '../../core/records.ts';
import { type Placing, storedAs, written, type Written } from '../placing.ts';
import { agentsPage } from './agents.ts';
import { append } from './append.ts';
import { type Compacted, compactStep, fileBytes, finishCompact, untilEmpty, unusedBytes } from './compact.ts';
import { type Bound, Conversations } from './conversations.ts';
import { Database, type DatabaseOptions } from './database.ts';
import { ItemIndex } from './item-index.ts';
import { Logs } from './logs.ts';
import { erase, rewrite } from './erase.ts';
import { forgetRecords, pruneChunk, type Pruned } from './prune.ts';
import { readRecords } from './records.ts';
import { levelOf, OPEN } from '../item-row.ts';
import { Settings } from './settings.ts';
import { Together } from './together.ts';
import { Turns } from './turns.ts';
import { verify } from './verify.ts';
import { Wakeups } from './wakeups.ts';
import { Where } from './where.ts';

export type SqliteOptions = DatabaseOptions & {
  readonly clock?: Clock;
  /** How long a call waits for other processes' locks, in ms, if it has no `withinMs`. Default 5,000. */
  readonly busyMs?: number;
  /**
   * Whether writes that wait at the same time are committed in one transaction. Set this option in a separate thread that
   * serves several callers.
   */
  readonly together?: boolean;
};

export interface SqliteStore extends Store {
  readonly path: string;
  /** The newest time in the store that this process has seen, epoch ms. 0 if this process has seen no record. */
  readonly lastAt: number;
  /** Writes a consistent copy to a new file, while other processes continue. */
  backup(to: string): Promise<void>;
  /** Returns the space of removed records to the file system, in steps, while other processes continue. */
  compact(options?: Wait): Promise<Compacted>;
}

/** A store whose file this thread itself has opened. */
export interface OwnedStore extends SqliteStore {
  /** Appends drafts like `append`. The caller passes the JSON of the drafts, and makes the records from the result. */
  place(log: LogKey, drafts: readonly Written[], options?: Wait & { readonly swaps?: readonly Swap[] }): Promise<Placing>;
}

/**
 * Opens a database file, and makes or migrates the file if needed. Rejects with `store_refused`, `store_corrupt` or `store_full`,
 * or with `store_unavailable`, for example if other processes hold the lock for `busyMs`.
 */
export async function openSqliteStore(options: SqliteOptions): Promise<OwnedStore> {
  const path = resolve(options.path);
  const turns = new Turns(path, options.busyMs ?? 5000);
  return turns.write(() => {
    const db = new Database({ ...options, path });
    try {
      const together = options.together ? new Together(db, turns, options.busyMs ?? 5000) : undefined;
      return new SqliteFile(db, turns, options.clock, together);
    } catch (error) {
      db.close();
      throw error;
    }
  }, {});
}

class SqliteFile implements OwnedStore {
  readonly name: string;
  readonly path: string;
  readonly #db: Database;
  readonly #logs: Logs;
  readonly #index: ItemIndex;
  readonly #conversations: Conversations;
  readonly #settings: Settings;
  readonly #turns: Turns;
  readonly #together: Together | undefined;
  readonly #clock: Clock;
  /** Whether the clock is the system's and not a test's. */
  readonly #ownClock: boolean;
  readonly #wakeups: Wakeups;
  /** The conversations for which `quiet` was true in the file's current state. */
  readonly #quiet = new Set<string>();
  /** The newest known time in the store. No new record gets an earlier time. */
  #lastAt = 0;
  #closing: Promise<void> | undefined;

  constructor(db: Database, turns: Turns, clock: Clock | undefined, together: Together | undefined) {
    this.path = db.path;
    this.name = `sqlite ${db.path}`;
    this.#db = db;
    this.#logs = new Logs(db);
    this.#index = new ItemIndex(db);
    this.#conversations = new Conversations(db, this.#logs);
    this.#settings = new Settings(db);
    this.#turns = turns;
    this.#together = together;
    this.#clock = clock ?? { now: () => Date.now() };
    this.#ownClock = clock === undefined;
    this.#last();
    this.#wakeups = new Wakeups(`${realpathSync(db.path)}-wal`, () => {
      try {
        return this.#last().seq;
      } catch {
        return undefined;
      }
    });
  }

  get lastAt(): number {
    return this.#lastAt;
  }

  now(): number {
    return this.#clock.now();
  }

  ordered(): number {
    return Math.max(this.#clock.now(), this.#lastAt);
  }

  async append(log: LogKey, drafts: readonly Draft[], options?: Wait & { readonly swaps?: readonly Swap[] }): Promise<Appended> {
    const placing = await this.place(log, written(drafts), options);
    if (placing.kind !== 'placed') return placing;
    return { kind: 'appended', records: storedAs(placing, log, drafts), items: placing.items };
  }

  async place(log: LogKey, drafts: readonly Written[], options?: Wait & { readonly swaps?: readonly Swap[] }): Promise<Placing> {
    const { swaps = [] } = options ?? {};
    const placing = await this.#change(
      (): Placing => {
        for (const swap of swaps) if (!this.#settings.swap(swap)) return { kind: 'stale', key: swap.key };
        const number = this.#logs.numberFor(log);
        const last = this.#last();
        // A record cannot be older than its file, even if the writer's clock says so.
        const notBefore = last.seq === 0 && this.#ownClock ? this.#db.bornAt() : last.at;
        return append(this.#db, this.#index, { number, last: { seq: last.seq, at: notBefore }, now: this.now() }, drafts);
      },
      options,
      isPlaced,
    );
    if (placing.kind !== 'placed') return placing;
    fault('append.committed');
    if (drafts.length === 0) return placing;
    this.#lastAt = Math.max(this.#lastAt, placing.at);
    this.#wakeups.wake(placing.seq + drafts.length - 1);
    return placing;
  }

  async read(query: ReadQuery, options?: Wait): Promise<readonly Stored[]> {
    return this.#read(() => readRecords(this.#db, this.#logs, query), options);
  }

  async head(options?: Wait): Promise<number> {
    return this.#read(() => this.#last().seq, options);
  }

  async items(log: LogKey, query: ItemQuery, options?: Wait): Promise<readonly Item[]> {
    return this.#read(() => {
      const number = this.#logs.numberOf(log);
      return number === undefined ? [] : this.#index.find(number, query);
    }, options);
  }

  quiet(log: LogKey, conversation: ConversationId): boolean {
    try {
      this.#db.follow();
      // With `together`, each call reads the file, because calls that another thread made at different times may arrive together
      // in this thread.
      if (this.#db.changed(this.#together !== undefined)) this.#quiet.clear();
      const key = `${log}#${conversation}`;
      if (this.#quiet.has(key)) return true;
      const number = this.#logs.numberOf(log);
      const quiet =
        number === undefined ||
        (this.#index.find(number, { kind: 'open', conversation, limit: 1 }).length === 0 &&
          this.#index.find(number, { kind: 'gate', conversation }).length === 0 &&
          !this.#conversations.hasEnded(number, conversation));
      if (quiet) this.#quiet.add(key);
      return quiet;
    } catch {
      // Other calls report this error.
      return false;
    }
  }

  async countOpen(log: LogKey, options?: Wait): Promise<number> {
    return this.#read(() => {
      const number = this.#logs.numberOf(log);
      return number === undefined ? 0 : this.#index.countOpen(number);
    }, options);
  }

  async overview(project?: string, options?: Wait): Promise<readonly LogOverview[]> {
    const where = new Where();
    where.and(HAS_RECORDS);
    if (project !== undefined) where.and('l.project = ?', project);
    return this.#read(
      () =>
        this.#db
          .all<{ id: number; key: LogKey }>(`SELECT l.id, l.key FROM logs l ${where.sql} ORDER BY l.key`, ...where.values)
          .map(({ id, key }) => this.#overviewOf(id, key)),
      options,
    );
  }

  async agents(query: { project?: string; after?: LogKey; limit?: number }, options?: Wait): Promise<readonly AgentOverview[]> {
    return this.#read(() => agentsPage(this.#db, query, this.now()), options);
  }

  async changed(after: number, options: Wait = {}): Promise<number> {
    const head = await this.head();
    return head > after ? head : this.#wakeups.wait(after, options);
  }

  async touch(update: PresenceUpdate, options?: Wait): Promise<Presence> {
    const known = await this.#change(() => this.#conversations.touch(update, this.now()), options);
    fault('touch.committed');
    return known;
  }

  async presence(query: PresenceQuery, options?: Wait): Promise<readonly Presence[]> {
    return this.#read(() => this.#conversations.presence(query), options);
  }

  async bind(host: Owner, to: Bound, options?: Wait): Promise<void> {
    await this.#change(() => this.#conversations.bind(host, { ...to, at: this.now() }), options);
  }

  async binding(host: Owner, options?: Wait): Promise<(Bound & { at: number }) | undefined> {
    return this.#read(() => this.#conversations.binding(host), options);
  }

  async withhold(held: Withheld, options?: Wait): Promise<void> {
    await this.#change(() => this.#conversations.withhold(held), options);
    fault('withhold.committed');
  }

  async withheld(log: LogKey, conversation: ConversationId, options?: Wait & { take?: boolean }): Promise<readonly Withheld[]> {
    const now = this.now();
    if (options?.take) return this.#change(() => this.#conversations.takeWithheld(log, conversation, now), options);
    return this.#read(() => this.#conversations.withheld(log, conversation, now), options);
  }

  async prune(before: number, options?: Wait): Promise<{ readonly records: number; readonly items: number }> {
    const total = { records: 0, items: 0 };
    for (const { id } of await this.#read(() => this.#db.all<{ id: number }>('SELECT id FROM logs'), options)) {
      for (let after: number | undefined = 0; after !== undefined;) {
        const chunk = await this.#pruneFrom(id, before, after, options);
        fault('prune.committed');
        total.records += chunk.records;
        total.items += chunk.items;
        after = chunk.next;
        // Other work of this process runs between two steps.
        await new Promise(setImmediate);
      }
    }
    await this.#change(() => this.#conversations.prune(before, this.now()), options);
    return total;
  }

  async forget(seqs: readonly number[], options?: Wait & { readonly swaps?: readonly Swap[] }): Promise<boolean> {
    const { swaps = [] } = options ?? {};
    return this.#change(
      () => {
        if (!swaps.every((swap) => this.#settings.swap(swap)) || seqs.includes(this.#last().seq)) return false;
        forgetRecords(this.#db, seqs);
        return true;
      },
      options,
      (done) => done,
    );
  }

  async erase(log: LogKey, before: number, options?: Wait): Promise<Erased> {
    const erased = await this.#change(() => erase(this.#db, log, before), options);
    await this.#turns.write(() => rewrite(this.#db), options);
    return erased;
  }

  async setting(key: string, options?: Wait): Promise<Json | undefined> {
    return this.#read(() => this.#settings.get(key), options);
  }

  async setSetting(key: string, value: Json | undefined, options?: Wait): Promise<void> {
    await this.#change(() => this.#settings.set(key, value), options);
  }

  async swapSetting(key: string, from: Json | undefined, to: Json | undefined, options?: Wait): Promise<boolean> {
    return this.#change(() => this.#settings.swap({ key, from, to }), options);
  }

  async secret(options?: Wait): Promise<string> {
    const known = await this.#read(() => this.#settings.secret(), options);
    return known ?? this.#change(() => this.#settings.makeSecret(), options);
  }

  async verify(options?: Wait & Progress): Promise<readonly string[]> {
    return this.#read(() => this.#db.reading(() => verify(this.#db, options?.onProgress)), options);
  }

  async backup(to: string): Promise<void> {
    await this.#db.backup(resolve(to));
  }

  async compact(options?: Wait): Promise<Compacted> {
    const outside = <T>(work: () => T): Promise<T> =>
      this.#turns.write(() => {
        this.#db.follow(true);
        return work();
      }, options);
    const before = await outside(() => fileBytes(this.#db));
    while (await outside(() => compactStep(this.#db))) await new Promise(setImmediate);
    const readable = await untilEmpty(() => outside(() => finishCompact(this.#db)));
    return outside(() => ({ before, after: fileBytes(this.#db), unused: unusedBytes(this.#db), readable }));
  }

  close(): Promise<void> {
    this.#closing ??= (async () => {
      this.#wakeups.close();
      await this.#together?.end();
      await this.#turns.end();
      this.#db.close();
    })();
    return this.#closing;
  }

  /** Runs a read at once, even while other processes write. */
  #read<T>(work: () => T, options: Wait | undefined): Promise<T> {
    return this.#turns.read(() => {
      this.#db.follow();
      return work();
    }, options);
  }

  /** Runs a writing transaction after the earlier writes of this process. */
  #change<T>(work: () => T, options: Wait | undefined, keep: (result: T) => boolean = () => true): Promise<T> {
    if (this.#together !== undefined) return this.#together.write({ work, keep }, options);
    return this.#turns.write(() => {
      // A write is acknowledged only if it is in the file that other processes open.
      this.#db.follow(true);
      return this.#db.write(work, keep);
    }, options);
  }

  #overviewOf(number: number, log: LogKey): LogOverview {
    const open = { info: 0, warning: 0, error: 0, critical: 0 };
    let oldest: number | undefined;
    for (const row of this.#db.all<{ level: number; n: number; oldest: number }>(
      `SELECT level, count(*) AS n, min(seq) AS oldest FROM items WHERE log = ? AND phase = ${OPEN} GROUP BY level`,
      number,
    )) {
      open[levelOf(row.level)] = row.n;
      oldest = Math.min(oldest ?? row.oldest, row.oldest);
    }
    if (oldest === undefined) return { log, open };
    const at = this.#db.get<{ at: number }>('SELECT at FROM records WHERE seq = ?', oldest)?.at;
    return { log, open, ...defined({ oldestOpenAt: at }) };
  }

  #pruneFrom(log: number, before: number, after: number, options: Wait | undefined): Promise<Pruned> {
    return this.#change(() => pruneChunk(this.#db, this.#index, { log, before, after, head: this.#last().seq }), options);
  }

  /** Returns the newest record's position and time. */
  #last(): { seq: number; at: number } {
    const last = this.#db.get<{ seq: number; at: number }>('SELECT seq, at FROM records ORDER BY seq DESC LIMIT 1');
    if (last === undefined) return { seq: 0, at: 0 };
    this.#lastAt = Math.max(this.#lastAt, last.at);
    return last;
  }
}

const HAS_RECORDS = `(EXISTS (SELECT 1 FROM records r WHERE r.log = l.id AND r.notification IS NULL)
  OR EXISTS (SELECT 1 FROM items i WHERE i.log = l.id))`;

const isPlaced = (result: Placing): boolean => result.kind === 'placed';
