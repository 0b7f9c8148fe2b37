import { randomBytes } from 'node:crypto';
import { closeSync, openSync, realpathSync } from 'node:fs';
import { resolve } from 'node:path';
import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite';
import type { ConversationId, LogKey } from '../../core/address.ts';
import { splitLog } from '../../core/address.ts';
import { EarpieceError } from '../../core/errors.ts';
import { fault } from '../../core/faults.ts';
import { type Item, itemKey, settle, type Touches, touches } from '../../core/items.ts';
import type { Json } from '../../core/json.ts';
import { levelRank, type NotificationId } from '../../core/notification.ts';
import type {
  Appended,
  Clock,
  ItemQuery,
  LogOverview,
  Presence,
  PresenceUpdate,
  ReadQuery,
  Store,
  Wait,
  Withheld,
} from '../../core/ports.ts';
import type { Draft, Owner, Stored } from '../../core/records.ts';
import { heldFor } from '../audience.ts';
import { present } from '../presence.ts';
import { isHousekeeping, isPast, removable, removableLoose } from '../retention.ts';
import { unsound } from '../soundness.ts';
import type { FileSystem } from './filesystem.ts';
import { APPLICATION_ID, MAJOR, STEPS, VERSION } from './migrations.ts';
import { checkHeader, checkSqlite, prepareFile } from './refusals.ts';
import { DONE, type ItemRow, itemOf, ITEMS, levelOf, OPEN, phaseOf, stateOf, UNREAD } from './rows.ts';
import { explain } from './trouble.ts';
import { Turns } from './turns.ts';
import { Wakeups } from './wakeups.ts';

/** Asked for, not imported: an older Node has no such module, and an import would fail before our own line about its age. */
const sqlite = process.getBuiltinModule('node:sqlite');

export type SqliteOptions = {
  readonly path: string;
  readonly clock?: Clock;
  /** How long a call waits for other processes' locks where its own `withinMs` does not say. Default 5,000. */
  readonly busyMs?: number;
  /** For tests: what file system a path lies on. */
  readonly probe?: (path: string) => FileSystem;
  /** For tests: the version of SQLite. */
  readonly sqliteVersion?: string;
};

export interface SqliteStore extends Store {
  readonly path: string;
  /** Writes a consistent copy to a new file, while others go on. */
  backup(to: string): Promise<void>;
}

/** Ids of notifications looked at in one transaction of `prune`, so that others get their turn. */
const PRUNE_CHUNK = 200;

/**
 * Opens, and where needed makes and migrates, a database file. Rejects with `store_refused`, `store_corrupt`, `store_full` or
 * (when others hold its lock for `busyMs`) `store_unavailable`; see `refusals.ts`.
 */
export async function openSqliteStore(options: SqliteOptions): Promise<SqliteStore> {
  const path = resolve(options.path);
  checkSqlite(options.sqliteVersion ?? process.versions['sqlite'] ?? '0');
  prepareFile(path, options.probe);
  const turns = new Turns(path, options.busyMs ?? 5000);
  let db: DatabaseSync;
  try {
    db = new sqlite.DatabaseSync(path, { timeout: 0, defensive: true });
  } catch (error) {
    throw explain(error, path);
  }
  try {
    return await turns.write(() => {
      setUp(db, path);
      return new SqliteFile(db, { path, turns, clock: options.clock ?? { now: () => Date.now() } });
    }, {});
  } catch (error) {
    db.close();
    throw error;
  }
}

