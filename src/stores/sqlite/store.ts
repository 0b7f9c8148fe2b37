import { randomBytes } from 'node:crypto';
import { realpathSync } from 'node:fs';
import { resolve } from 'node:path';
import type { ConversationId, LogKey } from '../../core/address.ts';
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
  PresenceUpdate,
  Progress,
  ReadQuery,
  Store,
  Swap,
  Wait,
  Withheld,
} from '../../core/ports.ts';
import type { Draft, Owner, Stored } from '../../core/records.ts';
import { type Placing, storedAs, written, type Written } from '../placing.ts';
import { present } from '../presence.ts';
import { agentsPage } from './agents.ts';
import { append } from './append.ts';
import { type Compacted, compactStep, fileBytes, finishCompact, unusedBytes } from './compact.ts';
import { Database, type DatabaseOptions } from './database.ts';
import { ItemIndex } from './item-index.ts';
import { Logs } from './logs.ts';
import { forgetRecords, pruneChunk, type Pruned } from './prune.ts';
import { readRecords } from './records.ts';
import { levelOf, OPEN } from './rows.ts';
import { Together } from './together.ts';
import { Turns } from './turns.ts';
import { verify } from './verify.ts';
import { Wakeups } from './wakeups.ts';
import { Where } from './where.ts';

export type SqliteOptions = DatabaseOptions & {
  readonly clock?: Clock;
  /** How long a call waits for other processes' locks where its own `withinMs` does not say. Default 5,000. */
  readonly busyMs?: number;
  /** Commits in one transaction what comes in one go of the event loop. For a thread of its own, which others wait for. */
  readonly together?: boolean;
};

export interface SqliteStore extends Store {
  readonly path: string;
  /** The newest time in the log that this process has seen, epoch ms; 0 before the first. */
  readonly lastAt: number;
  /** Writes a consistent copy to a new file, while others go on. */
  backup(to: string): Promise<void>;
  /** Shrinks the file by what was removed from it, in steps, while others go on. */
  compact(options?: Wait): Promise<Compacted>;
}

/** A store whose file this thread has open itself. */
export interface OwnedStore extends SqliteStore {
  /** As `append`, for a caller that has the JSON of its drafts and makes the records itself. */
  place(log: LogKey, drafts: readonly Written[], options?: Wait & { readonly swaps?: readonly Swap[] }): Promise<Placing>;
}

