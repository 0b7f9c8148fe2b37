import { randomBytes } from 'node:crypto';
import type { ConversationId, LogKey } from '../../core/address.ts';
import { EarpieceError } from '../../core/errors.ts';
import { fault } from '../../core/faults.ts';
import type { Item } from '../../core/items.ts';
import type { Json } from '../../core/json.ts';
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
  Progress,
  ReadQuery,
  Store,
  Swap,
  Wait,
  Withheld,
} from '../../core/ports.ts';
import type { Draft, Owner, Stored } from '../../core/records.ts';
import { OPEN } from '../item-row.ts';
import { Appends, type BatchHead } from '../appends.ts';
import { DEFAULT_MS } from '../insist.ts';
import { written } from '../placing.ts';
import { staleKey } from '../settle-batch.ts';
import { Wakeups } from '../wakeups.ts';
import { addressOf } from './address.ts';
import { agentsPage, overviews } from './agents.ts';
import { appendAll, lockOf } from './append.ts';
import { bind, binding, type Bound, presence, pruneConversations, touch, withheld, withhold } from './conversations.ts';
import { Database, type Query } from './database.ts';
import { loadDriver } from './driver.ts';
import { findItems } from './items.ts';
import { migrate } from './migrations.ts';
import { erase, forgetRecords, pruneChunk, type Pruned } from './prune.ts';
import { pruneRepeated, settledUpTo } from './positions.ts';
import { readRecords } from './records.ts';
import { applySwaps, setSetting, settingsOf } from './settings.ts';
import { verify } from './verify.ts';
import { Announcer, listenWith } from './wakeups.ts';

export type PostgresOptions = {
  /** `postgres://user:password@host:5432/database`, with `sslmode` and `sslrootcert` for TLS. */
  readonly url: string;
  /** The schema of the tables. Default: `schema` in the URL, otherwise `earpiece`. */
  readonly schema?: string;
  /** The maximum number of connections to each host, in addition to the connection that listens. Default 4. */
  readonly connections?: number;
  readonly clock?: Clock;
};

const CONNECTIONS = 4;

/**
 * Opens a PostgreSQL database, and makes or migrates its tables if needed. Needs the package pg. Rejects with `bad_argument`,
 * `store_refused`, `store_corrupt`, `store_full`, or `store_unavailable` if the server does not answer. No error message contains
 * the password.
 */
export async function openPostgresStore(options: PostgresOptions): Promise<Store> {
  const address = addressOf(options.url, options.schema);
  const driver = await loadDriver();
  const db = new Database(driver, address, options.connections ?? CONNECTIONS);
  try {
    await migrate(db);
    const store = new PostgresStore(
      db,
      (head) => new Wakeups(listenWith(driver, db), head),
      options.clock ?? { now: () => Date.now() },
    );
    await store.head();
    return store;
  } catch (error) {
    await db.end();
    throw error;
  }
}

class PostgresStore implements Store {
  readonly name: string;
  readonly #db: Database;
  readonly #wakeups: Wakeups;
  readonly #appends: Appends;
  readonly #announcer: Announcer;
  readonly #clock: Clock;
  /** The newest position and `at` that this process knows. No new record gets an earlier time. */
  #newest: BatchHead = { seq: 0, at: 0 };
  #closing: Promise<void> | undefined;