function setUp(db: DatabaseSync, path: string): void {
  const header = (): { applicationId: number; version: number; empty: boolean } => ({
    applicationId: db.prepare('PRAGMA application_id').get()?.['application_id'] as number,
    version: db.prepare('PRAGMA user_version').get()?.['user_version'] as number,
    empty: db.prepare('SELECT 1 FROM sqlite_schema LIMIT 1').get() === undefined,
  });
  const before = header();
  checkHeader(path, before);
  db.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA trusted_schema = OFF; PRAGMA temp_store = MEMORY');
  db.exec('PRAGMA cache_size = -16000; PRAGMA journal_size_limit = 67108864');
  if (before.applicationId === APPLICATION_ID && before.version >= VERSION) return;
  fault('migrate.begun');
  db.exec('BEGIN IMMEDIATE');
  try {
    // Another process may have been faster.
    const now = header();
    checkHeader(path, now);
    const done = now.applicationId === APPLICATION_ID ? now.version - MAJOR * 1000 : 0;
    for (const step of STEPS.slice(done)) {
      db.exec(step);
      fault('migrate.step');
    }
    if (done < STEPS.length) db.exec(`PRAGMA application_id = ${APPLICATION_ID}; PRAGMA user_version = ${VERSION}`);
    db.exec('COMMIT');
  } catch (error) {
    if (db.isTransaction) db.exec('ROLLBACK');
    throw error;
  }
  fault('migrate.committed');
}

class SqliteFile implements SqliteStore {
  readonly name: string;
  readonly path: string;
  readonly #db: DatabaseSync;
  readonly #turns: Turns;
  readonly #clock: Clock;
  readonly #wakeups: Wakeups;
  readonly #statements = new Map<string, StatementSync>();
  /** Logs never lose their number, so committed ones need no second look. */
  readonly #numbers = new Map<LogKey, number>();
  readonly #keys = new Map<number, LogKey>();
  #lastAt: number;
  #closing: Promise<void> | undefined;