/**
 * Opens, and where needed makes and migrates, a database file. Rejects with `store_refused`, `store_corrupt`, `store_full` or
 * (when others hold its lock for `busyMs`) `store_unavailable`; see `refusals.ts`.
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
  readonly #turns: Turns;
  readonly #together: Together | undefined;
  readonly #clock: Clock;
  /** The clock is the system's, not a test's. */
  readonly #ownClock: boolean;
  readonly #wakeups: Wakeups;
  /** Conversations for which nothing was open when the file was as it is now. */
  readonly #quiet = new Set<string>();
  /** The newest time seen in the log: ours is never before it. */
  #lastAt = 0;
  #closing: Promise<void> | undefined;

  constructor(db: Database, turns: Turns, clock: Clock | undefined, together: Together | undefined) {
    this.path = db.path;
    this.name = `sqlite ${db.path}`;
    this.#db = db;
    this.#logs = new Logs(db);
    this.#index = new ItemIndex(db);
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
        for (const { key, from, to } of swaps) if (!this.#swap(key, from, to)) return { kind: 'stale', key };
        const number = this.#logs.numberFor(log);
        const last = this.#last();
        // No record is older than its file: the first one of a wrong clock is no older either.
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
    return this.#look(() => readRecords(this.#db, this.#logs, query), options);
  }

  async head(options?: Wait): Promise<number> {
    return this.#look(() => this.#last().seq, options);
  }

  async items(log: LogKey, query: ItemQuery, options?: Wait): Promise<readonly Item[]> {
    return this.#look(() => {
      const number = this.#logs.numberOf(log);
      return number === undefined ? [] : this.#index.find(number, query);
    }, options);
  }

  quiet(log: LogKey, conversation: ConversationId): boolean {
    try {
      this.#db.follow();
      // Another thread's questions may come in one go of this one and not of its own.
      if (this.#db.changed(this.#together !== undefined)) this.#quiet.clear();
      const key = `${log}#${conversation}`;
      if (this.#quiet.has(key)) return true;
      const number = this.#logs.numberOf(log);
      const quiet =
        number === undefined ||
        (this.#index.find(number, { kind: 'open', conversation, limit: 1 }).length === 0 &&
          this.#index.find(number, { kind: 'gate', conversation }).length === 0 &&
          !this.#hasEnded(number, conversation));
      if (quiet) this.#quiet.add(key);
      return quiet;
    } catch {
      // Whoever asks the long way is told what is wrong.
      return false;
    }
  }

  #hasEnded(log: number, conversation: ConversationId): boolean {
    const sql = 'SELECT ended_at FROM conversations WHERE log = ? AND conversation = ?';
    const row = this.#db.get<{ ended_at: number | null }>(sql, log, conversation);
    return row !== undefined && row.ended_at !== null;
  }

  async countOpen(log: LogKey, options?: Wait): Promise<number> {
    return this.#look(() => {
      const number = this.#logs.numberOf(log);
      return number === undefined ? 0 : this.#index.countOpen(number);
    }, options);
  }

  async overview(project?: string, options?: Wait): Promise<readonly LogOverview[]> {
    const where = new Where();
    where.and(HAS_RECORDS);
    if (project !== undefined) where.and('l.project = ?', project);
    return this.#look(
      () =>
        this.#db
          .all<{ id: number; key: LogKey }>(`SELECT l.id, l.key FROM logs l ${where.sql} ORDER BY l.key`, ...where.values)
          .map(({ id, key }) => this.#overviewOf(id, key)),
      options,
    );
  }

  async agents(query: { project?: string; after?: LogKey; limit?: number }, options?: Wait): Promise<readonly AgentOverview[]> {
    return this.#look(() => agentsPage(this.#db, query, this.now()), options);
  }

  async changed(after: number, options: Wait = {}): Promise<number> {
    const head = await this.head();
    return head > after ? head : this.#wakeups.wait(after, options);
  }

  async touch(update: PresenceUpdate, options?: Wait): Promise<Presence> {
    const known = await this.#change(() => {
      const log = this.#logs.numberFor(update.log);
      const row = this.#db.get<{ presence: string }>(
        'SELECT presence FROM conversations WHERE log = ? AND conversation = ?',
        log,
        update.conversation,
      );
      const next = present(row && (JSON.parse(row.presence) as Presence), update, this.now());
      this.#db.run(
        'INSERT OR REPLACE INTO conversations (log, conversation, seen_at, ended_at, presence) VALUES (?, ?, ?, ?, ?)',
        log,
        next.conversation,
        next.seenAt,
        next.endedAt ?? null,
        JSON.stringify(next),
      );
      return next;
    }, options);
    fault('touch.committed');
    return known;
  }

  async presence(
    query: { project?: string; log?: LogKey; conversation?: ConversationId },
    options?: Wait,
  ): Promise<readonly Presence[]> {
    const { project, log, conversation } = query;
    const where = new Where();
    if (project !== undefined) where.and('l.project = ?', project);
    if (log !== undefined) where.and('l.key = ?', log);
    if (conversation !== undefined) where.and('c.conversation = ?', conversation);
    return this.#look(
      () =>
        this.#db
          .all<{ presence: string }>(
            `SELECT c.presence FROM conversations c JOIN logs l ON l.id = c.log ${where.sql} ORDER BY l.key, c.conversation`,
            ...where.values,
          )
          .map((row) => JSON.parse(row.presence) as Presence),
      options,
    );
  }

  async bind(host: Owner, to: { log: LogKey; conversation: ConversationId }, options?: Wait): Promise<void> {
    await this.#change(
      () =>
        this.#db.run(
          'INSERT OR REPLACE INTO bindings (machine, pid, started_at, log, conversation, at) VALUES (?, ?, ?, ?, ?, ?)',
          host.machine,
          host.pid,
          host.startedAt,
          this.#logs.numberFor(to.log),
          to.conversation,
          this.now(),
        ),
      options,
    );
  }

  async binding(host: Owner, options?: Wait): Promise<{ log: LogKey; conversation: ConversationId; at: number } | undefined> {
    return this.#look(() => {
      const row = this.#db.get<{ log: LogKey; conversation: ConversationId; at: number }>(
        `SELECT l.key AS log, b.conversation, b.at FROM bindings b JOIN logs l ON l.id = b.log
         WHERE b.machine = ? AND b.pid = ? AND b.started_at = ?`,
        host.machine,
        host.pid,
        host.startedAt,
      );
      return row && { ...row };
    }, options);
  }

  async withhold(held: Withheld, options?: Wait): Promise<void> {
    await this.#change(
      () =>
        this.#db.run(
          'INSERT OR REPLACE INTO withheld (log, conversation, id, at, until, tool, body) VALUES (?, ?, ?, ?, ?, ?, ?)',
          this.#logs.numberFor(held.log),
          held.conversation,
          held.id,
          held.at,
          held.until,
          held.tool,
          held.body,
        ),
      options,
    );
    fault('withhold.committed');
  }

  async withheld(log: LogKey, conversation: ConversationId, options?: Wait & { take?: boolean }): Promise<readonly Withheld[]> {
    const now = this.now();
    const select = (): Withheld[] =>
      this.#db
        .all<Omit<Withheld, 'log' | 'conversation'>>(
          `SELECT id, at, until, tool, body FROM withheld
           WHERE log = (SELECT id FROM logs WHERE key = ?) AND conversation = ? AND until > ? ORDER BY at`,
          log,
          conversation,
          now,
        )
        .map((row) => ({ log, conversation, ...row }));
    if (!options?.take) return this.#look(select, options);
    return this.#change(() => {
      const held = select();
      this.#db.run(
        'DELETE FROM withheld WHERE log = (SELECT id FROM logs WHERE key = ?) AND conversation = ? AND until > ?',
        log,
        conversation,
        now,
      );
      return held;
    }, options);
  }

  async prune(before: number, options?: Wait): Promise<{ readonly records: number; readonly items: number }> {
    const total = { records: 0, items: 0 };
    for (const { id } of await this.#look(() => this.#db.all<{ id: number }>('SELECT id FROM logs'), options)) {
      for (let after: number | undefined = 0; after !== undefined;) {
        const chunk = await this.#pruneFrom(id, before, after, options);
        fault('prune.committed');
        total.records += chunk.records;
        total.items += chunk.items;
        after = chunk.next;
        // Others of this process get their turn as well.
        await new Promise(setImmediate);
      }
    }
    await this.#change(() => this.#pruneSides(before), options);
    return total;
  }

  async forget(seqs: readonly number[], options?: Wait & { readonly swaps?: readonly Swap[] }): Promise<boolean> {
    const { swaps = [] } = options ?? {};
    return this.#change(
      () => {
        if (!swaps.every(({ key, from, to }) => this.#swap(key, from, to)) || seqs.includes(this.#last().seq)) return false;
        forgetRecords(this.#db, seqs);
        return true;
      },
      options,
      (done) => done,
    );
  }

  async setting(key: string, options?: Wait): Promise<Json | undefined> {
    return this.#look(() => {
      const value = this.#settingText(key);
      return value === undefined ? undefined : (JSON.parse(value) as Json);
    }, options);
  }

  async setSetting(key: string, value: Json | undefined, options?: Wait): Promise<void> {
    await this.#change(() => this.#set(key, value), options);
  }

  async swapSetting(key: string, from: Json | undefined, to: Json | undefined, options?: Wait): Promise<boolean> {
    return this.#change(() => this.#swap(key, from, to), options);
  }

  async secret(options?: Wait): Promise<string> {
    const select = (): string | undefined =>
      this.#db.get<{ value: string }>("SELECT value FROM meta WHERE key = 'secret'")?.value;
    const known = await this.#look(select, options);
    if (known !== undefined) return known;
    return this.#change(() => {
      this.#db.run("INSERT OR IGNORE INTO meta (key, value) VALUES ('secret', ?)", randomBytes(32).toString('hex'));
      return select() as string;
    }, options);
  }

  async verify(options?: Wait & Progress): Promise<readonly string[]> {
    return this.#look(() => this.#db.reading(() => verify(this.#db, options?.onProgress)), options);
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
    await outside(() => finishCompact(this.#db));
    return outside(() => ({ before, after: fileBytes(this.#db), unused: unusedBytes(this.#db) }));
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

  /** A read: at once, whoever writes. */
  #look<T>(work: () => T, options: Wait | undefined): Promise<T> {
    return this.#turns.read(() => {
      this.#db.follow();
      return work();
    }, options);
  }

  /** A transaction that writes, when it is its turn. */
  #change<T>(work: () => T, options: Wait | undefined, keep: (result: T) => boolean = () => true): Promise<T> {
    if (this.#together !== undefined) return this.#together.write({ work, keep }, options);
    return this.#turns.write(() => {
      // What is acknowledged is in the file that others open.
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
    return { log, open, ...(at === undefined ? {} : { oldestOpenAt: at }) };
  }

  #pruneFrom(log: number, before: number, after: number, options: Wait | undefined): Promise<Pruned> {
    return this.#change(() => pruneChunk(this.#db, this.#index, { log, before, after, head: this.#last().seq }), options);
  }

  #pruneSides(before: number): void {
    this.#db.run('DELETE FROM withheld WHERE until <= ?', this.now());
    // An end that a wrong clock wrote must not strand what waits there.
    this.#db.run(
      `DELETE FROM conversations WHERE ended_at < ? AND NOT EXISTS
       (SELECT 1 FROM items i WHERE i.log = conversations.log AND i.phase = ${OPEN} AND i.audience = conversations.conversation)`,
      before,
    );
    this.#db.run(
      `DELETE FROM bindings WHERE at < ? AND NOT EXISTS
       (SELECT 1 FROM conversations c WHERE c.log = bindings.log AND c.conversation = bindings.conversation)`,
      before,
    );
  }

  #settingText(key: string): string | undefined {
    return this.#db.get<{ value: string }>('SELECT value FROM settings WHERE key = ?', key)?.value;
  }

  #swap(key: string, from: Json | undefined, to: Json | undefined): boolean {
    if (this.#settingText(key) !== (from === undefined ? undefined : JSON.stringify(from))) return false;
    this.#set(key, to);
    return true;
  }

  #set(key: string, value: Json | undefined): void {
    if (value === undefined) this.#db.run('DELETE FROM settings WHERE key = ?', key);
    else this.#db.run('INSERT OR REPLACE INTO settings (key, value) VALUES (?, ?)', key, JSON.stringify(value));
  }

  /** The newest record's position and time. */
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
