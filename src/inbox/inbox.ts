/**
 * The shell around the core, and the only access to a store. It gathers facts, calls the plan, renders the view and appends.
 * `core` holds the rules, and the store the transactions.
 */
import { conversationId, logOf, MAIN, parseAddress, type Address, type ConversationId, type LogKey } from '../core/address.ts';
import { defined } from '../core/defined.ts';
import { EarpieceError } from '../core/errors.ts';
import type { Mute } from '../core/filter.ts';
import type { Item } from '../core/items.ts';
import type { NotificationId, NotificationInput, Subscribed } from '../core/notification.ts';
import type { Ids, LineRenderer, Presence, Store } from '../core/ports.ts';
import type { Owner, QueuedRecord, Stored } from '../core/records.ts';
import type { Verdict } from '../core/verdict/kinds.ts';
import type { Companion, Logs, OverBecause, PolicySource, Queued, Withdrawn } from './context.ts';
import { Conversation } from './conversation/conversation.ts';
import { fork, lineageOf, transcriptOf, type Forked, type Stretch, type TranscriptQuery } from './conversation/fork.ts';
import { gatesOf } from './conversation/gates.ts';
import { readRecords } from './conversation/lease.ts';
import { LeaseEnds } from './conversation/lease-ends.ts';
import type { ConversationOptions } from './conversation/recipient.ts';
import { projectsIn, prune, pruneTime, type Pruned } from './housekeeping/retention.ts';
import { sweep, type Swept } from './housekeeping/sweep.ts';
import { Witnesses } from './housekeeping/witnesses.ts';
import { randomIds } from './ids.ts';
import { bind } from './presence/bind.ts';
import { markFor, newMark } from './presence/mark.ts';
import { activeOnes, isActive, overBecause, wasConversation } from './presence/presence.ts';
import { isAlive, selfOwner } from './presence/processes.ts';
import { WriterHold } from './presence/writer.ts';
import { HeldBack, type Unwritten } from './producing/held-back.ts';
import { notAPerson, type InsideAgent } from './producing/inside.ts';
import { mute, mutesOf, type MuteOptions } from './producing/mutes.ts';
import { OpenLimit } from './producing/open-limit.ts';
import { prepare, queue, requeue } from './producing/queue.ts';
import { resume, type Lifted } from './producing/resume.ts';
import { withdraw } from './producing/withdraw.ts';
import { watch, type WatchQuery } from './watch.ts';
import type { ForOne } from './why/foretell.ts';
import type { Reader } from './why/verdict-facts.ts';
import type { explain, Why } from './why/why.ts';

export type InboxDeps = {
  readonly store: Store;
  readonly policies: PolicySource;
  readonly ids?: Ids;
  /** This process, as the owner of its leases. */
  readonly owner?: Owner;
  /** Undefined: this process cannot find out. */
  readonly isAlive?: (owner: Owner) => boolean | undefined;
  /** Default: the system's zone. A function is called when a time is shown for the first time. */
  readonly timeZone?: string | (() => string);
  /** Renders lines by their subscribers' templates. Without it each line has the general form. */
  readonly lines?: LineRenderer;
  /** Other data that an heir takes over from an ended conversation. */
  readonly companions?: readonly Companion[];
  /** The agent that runs this process as a command: everything that this process queues counts as the agent's. */
  readonly speaker?: InsideAgent | undefined;
};

type Place = { readonly log: LogKey; readonly id: ConversationId };

/** Loaded with the first `why`. `loadAhead` loads it earlier. */
export const loadWhy = async (): Promise<{ readonly explain: typeof explain }> => import('./why/why.ts');

export class Inbox implements Logs, AsyncDisposable {
  readonly store: Store;
  readonly policies: PolicySource;
  readonly ids: Ids;
  readonly owner: Owner;
  readonly isAlive: (owner: Owner) => boolean | undefined;
  readonly lines: LineRenderer | undefined;
  readonly speaker: InsideAgent | undefined;
  readonly companions: readonly Companion[];
  /** Which clocks agree with the clock of this process. */
  readonly witnesses: Witnesses;
  readonly leases = new LeaseEnds();
  readonly limit: OpenLimit;
  readonly #heldBack = new HeldBack();
  readonly #writer: WriterHold;
  #timeZone: string | (() => string);
  #closed = false;