  constructor(db: DatabaseSync, given: { path: string; turns: Turns; clock: Clock }) {
    this.#db = db;
    this.path = given.path;
    this.name = `sqlite ${given.path}`;
    this.#turns = given.turns;
    this.#clock = given.clock;
    this.#lastAt = this.#last().at;
    this.#wakeups = new Wakeups(`${realpathSync(given.path)}-wal`, () => {
      try {
        return this.#last().seq;
      } catch {
        return undefined;
      }
    });
  }

  now(): number {
    return Math.max(this.#clock.now(), this.#lastAt);
  }

  async append(log: LogKey, drafts: readonly Draft[], options?: Wait): Promise<Appended> {
    const appended = await this.#turns.write(() => this.#write(() => this.#append(log, drafts), isAppended), options);
    if (appended.kind !== 'appended') return appended;
    fault('append.committed');
    const newest = appended.records.at(-1);
    if (newest !== undefined) this.#wakeups.wake(newest.seq);
    return appended;
  }

  async read(query: ReadQuery, options?: Wait): Promise<readonly Stored[]> {
    return this.#turns.read(() => this.#read(query), options);
  }

  async head(options?: Wait): Promise<number> {
    return this.#turns.read(() => this.#last().seq, options);
  }

  async items(log: LogKey, query: ItemQuery, options?: Wait): Promise<readonly Item[]> {
    return this.#turns.read(() => {
      const number = this.#numberOf(log);
      return number === undefined ? [] : this.#items(number, query);
    }, options);
  }

  async countOpen(log: LogKey, options?: Wait): Promise<number> {
    return this.#turns.read(() => {
      const number = this.#numberOf(log);
      if (number === undefined) return 0;
      return this.#all<{ n: number }>(`SELECT count(*) AS n FROM items WHERE log = ? AND phase = ${OPEN}`, number)[0]?.n ?? 0;
    }, options);
  }

  async overview(project?: string, options?: Wait): Promise<readonly LogOverview[]> {
    return this.#turns.read(() => this.#overview(project), options);
  }

  async changed(after: number, options: Wait = {}): Promise<number> {
    const head = await this.head();
    return head > after ? head : this.#wakeups.wait(after, options);
  }

  async touch(update: PresenceUpdate, options?: Wait): Promise<Presence> {
    const known = await this.#turns.write(
      () =>
        this.#write(() => {
          const log = this.#numberFor(update.log);
          const [row] = this.#all<{ presence: string }>(
            'SELECT presence FROM conversations WHERE log = ? AND conversation = ?',
            log,
            update.conversation,
          );
          const next = present(row && (JSON.parse(row.presence) as Presence), update, this.now());
          this.#run(
            'INSERT OR REPLACE INTO conversations (log, conversation, seen_at, ended_at, presence) VALUES (?, ?, ?, ?, ?)',
            log,
            next.conversation,
            next.seenAt,
            next.endedAt ?? null,
            JSON.stringify(next),
          );
          return next;
        }),
      options,
    );
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
    return this.#turns.read(
      () =>
        this.#all<{ presence: string }>(
          `SELECT c.presence FROM conversations c JOIN logs l ON l.id = c.log ${where.sql} ORDER BY l.key, c.conversation`,
          ...where.values,
        ).map((row) => JSON.parse(row.presence) as Presence),
      options,
    );
  }

  async bind(host: Owner, to: { log: LogKey; conversation: ConversationId }, options?: Wait): Promise<void> {
    await this.#turns.write(
      () =>
        this.#write(() =>
          this.#run(
            'INSERT OR REPLACE INTO bindings (machine, pid, started_at, log, conversation, at) VALUES (?, ?, ?, ?, ?, ?)',
            host.machine,
            host.pid,
            host.startedAt,
            this.#numberFor(to.log),
            to.conversation,
            this.now(),
          ),
        ),
      options,
    );
  }

  async binding(host: Owner, options?: Wait): Promise<{ log: LogKey; conversation: ConversationId; at: number } | undefined> {
    return this.#turns.read(() => {
      const [row] = this.#all<{ log: LogKey; conversation: ConversationId; at: number }>(
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
    await this.#turns.write(
      () =>
        this.#write(() =>
          this.#run(
            'INSERT OR REPLACE INTO withheld (log, conversation, id, at, until, tool, body) VALUES (?, ?, ?, ?, ?, ?, ?)',
            this.#numberFor(held.log),
            held.conversation,
            held.id,
            held.at,
            held.until,
            held.tool,
            held.body,
          ),
        ),
      options,
    );
    fault('withhold.committed');
  }

  async withheld(log: LogKey, conversation: ConversationId, options?: Wait & { take?: boolean }): Promise<readonly Withheld[]> {
    const now = this.now();
    const select = (number: number): Withheld[] =>
      this.#all<Omit<Withheld, 'log' | 'conversation'>>(
        'SELECT id, at, until, tool, body FROM withheld WHERE log = ? AND conversation = ? AND until > ? ORDER BY at',
        number,
        conversation,
        now,
      ).map((row) => ({ log, conversation, ...row }));
    const number = await this.#turns.read(() => this.#numberOf(log), options);
    if (number === undefined) return [];
    if (!options?.take) return this.#turns.read(() => select(number), options);
    return this.#turns.write(
      () =>
        this.#write(() => {
          const held = select(number);
          this.#run('DELETE FROM withheld WHERE log = ? AND conversation = ? AND until > ?', number, conversation, now);
          return held;
        }),
      options,
    );
  }

  async prune(before: number, options?: Wait): Promise<{ readonly records: number; readonly items: number }> {
    const total = { records: 0, items: 0 };
    const logs = await this.#turns.read(() => this.#all<{ id: number }>('SELECT id FROM logs'), options);
    for (const { id } of logs) {
      let after: number | undefined = 0;
      while (after !== undefined) {
        const from: number = after;
        const part = await this.#turns.write(() => this.#write(() => this.#pruneLog(id, { before, after: from })), options);
        fault('prune.committed');
        total.records += part.records;
        total.items += part.items;
        after = part.next;
        // Others of this process get their turn as well.
        await new Promise(setImmediate);
      }
    }
    await this.#turns.write(() => this.#write(() => this.#pruneSides(before)), options);
    return total;
  }

  async setting(key: string, options?: Wait): Promise<Json | undefined> {
    return this.#turns.read(() => {
      const [row] = this.#all<{ value: string }>('SELECT value FROM settings WHERE key = ?', key);
      return row && (JSON.parse(row.value) as Json);
    }, options);
  }

  async setSetting(key: string, value: Json | undefined, options?: Wait): Promise<void> {
    await this.#turns.write(
      () =>
        this.#write(() =>
          value === undefined
            ? this.#run('DELETE FROM settings WHERE key = ?', key)
            : this.#run('INSERT OR REPLACE INTO settings (key, value) VALUES (?, ?)', key, JSON.stringify(value)),
        ),
      options,
    );
  }

  async swapSetting(key: string, from: Json | undefined, to: Json | undefined, options?: Wait): Promise<boolean> {
    return this.#turns.write(
      () =>
        this.#write(() => {
          const now = this.#all<{ value: string }>('SELECT value FROM settings WHERE key = ?', key)[0]?.value;
          if (now !== (from === undefined ? undefined : JSON.stringify(from))) return false;
          if (to === undefined) this.#run('DELETE FROM settings WHERE key = ?', key);
          else this.#run('INSERT OR REPLACE INTO settings (key, value) VALUES (?, ?)', key, JSON.stringify(to));
          return true;
        }),
      options,
    );
  }

  async secret(options?: Wait): Promise<string> {
    const select = (): string | undefined =>
      this.#all<{ value: string }>("SELECT value FROM meta WHERE key = 'secret'")[0]?.value;
    const known = await this.#turns.read(select, options);
    if (known !== undefined) return known;
    return this.#turns.write(
      () =>
        this.#write(() => {
          this.#run("INSERT OR IGNORE INTO meta (key, value) VALUES ('secret', ?)", randomBytes(32).toString('hex'));
          return select() as string;
        }),
      options,
    );
  }

  async verify(options?: Wait): Promise<readonly string[]> {
    return this.#turns.read(() => this.#reading(() => this.#verify()), options);
  }

  async backup(to: string): Promise<void> {
    const target = resolve(to);
    try {
      closeSync(openSync(target, 'ax', 0o600));
    } catch (error) {
      throw new EarpieceError(
        'bad_argument',
        (error as NodeJS.ErrnoException).code === 'EEXIST'
          ? `${target} exists: a backup needs a new file, name another`
          : `cannot write the backup ${target}: ${(error as Error).message}`,
        { cause: error },
      );
    }
    try {
      // In one step: with several it would begin anew after each write of another process.
      await sqlite.backup(this.#db, target, { rate: 0x7f_ff_ff_ff });
    } catch (error) {
      throw explain(error, target);
    }
  }

  close(): Promise<void> {
    this.#closing ??= (async () => {
      this.#wakeups.close();
      await this.#turns.end();
      this.#statements.clear();
      this.#db.close();
    })();
    return this.#closing;
  }

  #append(log: LogKey, drafts: readonly Draft[]): Appended {
    fault('append.begun');
    const number = this.#numberFor(log);
    const last = this.#last();
    const at = Math.max(this.#clock.now(), last.at);
    const records: Stored[] = [];
    const changed = new Map<string, Item>();
    const queued = new Set<NotificationId>();
    let { seq } = last;
    for (const body of drafts) {
      const need = touches(body);
      const found = this.#touched(number, need);
      seq++;
      const result = settle(body, { seq, at }, found);
      if (result.kind === 'conflict') return result;
      if (result.kind === 'duplicate') {
        if (queued.has(result.id))
          throw new EarpieceError(
            'bad_argument',
            `one append queues ${JSON.stringify(result.id)} twice: give each notification its own id`,
          );
        return { kind: 'duplicate', id: result.id, item: found.find((item) => item.id === result.id) as Item };
      }
      for (const id of need.creates) queued.add(id);
      this.#run(
        'INSERT INTO records (seq, log, at, type, conversation, notification, body) VALUES (?, ?, ?, ?, ?, ?, ?)',
        seq,
        number,
        at,
        body.type,
        typeof body.conversation === 'string' ? body.conversation : null,
        result.items.length > 0 ? (need.creates[0] ?? null) : null,
        JSON.stringify(body),
      );
      fault('append.record_written');
      if (result.items.length === 0) {
        if (isHousekeeping(body)) this.#run('INSERT INTO loose (log, seq, at) VALUES (?, ?, ?)', number, seq, at);
      } else {
        for (const item of result.items) {
          const before = found.find((one) => one.id === item.id && one.audience === item.audience);
          this.#put(number, { item, before, body });
          changed.set(itemKey(item), item);
        }
        fault('append.items_written');
      }
      records.push({ seq, log, at, body });
    }
    return { kind: 'appended', records, items: [...changed.values()] };
  }

  #touched(log: number, need: Touches): Item[] {
    const items: Item[] = [];
    for (const id of need.creates) items.push(...this.#byId(log, id));
    if (need.ids.length > 0) for (const id of new Set(need.ids)) items.push(...this.#byId(log, id));
    if (need.carrier !== undefined) items.push(...this.#items(log, { kind: 'carrier', carrier: need.carrier }));
    return items;
  }

  #put(log: number, { item, before, body }: { item: Item; before: Item | undefined; body: Draft }): void {
    const carrier = item.carrier ?? null;
    const takenBy = item.takenBy ?? null;
    const closedAt = item.closedAt ?? null;
    if (before !== undefined) {
      this.#run(
        `UPDATE items SET phase = ?, gate = ?, carrier = ?, taken_by = ?, closed_at = ?, state = ?
         WHERE log = ? AND phase = ? AND seq = ? AND audience = ?`,
        phaseOf(item),
        item.gate ? 1 : 0,
        carrier,
        takenBy,
        closedAt,
        stateOf(item),
        log,
        phaseOf(before),
        item.seq,
        item.audience,
      );
      return;
    }
    // A folded notification is that of the one it was folded into, under its own id.
    const source =
      body.type === 'system_notification_folded'
        ? (this.#seqOf(log, (body as unknown as { into: NotificationId }).into) ?? null)
        : null;
    this.#run(
      `INSERT OR REPLACE INTO items (log, phase, seq, audience, level, gate, key, carrier, taken_by, closed_at, source, state)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
      log,
      phaseOf(item),
      item.seq,
      item.audience,
      levelRank(item.notification.level),
      item.gate ? 1 : 0,
      item.notification.key ?? null,
      carrier,
      takenBy,
      closedAt,
      source,
      stateOf(item),
    );
  }

  #read(query: ReadQuery): Stored[] {
    const { log, project, after = 0, upTo, limit = 1000, conversation, types, newestFirst, seqs } = query;
    const where = new Where();
    if (log !== undefined) {
      const number = this.#numberOf(log);
      if (number === undefined) return [];
      where.and('log = ?', number);
    }
    // The + keeps the order of seq: the newest records are read, not all of the project sorted.
    if (project !== undefined) where.and('+log IN (SELECT id FROM logs WHERE project = ?)', project);
    if (after > 0) where.and('seq > ?', after);
    if (upTo !== undefined) where.and('seq <= ?', upTo);
    if (conversation !== undefined) where.and('conversation = ?', conversation);
    if (types !== undefined) where.and('type IN (SELECT value FROM json_each(?))', JSON.stringify(types));
    if (seqs !== undefined) where.and('seq IN (SELECT value FROM json_each(?))', JSON.stringify(seqs));
    const rows = this.#all<{ seq: number; log: number; at: number; body: string }>(
      `SELECT seq, log, at, body FROM records ${where.sql} ORDER BY seq ${newestFirst ? 'DESC' : 'ASC'} LIMIT ?`,
      ...where.values,
      Number.isFinite(limit) ? limit : -1,
    );
    return rows.map((row) => ({
      seq: row.seq,
      log: log ?? this.#keyOf(row.log),
      at: row.at,
      body: JSON.parse(row.body) as Draft,
    }));
  }

  #items(log: number, query: ItemQuery): Item[] {
    switch (query.kind) {
      case 'open':
        return query.conversation === undefined
          ? this.#select(ITEMS.open, log, query.limit ?? -1)
          : this.#select(ITEMS.openFor, log, query.conversation, query.limit ?? -1);
      case 'gate':
        return this.#select(ITEMS.gate, log).filter((item) => heldFor(item, query.conversation));
      case 'unread':
        return query.conversation === undefined
          ? this.#select(ITEMS.unread, log, query.limit ?? -1)
          : this.#select(ITEMS.unreadOf, log, query.conversation, query.limit ?? -1);
      case 'key':
        return this.#select(ITEMS.key, log, query.key).filter((item) => item.state === 'open');
      case 'ids':
        return [...new Set(query.ids)].flatMap((id) => this.#byId(log, id)).sort((a, b) => a.seq - b.seq);
      case 'carrier':
        return this.#select(ITEMS.carrier, query.carrier, log);
      case 'latest':
        return [ITEMS.newestOpen, ITEMS.unread, ITEMS.done]
          .flatMap((sql) => this.#select(sql, log, query.limit))
          .sort((a, b) => b.seq - a.seq)
          .slice(0, query.limit);
    }
  }

  #byId(log: number, id: NotificationId): Item[] {
    const seq = this.#seqOf(log, id);
    return seq === undefined ? [] : this.#select(ITEMS.atSeq, log, seq);
  }

  #seqOf(log: number, id: NotificationId): number | undefined {
    return this.#all<{ seq: number }>('SELECT seq FROM records WHERE log = ? AND notification = ?', log, id)[0]?.seq;
  }

  #select(sql: string, ...values: SQLInputValue[]): Item[] {
    return this.#all<ItemRow>(sql, ...values).map(itemOf);
  }

  #overview(project: string | undefined): LogOverview[] {
    const where = new Where();
    where.and('EXISTS (SELECT 1 FROM records r WHERE r.log = l.id)');
    if (project !== undefined) where.and('l.project = ?', project);
    return this.#all<{ id: number; key: LogKey }>(
      `SELECT l.id, l.key FROM logs l ${where.sql} ORDER BY l.key`,
      ...where.values,
    ).map(({ id, key }) => {
      const open = { info: 0, warning: 0, error: 0, critical: 0 };
      let oldest: number | undefined;
      for (const row of this.#all<{ level: number; n: number; oldest: number }>(
        `SELECT level, count(*) AS n, min(seq) AS oldest FROM items WHERE log = ? AND phase = ${OPEN} GROUP BY level`,
        id,
      )) {
        open[levelOf(row.level)] = row.n;
        oldest = Math.min(oldest ?? row.oldest, row.oldest);
      }
      if (oldest === undefined) return { log: key, open };
      const at = this.#all<{ at: number }>('SELECT at FROM records WHERE seq = ?', oldest)[0]?.at;
      return { log: key, open, ...(at === undefined ? {} : { oldestOpenAt: at }) };
    });
  }

  /** One chunk of a log's past, by position; `next` is where the next one begins. */
  #pruneLog(
    log: number,
    { before, after }: { before: number; after: number },
  ): { records: number; items: number; next: number | undefined } {
    fault('prune.begun');
    const head = this.#last().seq;
    const rows = this.#all<{ seq: number; source: number | null }>(
      `SELECT i.seq, max(i.source) AS source FROM items i JOIN records r ON r.seq = i.seq
       WHERE i.log = ? AND i.phase IN (${UNREAD}, ${DONE}) AND i.seq > ? AND i.closed_at < ? AND i.gate = 0
       GROUP BY i.seq ORDER BY i.seq LIMIT ?`,
      log,
      after,
      before,
      PRUNE_CHUNK,
    );
    const going: Item[] = [];
    const goingSeqs = new Set<number>();
    const go = (items: readonly Item[]): void => {
      for (const item of items) {
        going.push(item);
        goingSeqs.add(item.seq);
      }
    };
    for (const { seq, source } of rows) {
      if (source !== null || goingSeqs.has(seq)) continue;
      const items = this.#select(ITEMS.atSeq, log, seq);
      if (!items.every((item) => isPast(item, before) && !item.history.includes(head))) continue;
      go(items);
      // What was folded into it shares its fate: replaying the fold needs both.
      for (const folded of this.#all<{ seq: number }>('SELECT seq FROM items WHERE source = ?', seq))
        go(this.#select(ITEMS.atSeq, log, folded.seq));
    }
    const ids = new Set(going.map((item) => item.id));
    const history = this.#bodies([...new Set(going.flatMap((item) => item.history))]);
    const gone = removable(history, (id) => !ids.has(id) && this.#seqOf(log, id) !== undefined);
    const loose = this.#bodies(
      this.#all<{ seq: number }>('SELECT seq FROM loose WHERE log = ? AND at < ? AND seq < ?', log, before, head).map(
        (row) => row.seq,
      ),
    );
    const looseGone = removableLoose(loose);
    for (const seq of goingSeqs)
      this.#run(`DELETE FROM items WHERE log = ? AND phase IN (${UNREAD}, ${DONE}) AND seq = ?`, log, seq);
    for (const seq of looseGone) this.#run('DELETE FROM loose WHERE log = ? AND seq = ?', log, seq);
    for (const seq of [...gone, ...looseGone]) this.#run('DELETE FROM records WHERE seq = ?', seq);
    return {
      records: gone.length + looseGone.length,
      items: going.length,
      next: rows.length < PRUNE_CHUNK ? undefined : rows.at(-1)?.seq,
    };
  }

  #bodies(seqs: readonly number[]): { seq: number; body: Draft }[] {
    return this.#all<{ seq: number; body: string }>(
      'SELECT seq, body FROM records WHERE seq IN (SELECT value FROM json_each(?)) ORDER BY seq',
      JSON.stringify(seqs),
    ).map(({ seq, body }) => ({ seq, body: JSON.parse(body) as Draft }));
  }

  #pruneSides(before: number): void {
    this.#run('DELETE FROM withheld WHERE until <= ?', this.now());
    this.#run('DELETE FROM conversations WHERE ended_at < ?', before);
    this.#run(
      `DELETE FROM bindings WHERE at < ? AND NOT EXISTS
       (SELECT 1 FROM conversations c WHERE c.log = bindings.log AND c.conversation = bindings.conversation)`,
      before,
    );
    fault('prune.committed');
  }

  #verify(): string[] {
    const structure = this.#all<{ integrity_check: string }>('PRAGMA integrity_check').map((row) => row.integrity_check);
    const problems = structure.filter((line) => line !== 'ok').map((line) => `structure: ${line}`);
    for (const { id, key } of this.#all<{ id: number; key: LogKey }>('SELECT id, key FROM logs')) {
      const rows = this.#db.prepare('SELECT seq, at, body FROM records WHERE log = ? ORDER BY seq').iterate(id) as Iterable<{
        seq: number;
        at: number;
        body: string;
      }>;
      const records = (function* (): Iterable<Stored> {
        for (const { seq, at, body } of rows) yield { seq, log: key, at, body: JSON.parse(body) as Draft };
      })();
      problems.push(...unsound(key, records, this.#select(ITEMS.all, id)), ...this.#misplaced(id, key));
    }
    return problems;
  }

  /** Items whose columns say otherwise than their state. */
  #misplaced(log: number, key: LogKey): string[] {
    type Columns = ItemRow & {
      phase: number;
      gate: number;
      level: number;
      key: string | null;
      carrier: string | null;
      taken_by: string | null;
      closed_at: number | null;
    };
    const rows = this.#all<Columns>(
      ITEMS.all.replace('SELECT', 'SELECT i.phase, i.gate, i.level, i.key, i.carrier, i.taken_by, i.closed_at,'),
      log,
    );
    return rows.flatMap((row) => {
      const item = itemOf(row);
      const fits =
        row.phase === phaseOf(item) &&
        row.gate === (item.gate ? 1 : 0) &&
        row.level === levelRank(item.notification.level) &&
        row.key === (item.notification.key ?? null) &&
        row.carrier === (item.carrier ?? null) &&
        row.taken_by === (item.takenBy ?? null) &&
        row.closed_at === (item.closedAt ?? null);
      return fits ? [] : [`${key}: the columns of ${item.id} do not fit its state`];
    });
  }

  /** The newest record's position and time. */
  #last(): { seq: number; at: number } {
    const last = this.#all<{ seq: number; at: number }>('SELECT seq, at FROM records ORDER BY seq DESC LIMIT 1')[0];
    if (last === undefined) return { seq: 0, at: 0 };
    this.#lastAt = Math.max(this.#lastAt ?? 0, last.at);
    return last;
  }

  #numberOf(log: LogKey): number | undefined {
    const known = this.#numbers.get(log);
    if (known !== undefined) return known;
    const id = this.#all<{ id: number }>('SELECT id FROM logs WHERE key = ?', log)[0]?.id;
    // Inside a transaction the log may be one that a rollback takes back.
    if (id !== undefined && !this.#db.isTransaction) this.#remember(log, id);
    return id;
  }

  #numberFor(log: LogKey): number {
    const known = this.#numberOf(log);
    if (known !== undefined) return known;
    return Number(this.#run('INSERT INTO logs (key, project) VALUES (?, ?)', log, splitLog(log).project).lastInsertRowid);
  }

  #keyOf(number: number): LogKey {
    const known = this.#keys.get(number);
    if (known !== undefined) return known;
    const [row] = this.#all<{ key: LogKey }>('SELECT key FROM logs WHERE id = ?', number);
    if (row === undefined)
      throw new EarpieceError('store_corrupt', `the database ${this.path} has records of log ${number}, which it does not know`);
    this.#remember(row.key, number);
    return row.key;
  }

  #remember(log: LogKey, number: number): void {
    this.#numbers.set(log, number);
    this.#keys.set(number, log);
  }

  /** All or nothing. What `keep` says no to is rolled back and handed out all the same. */
  #write<T>(work: () => T, keep: (result: T) => boolean = () => true): T {
    this.#run('BEGIN IMMEDIATE');
    try {
      const result = work();
      this.#run(keep(result) ? 'COMMIT' : 'ROLLBACK');
      return result;
    } catch (error) {
      if (this.#db.isTransaction) this.#db.exec('ROLLBACK');
      throw error;
    }
  }

  /** Reads of one moment, whatever others write meanwhile. */
  #reading<T>(work: () => T): T {
    this.#run('BEGIN');
    try {
      return work();
    } finally {
      if (this.#db.isTransaction) this.#db.exec('COMMIT');
    }
  }

  #run(sql: string, ...values: SQLInputValue[]): ReturnType<StatementSync['run']> {
    return this.#statement(sql).run(...values);
  }

  #all<Row>(sql: string, ...values: SQLInputValue[]): Row[] {
    return this.#statement(sql).all(...values) as Row[];
  }

  #statement(sql: string): StatementSync {
    let statement = this.#statements.get(sql);
    if (statement === undefined) {
      statement = this.#db.prepare(sql);
      this.#statements.set(sql, statement);
    }
    return statement;
  }
}

const isAppended = (result: Appended): boolean => result.kind === 'appended';

/** Conditions joined with AND; nothing when there are none. */
class Where {
  readonly values: SQLInputValue[] = [];
  #sql = '';

  and(condition: string, ...values: SQLInputValue[]): void {
    this.#sql += this.#sql === '' ? `WHERE ${condition}` : ` AND ${condition}`;
    this.values.push(...values);
  }

  get sql(): string {
    return this.#sql;
  }
}