  constructor(db: Database, wakeups: (head: () => Promise<number>) => Wakeups, clock: Clock) {
    this.name = db.address.name;
    this.#db = db;
    this.#clock = clock;
    this.#wakeups = wakeups(() => this.#askHead(undefined));
    this.#announcer = new Announcer(db);
    this.#appends = new Appends(
      (log, batch, withinMs) => appendAll(db, log, batch, { withinMs, now: this.now(), newest: this.#newest }),
      (head) => {
        this.#know(head);
        this.#announcer.announce(head.seq);
        this.#wakeups.look();
      },
    );
  }

  now(): number {
    return this.#clock.now();
  }

  ordered(): number {
    return Math.max(this.#clock.now(), this.#newest.at);
  }

  async append(log: LogKey, drafts: readonly Draft[], options?: Wait & { readonly swaps?: readonly Swap[] }): Promise<Appended> {
    this.#admit(options);
    // The drafts are copied now, because the caller may change its objects after this iteration of the event loop.
    const copies = written(drafts).map(({ text }) => ({ text, body: JSON.parse(text) as Draft }));
    return this.#appends.append(log, { drafts: copies, swaps: options?.swaps ?? [] }, options);
  }

  async read(query: ReadQuery, options?: Wait): Promise<readonly Stored[]> {
    const read = this.#read(options);
    if (query.log !== undefined) return readRecords(read, query);
    const settled = await settledUpTo(read, options?.withinMs ?? DEFAULT_MS);
    return readRecords(read, { ...query, upTo: Math.min(query.upTo ?? settled, settled) });
  }

  async head(options?: Wait): Promise<number> {
    this.#admit(options);
    return this.#askHead(options);
  }

  async items(log: LogKey, query: ItemQuery, options?: Wait): Promise<readonly Item[]> {
    return findItems(this.#read(options), log, query);
  }

  async countOpen(log: LogKey, options?: Wait): Promise<number> {
    const rows = await this.#read(options)<{ n: number }>(
      `SELECT count(*) AS n FROM @items WHERE log = $1 AND phase = ${OPEN}`,
      log,
    );
    return rows[0]?.n ?? 0;
  }

  async overview(project?: string, options?: Wait): Promise<readonly LogOverview[]> {
    return overviews(this.#read(options), project);
  }

  async agents(query: { project?: string; after?: LogKey; limit?: number }, options?: Wait): Promise<readonly AgentOverview[]> {
    return agentsPage(this.#read(options), query, this.now());
  }

  async changed(after: number, options: Wait = {}): Promise<number> {
    const head = await this.head();
    return head > after ? head : this.#wakeups.wait(after, options);
  }

  async touch(update: PresenceUpdate, options?: Wait): Promise<Presence> {
    const known = await this.#change(options, [lockOf(update.log)], (query) => touch(query, update, this.now()));
    fault('touch.committed');
    return known;
  }

  async presence(query: PresenceQuery, options?: Wait): Promise<readonly Presence[]> {
    return presence(this.#read(options), query);
  }

  async bind(host: Owner, to: Bound, options?: Wait): Promise<void> {
    await this.#change(options, [], (query) => bind(query, host, to, this.now()));
  }

  async binding(host: Owner, options?: Wait): Promise<(Bound & { at: number }) | undefined> {
    return binding(this.#read(options), host);
  }

  async withhold(held: Withheld, options?: Wait): Promise<void> {
    await this.#change(options, [], (query) => withhold(query, held));
    fault('withhold.committed');
  }

  async withheld(log: LogKey, conversation: ConversationId, options?: Wait & { take?: boolean }): Promise<readonly Withheld[]> {
    const now = this.now();
    const of = { log, conversation };
    if (!options?.take) return withheld(this.#read(options), of, { now, take: false });
    return this.#change(options, [], (query) => withheld(query, of, { now, take: true }));
  }

  async prune(before: number, options?: Wait): Promise<{ readonly records: number; readonly items: number }> {
    const total = { records: 0, items: 0 };
    for (const { log } of await this.#read(options)<{ log: LogKey }>('SELECT log FROM @logs ORDER BY log')) {
      for (let after: number | undefined = 0; after !== undefined;) {
        const from: number = after;
        const chunk: Pruned = await this.#change(options, [lockOf(log)], (query) =>
          pruneChunk(query, log, { before, after: from }),
        );
        fault('prune.committed');
        total.records += chunk.records;
        total.items += chunk.items;
        after = chunk.next;
      }
    }
    await this.#change(options, [], async (query) => {
      await pruneConversations(query, before, this.now());
      await pruneRepeated(query);
    });
    return total;
  }

  async forget(seqs: readonly number[], options?: Wait & { readonly swaps?: readonly Swap[] }): Promise<boolean> {
    const { swaps = [] } = options ?? {};
    const keys = swaps.map(({ key }) => key).toSorted();
    return this.#change(
      options,
      keys.map((key) => `setting ${key}`),
      async (query) => {
        if (staleKey(await settingsOf(query, keys), swaps) !== undefined || !(await forgetRecords(query, seqs))) return false;
        await applySwaps(query, swaps);
        return true;
      },
      (done) => done,
    );
  }

  /**
   * Erases the data of an agent. The erased bytes stay in the server's files until VACUUM, in the server's log, and in backups.
   */
  async erase(log: LogKey, before: number, options?: Wait): Promise<Erased> {
    return this.#change(options, [lockOf(log)], (query) => erase(query, log, before));
  }

  async setting(key: string, options?: Wait): Promise<Json | undefined> {
    const text = (await settingsOf(this.#read(options), [key])).get(key);
    return text === undefined ? undefined : (JSON.parse(text) as Json);
  }

  async setSetting(key: string, value: Json | undefined, options?: Wait): Promise<void> {
    await this.#change(options, [`setting ${key}`], (query) => setSetting(query, key, value));
  }

  async swapSetting(key: string, from: Json | undefined, to: Json | undefined, options?: Wait): Promise<boolean> {
    return this.#change(
      options,
      [`setting ${key}`],
      async (query) => {
        if (staleKey(await settingsOf(query, [key]), [{ key, from, to }]) !== undefined) return false;
        await setSetting(query, key, to);
        return true;
      },
      (done) => done,
    );
  }

  async secret(options?: Wait): Promise<string> {
    const known = "SELECT value FROM @meta WHERE key = 'secret'";
    const [found] = await this.#read(options)<{ value: string }>(known);
    if (found !== undefined) return found.value;
    // Another process may make a secret at the same time. The first secret counts.
    return this.#change(options, ['secret'], async (query) => {
      const made = randomBytes(32).toString('hex');
      await query("INSERT INTO @meta (key, value) VALUES ('secret', $1) ON CONFLICT (key) DO NOTHING", made);
      return (await query<{ value: string }>(known))[0]?.value ?? made;
    });
  }

  async verify(options?: Wait & Progress): Promise<readonly string[]> {
    this.#admit(options);
    const ms = { withinMs: options?.withinMs ?? VERIFY_MS };
    return this.#db.snapshot(ms, (query) => verify(query, this.#db.address.schema, options?.onProgress));
  }

  close(): Promise<void> {
    this.#closing ??= (async () => {
      this.#wakeups.close();
      await this.#appends.end();
      await this.#announcer.end();
      await this.#db.end();
    })();
    return this.#closing;
  }

