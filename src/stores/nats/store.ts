import { randomBytes, randomUUID } from 'node:crypto';
import { type ConversationId, type LogKey, splitLog } from '../../core/address.ts';
import { EarpieceError } from '../../core/errors.ts';
import { fault } from '../../core/faults.ts';
import type { Item } from '../../core/items.ts';
import type { Json } from '../../core/json.ts';
import type {
  AgentOverview,
  Appended,
  AppendOptions,
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
import { Appends } from '../appends.ts';
import { select, selectRecords } from '../memory-log.ts';
import { written } from '../placing.ts';
import { mustConcernNoItem } from '../retention.ts';
import { staleKey } from '../settle-batch.ts';
import { Wakeups } from '../wakeups.ts';
import { addressOf } from './address.ts';
import { appendAll } from './append.ts';
import { bodyOf } from './body.ts';
import { type Bound, Conversations, secretOf } from './conversations.ts';
import { loadDriver } from './driver.ts';
import { agentsPage, logNames, overviews, readSeveral, verify } from './lists.ts';
import { Logs } from './logs.ts';
import { eraseAgent, pruneOne, removeRecords } from './removal.ts';
import { Server } from './server.ts';
import { knownOf, Settings } from './settings.ts';
import { Tables } from './tables.ts';

export type NatsOptions = {
  /** `nats://user:password@host:4222/name`, with commas between several hosts, and `tls://` for TLS. */
  readonly url: string;
  /** The number of copies of each stream of a new store: 1, 3 or 5. Default: `replicas` of the URL, else 1. */
  readonly replicas?: number;
  readonly clock?: Clock;
};

/**
 * Opens a store on NATS servers of version 2.10 or newer with JetStream, and makes its two streams if needed. Needs the packages
 * `@nats-io/transport-node` and `@nats-io/jetstream`. Rejects with `bad_argument`, `store_refused`, `store_corrupt`, `store_full`
 * or (if the server gives no answer) `store_unavailable`. No error message contains the password.
 */
export async function openNatsStore(options: NatsOptions): Promise<Store> {
  const address = addressOf(options.url, options);
  const server = await Server.open(await loadDriver(), address);
  try {
    const store = new NatsStore(server, options.clock ?? { now: () => Date.now() });
    await store.begin();
    return store;
  } catch (error) {
    await server.close();
    throw error;
  }
}

class NatsStore implements Store {
  readonly name: string;
  readonly #server: Server;
  readonly #clock: Clock;
  readonly #tables: Tables;
  readonly #logs: Logs;
  readonly #settings: Settings;
  readonly #conversations: Conversations;
  readonly #appends: Appends;
  readonly #wakeups: Wakeups;
  /** The newest known time in the store. No new record gets an earlier time. */
  #lastAt = 0;
  #closing: Promise<void> | undefined;

  constructor(server: Server, clock: Clock) {
    const pending = new Set<string>();
    this.name = server.address.name;
    this.#server = server;
    this.#clock = clock;
    this.#tables = new Tables(server);
    this.#logs = new Logs(server, this.#tables, pending);
    this.#settings = new Settings(this.#tables, this.#logs);
    this.#conversations = new Conversations(this.#tables, this.#logs);
    this.#wakeups = new Wakeups(server.listen, () => server.insist(undefined, () => server.lastSeq(server.logs)));
    const writing = { ...this.#all, pending, now: () => this.now(), lastAt: () => this.#lastAt };
    this.#appends = new Appends(
      (log, batch, withinMs) => appendAll(writing, log, batch, withinMs),
      ({ seq, at }) => {
        this.#lastAt = Math.max(this.#lastAt, at);
        this.#wakeups.wake(seq);
        server.announce(seq);
      },
    );
  }

  /** Reads the newest time in the store. */
  async begin(): Promise<void> {
    const last = await this.#server.insist(undefined, () => this.#server.last(this.#server.logs, `${this.#server.root}.log.>`));
    if (last !== undefined) this.#lastAt = bodyOf(last.text).at;
  }

  now(): number {
    return this.#clock.now();
  }

  ordered(): number {
    return Math.max(this.#clock.now(), this.#lastAt);
  }

  async append(log: LogKey, drafts: readonly Draft[], options?: AppendOptions): Promise<Appended> {
    this.#admit(options);
    // The drafts are copied now, because the caller may change its objects after this iteration of the event loop.
    const copies = written(drafts).map(({ text }) => ({ text, body: JSON.parse(text) as Draft }));
    const { swaps = [], newIds = false } = options ?? {};
    return this.#appends.append(log, { drafts: copies, swaps, newIds }, options);
  }

  read(query: ReadQuery, options?: Wait): Promise<readonly Stored[]> {
    const { log, project } = query;
    return this.#try(options, async () => {
      if (log === undefined) return this.#seen(await readSeveral(this.#all, query));
      if (project !== undefined && splitLog(log).project !== project) return [];
      return this.#seen(selectRecords((await this.#logs.fresh(log)).log.records, query));
    });
  }

  head(options?: Wait): Promise<number> {
    return this.#try(options, () => this.#server.lastSeq(this.#server.logs));
  }

  items(log: LogKey, query: ItemQuery, options?: Wait): Promise<readonly Item[]> {
    return this.#try(options, async () => select((await this.#logs.fresh(log)).log, query));
  }

  countOpen(log: LogKey, options?: Wait): Promise<number> {
    return this.#try(options, async () => (await this.#logs.fresh(log)).log.open.size);
  }

  overview(project?: string, options?: Wait): Promise<readonly LogOverview[]> {
    return this.#try(options, () => overviews(this.#all, project));
  }

  agents(query: { project?: string; after?: LogKey; limit?: number }, options?: Wait): Promise<readonly AgentOverview[]> {
    const presence = (project: string | undefined): Promise<readonly Presence[]> =>
      this.#conversations.presence(project === undefined ? {} : { project });
    return this.#try(options, () => agentsPage({ ...this.#all, presence }, query, this.now()));
  }

  async changed(after: number, options: Wait = {}): Promise<number> {
    const head = await this.head();
    return head > after ? head : this.#wakeups.wait(after, options);
  }

  async touch(update: PresenceUpdate, options?: Wait): Promise<Presence> {
    const by = randomUUID();
    const known = await this.#try(options, () => this.#conversations.touch(update, this.now(), by));
    fault('touch.committed');
    return known;
  }

  presence(query: PresenceQuery, options?: Wait): Promise<readonly Presence[]> {
    return this.#try(options, () => this.#conversations.presence(query));
  }

  bind(host: Owner, to: Bound, options?: Wait): Promise<void> {
    return this.#try(options, () => this.#conversations.bind(host, to, this.now()));
  }

  binding(host: Owner, options?: Wait): Promise<(Bound & { at: number }) | undefined> {
    return this.#try(options, () => this.#conversations.binding(host));
  }

  async withhold(held: Withheld, options?: Wait): Promise<void> {
    await this.#try(options, () => this.#conversations.withhold(held));
    fault('withhold.committed');
  }

  withheld(log: LogKey, conversation: ConversationId, options?: Wait & { take?: boolean }): Promise<readonly Withheld[]> {
    const how = { now: this.now(), take: options?.take === true };
    return this.#try(options, () => this.#conversations.withheld({ log, conversation }, how));
  }

  async prune(before: number, options?: Wait): Promise<{ readonly records: number; readonly items: number }> {
    const total = { records: 0, items: 0 };
    for (const log of await this.#try(options, () => logNames(this.#all)))
      for (let left = true; left;) {
        const { records, items } = await this.#try(options, () => pruneOne(this.#all, log, before));
        total.records += records;
        total.items += items;
        left = records > 0;
      }
    await this.#try(options, () => this.#conversations.prune(before, this.now()));
    return total;
  }

  async forget(seqs: readonly number[], options?: Wait & { readonly swaps?: readonly Swap[] }): Promise<boolean> {
    const { swaps = [] } = options ?? {};
    const wanted = [...seqs];
    return this.#try(options, async () => {
      if (wanted.includes(await this.#server.lastSeq(this.#server.logs))) return false;
      const records = await readSeveral(this.#all, { seqs: wanted, limit: wanted.length });
      records.forEach(mustConcernNoItem);
      if (!(await this.#swapAll(swaps))) return false;
      for (const [log, of] of Map.groupBy(records, ({ log }) => log))
        await removeRecords(
          this.#all,
          log,
          of.map(({ seq }) => seq),
        );
      return true;
    });
  }

  erase(log: LogKey, before: number, options?: Wait): Promise<Erased> {
    return this.#try(options, () => eraseAgent(this.#all, log, before));
  }

  setting(key: string, options?: Wait): Promise<Json | undefined> {
    return this.#try(options, () => this.#settings.get(key));
  }

  setSetting(key: string, value: Json | undefined, options?: Wait): Promise<void> {
    const by = randomUUID();
    return this.#try(options, () => this.#settings.set(key, value, by));
  }

  swapSetting(key: string, from: Json | undefined, to: Json | undefined, options?: Wait): Promise<boolean> {
    const by = randomUUID();
    return this.#try(options, () => this.#settings.swap({ key, from, to }, by));
  }

  secret(options?: Wait): Promise<string> {
    return this.#try(options, () => secretOf(this.#tables, () => randomBytes(32).toString('hex')));
  }

  verify(options?: Wait & Progress): Promise<readonly string[]> {
    return this.#try({ ...options, withinMs: options?.withinMs ?? VERIFY_MS }, () => verify(this.#all, options?.onProgress));
  }

  close(): Promise<void> {
    this.#closing ??= (async () => {
      this.#wakeups.close();
      await this.#appends.end();
      await this.#server.close();
    })();
    return this.#closing;
  }

  get #all(): Parameters<typeof pruneOne>[0] {
    return {
      server: this.#server,
      tables: this.#tables,
      logs: this.#logs,
      settings: this.#settings,
      conversations: this.#conversations,
    };
  }

  /** Changes all of these settings. Returns false and changes none if one of these settings has an unexpected value. */
  async #swapAll(swaps: readonly Swap[]): Promise<boolean> {
    const rows = await this.#settings.rows(swaps.map(({ key }) => key).toSorted(), (log) => this.#logs.fresh(log));
    if (staleKey(knownOf(rows), swaps) !== undefined) return false;
    const to = new Map(swaps.map(({ key, to: value }) => [key, value]));
    const hold = await this.#settings.hold(rows, to, { tx: randomUUID(), log: FORGETTING });
    if (hold !== undefined) await this.#settings.finish(hold);
    return hold !== undefined;
  }

  #seen(records: readonly Stored[]): readonly Stored[] {
    for (const { at } of records) this.#lastAt = Math.max(this.#lastAt, at);
    return records;
  }

  async #try<T>(options: Wait | undefined, work: () => Promise<T>): Promise<T> {
    this.#admit(options);
    return this.#server.insist(options, work);
  }

  #admit(options: Wait | undefined): void {
    if (this.#closing !== undefined)
      throw new EarpieceError('store_unavailable', `${this.name} was closed by this process: open the store again`);
    options?.signal?.throwIfAborted();
  }
}

/**
 * The log that a hold without an append names. This log has no appends, so if the process ends during the hold, the rows keep
 * their old values.
 */
const FORGETTING = '/' as LogKey;
/** The default time limit of a check, which reads all records. */
const VERIFY_MS = 600_000;