  constructor(deps: InboxDeps) {
    this.store = deps.store;
    this.policies = deps.policies;
    this.ids = deps.ids ?? randomIds;
    this.owner = deps.owner ?? selfOwner();
    this.isAlive = deps.isAlive ?? ((owner) => isAlive(owner));
    this.#timeZone = deps.timeZone ?? (() => Intl.DateTimeFormat().resolvedOptions().timeZone);
    this.lines = deps.lines;
    this.speaker = deps.speaker;
    this.companions = deps.companions ?? [];
    this.witnesses = new Witnesses(this);
    this.limit = new OpenLimit(this);
    this.#writer = new WriterHold(this, randomIds.make('i'));
  }

  get timeZone(): string {
    if (typeof this.#timeZone === 'function') this.#timeZone = this.#timeZone();
    return this.#timeZone;
  }

  /**
   * Queues a notification durably: once this resolves, the notification survives a crash. `project/*` goes to every conversation
   * active in the project. `subscribed` is for the bus. Throws `bad_notification`, `bad_address`, `nobody_there` (a fan-out that
   * would reach no one).
   */
  queue(to: string | Address, input: NotificationInput, subscribed?: Subscribed): Promise<Queued> {
    return queue(this, to, input, subscribed);
  }

  /**
   * The record that `queue` would append for one agent, for a caller that appends it together with other records, in one
   * step. It goes to `only`; without it, an `action` goes to each active conversation of its purpose.
   */
  prepare(log: LogKey, input: NotificationInput, only?: ConversationId): Promise<QueuedRecord> {
    return prepare(this, log, input, only);
  }

  /** Withdraws undelivered notifications: by id, or each open one with a key. */
  async withdraw(
    to: string | Address | LogKey,
    what: { id: string } | { key: string },
    why: { by: string; reason: string },
  ): Promise<readonly Withdrawn[]> {
    return withdraw(this, toLog(to), what, why);
  }

  /** Queues a closed notification again, under a new id. */
  async requeue(to: string | Address | LogKey, id: string, by: string): Promise<Queued> {
    return requeue(this, toLog(to), id, by);
  }

  /** Silences a kind (`*`, `source`, `source.name`) for an agent, for a while or until `off` lifts it. */
  async mute(
    to: string | Address | LogKey,
    pattern: string,
    { forMs, ...options }: MuteOptions & { readonly forMs?: number },
  ): Promise<readonly Mute[]> {
    if (this.speaker !== undefined) throw notAPerson('to mute', this.speaker);
    return mute(this, toLog(to), pattern, { ...options, ...(forMs === undefined ? {} : { until: this.store.now() + forMs }) });
  }

  mutes(log: LogKey): Promise<readonly Mute[]> {
    return mutesOf(this, log);
  }

  /** Lifts the pauses of a conversation, an agent or a whole project. Returns what was lifted; empty when nothing was paused. */
  async resume(
    to: string | Address,
    options: { readonly person: string; readonly message?: string },
  ): Promise<readonly Lifted[]> {
    return resume(this, typeof to === 'string' ? parseAddress(to) : to, options);
  }

  /** Records that the model has read them: their gate falls. A pause holds until `resume`. */
  async markRead(to: string | Address | LogKey, ids: readonly string[], by: string): Promise<void> {
    const log = toLog(to);
    const items = await this.store.items(log, { kind: 'ids', ids: ids as readonly NotificationId[] });
    const records = readRecords(items, undefined, by);
    if (records.length > 0) await this.store.append(log, records);
  }

  /**
   * Registers a writer that holds notifications back before it queues them (the bus, for 100 ms). It is flushed before each
   * carrier.
   */
  holdsBack(writer: Unwritten): void {
    this.#heldBack.add(writer);
  }

  get unwritten(): boolean {
    return this.#heldBack.pending;
  }

  written(): Promise<void> {
    return this.#heldBack.flush();
  }

  /** A handle on one conversation, for the program that carries to it. */
  conversation(address: string | { log: LogKey; conversation: ConversationId }, options: ConversationOptions = {}): Conversation {
    if (typeof address !== 'string') return new Conversation(this, address.log, address.conversation, options);
    const parsed = parseAddress(address);
    if (parsed.kind === 'project')
      throw new EarpieceError(
        'bad_address',
        `address ${JSON.stringify(address)} is a whole project, but a conversation belongs to one agent: write project/agent#conversation`,
      );
    return new Conversation(this, logOf(parsed), parsed.kind === 'conversation' ? parsed.conversation : MAIN, options);
  }

  /** The records of a conversation, after those of the conversations that it was forked from. */
  transcript({ log, id }: Place, query?: TranscriptQuery): AsyncGenerator<Stored, void, undefined> {
    return transcriptOf(this.store, log, id, query);
  }

  /** The conversations that make up its transcript, oldest first; the last is the conversation itself. */
  lineage({ log, id }: Place): Promise<readonly Stretch[]> {
    return lineageOf(this.store, log, id);
  }

  /**
   * Forks a conversation of an agent, as it is or as it was at the record `upTo`. A notification that was open there then is
   * open here under the same id, unless it was withdrawn, has expired or was superseded since. Throws `not_found` if there is
   * nothing to fork, `bad_argument` if `to` exists.
   */
  async fork({ log, id }: Place, options: { readonly to?: string; readonly upTo?: number } = {}): Promise<Forked> {
    if (this.unwritten) await this.written();
    const { to = this.ids.make('f'), upTo } = options;
    return fork(this.store, log, id, { to: conversationId(to), ...defined({ upTo }) });
  }

  /** Open and offered notifications of an agent, oldest first. */
  async open(to: string | Address | LogKey): Promise<readonly Item[]> {
    return this.store.items(toLog(to), { kind: 'open' });
  }

  /** The interrupts that hold up a gate of an agent, in any of its conversations. */
  gates(log: LogKey): Promise<readonly Item[]> {
    return gatesOf(this, log);
  }

  /** Yields records as they are appended, those after `after` (exclusive; default: only new ones). Ends when `signal` aborts. */
  watch(query: WatchQuery): AsyncGenerator<Stored, void, undefined> {
    return watch(this.store, query, () => this.#closed);
  }

  /** The story of a notification with one verdict; for an open one also the plan's current decision. */
  async why(id: string, to?: string | Address | LogKey, reader?: Reader): Promise<Why | undefined> {
    const { explain } = await loadWhy();
    return explain(this, id as NotificationId, to === undefined ? undefined : toLog(to), reader);
  }

  /**
   * The verdict on a notification that is not queued, as if it came for this agent now. */
  async foretell(to: ForOne, input: NotificationInput, subscribed?: Subscribed): Promise<Verdict> {
    return (await import('./why/foretell.ts')).foretell(this, to, input, subscribed);
  }

  /** Conversations that have not ended and whose process lives. If the process cannot be checked, those that were seen in the last
   * 30 minutes.
   */
  active(query: { project?: string; log?: LogKey }): Promise<readonly Presence[]> {
    return activeOnes(this, query);
  }

  isActive(presence: Presence, now?: number): boolean {
    return isActive(this, presence, now);
  }

  /** Why a conversation has ended. Undefined while it is active. */
  overBecause(presence: Presence): OverBecause | undefined {
    return overBecause(this, presence);
  }

  /** False for a closed client connection that called no tool. */
  wasConversation(presence: Presence): boolean {
    return wasConversation(this, presence);
  }

  /** Binds a host process to the conversation that it shows now. The conversation that it showed before continues in this one. */
  bind(host: Owner, to: { log: LogKey; conversation: ConversationId }): Promise<void> {
    return bind(this, host, to);
  }

  /** The mark in the frames of an agent. */
  mark(log: LogKey): Promise<string> {
    return markFor(this, log);
  }

  /** Gives each agent of a project a new mark, from the next start of its host on. */
  newMark(project: string): Promise<void> {
    return newMark(this, project);
  }

  /**
   * Allows one writer for each conversation: the process that runs its loop, until it releases the conversation or ends. Throws
   * `store_refused` while another one lives. A holder on another machine keeps it, because this process cannot see whether it
   * lives.
   */
  holdWriter(place: Place): Promise<void> {
    return this.#writer.take(place);
  }

  releaseWriter(place: Place): Promise<void> {
    return this.#writer.release(place);
  }

  /**
   * Housekeeping that any long-lived process does from time to time: closes expired notifications, releases leases of dead
   * owners, finishes interrupted fan-outs, prunes once a day.
   */
  sweep(): Promise<Swept> {
    return sweep(this, () => this.prune());
  }

  /** Removes notifications that closed longer ago than their project keeps them, or than `olderMs`. Open ones stay. */
  prune(olderMs?: number): Promise<Pruned> {
    return prune(this, olderMs);
  }

  /** The current time, but not after the newest record: a clock that is ahead then removes no notification too early. */
  pruneTime(): Promise<number> {
    return pruneTime(this);
  }

  /** The projects that have records. */
  projects(): Promise<ReadonlySet<string>> {
    return projectsIn(this);
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    this.#writer.close();
    await this.store.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }
}

/** The log of an address or of a log's key, which looks like an address. A conversation's log is its agent's. */
export const toLog = (to: string | Address | LogKey): LogKey => logOf(typeof to === 'string' ? parseAddress(to) : to);