  /** Returns the position of the newest record up to `settledUpTo`. Later records get only higher positions. */
  async #askHead(options: Wait | undefined): Promise<number> {
    const read: Query = (text, ...values) => this.#db.read(options, text, ...values);
    const settled = await settledUpTo(read, options?.withinMs ?? DEFAULT_MS);
    const [head] = await read<BatchHead>('SELECT seq, at FROM @records WHERE seq <= $1 ORDER BY seq DESC LIMIT 1', settled);
    if (head !== undefined) this.#know(head);
    return head?.seq ?? 0;
  }

  #know({ seq, at }: BatchHead): void {
    this.#newest = { seq: Math.max(this.#newest.seq, seq), at: Math.max(this.#newest.at, at) };
  }

  /** Returns a function that runs single statements within the time limit of the call. */
  #read(options: Wait | undefined): Query {
    this.#admit(options);
    return (text, ...values) => this.#db.read(options, text, ...values);
  }

  async #change<T>(
    options: Wait | undefined,
    locks: readonly string[],
    work: (query: Query) => Promise<T>,
    keep: (result: T) => boolean = () => true,
  ): Promise<T> {
    this.#admit(options);
    return this.#db.write(options, locks, work, { keep });
  }

  #admit(options: Wait | undefined): void {
    if (this.#closing !== undefined)
      throw new EarpieceError('store_unavailable', `${this.name} was closed by this process: open the store again`);
    options?.signal?.throwIfAborted();
  }
}

/** The default time limit of a check, which reads all records. */
const VERIFY_MS = 600_000;
