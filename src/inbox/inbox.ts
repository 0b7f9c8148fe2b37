/**
 * The inbox queues, delivers and withdraws notifications. For each carrier, the inbox gathers facts, calls the plan of `core`,
 * renders the view and appends to the store.
 */
import { conversationId, logOf, MAIN, parseAddress, type Address, type ConversationId, type LogKey } from '../core/address.ts';
import { defined } from '../core/defined.ts';
import { EarpieceError } from '../core/errors.ts';
import type { Mute } from '../core/filter.ts';
import type { Item } from '../core/items.ts';
import type { NotificationId, NotificationInput, Subscribed } from '../core/notification.ts';
import type { AgentOverview, Ids, LineRenderer, Presence, Store } from '../core/ports.ts';
import type { Owner, QueuedRecord, Stored } from '../core/records.ts';
import type { Verdict } from '../core/verdict/kinds.ts';
import type { Companion, Logs, OverBecause, PolicySource, Queued, Withdrawn } from './context.ts';
import { Conversation } from './conversation/conversation.ts';
import type { recordEarly } from './conversation/early-refusal.ts';
import { fork, lineageOf, transcriptOf, type Forked, type Stretch, type TranscriptQuery } from './conversation/fork.ts';
import { gatesOf } from './conversation/gates.ts';
import { readRecords } from './conversation/lease.ts';
import { LeaseEnds } from './conversation/lease-ends.ts';
import type { ConversationOptions } from './conversation/recipient.ts';
import { projectsIn, prune, pruneTime, type Pruned } from './housekeeping/retention.ts';
import { sweep, type Swept } from './housekeeping/sweep.ts';
import { Witnesses } from './housekeeping/witnesses.ts';
import { randomIds } from './ids.ts';
import type { OpenNow } from './open-now.ts';
import { bind } from './presence/bind.ts';
import { markFor, newMark } from './presence/mark.ts';
import { activeOnes, isActive, overBecause, wasConversation } from './presence/presence.ts';
import { isAlive, selfOwner } from './presence/processes.ts';
import { WriterHold } from './presence/writer.ts';
import { HeldBack, type Unwritten } from './producing/held-back.ts';
import { notAPerson, type InsideAgent } from './producing/inside.ts';
import { mute, mutesOf, type MuteOptions } from './producing/mutes.ts';
import { Intents } from './producing/intents.ts';
import { OpenLimit } from './producing/open-limit.ts';
import { prepare, queue, requeue } from './producing/queue.ts';
import { resume, type Lifted } from './producing/resume.ts';
import { pendingWithKey, withdraw } from './producing/withdraw.ts';
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
  /** Whether the owner's process lives. Undefined if this process cannot find out. */
  readonly isAlive?: (owner: Owner) => boolean | undefined;
  /** The time zone of shown times. Default: the system's zone. A function is called when a time is shown for the first time. */
  readonly timeZone?: string | (() => string);
  /** Renders lines with their subscribers' templates. Without a renderer, a line shows its messages and their count. */
  readonly lines?: LineRenderer;
  /** Functions that move other data of an ended conversation to its heir. */
  readonly companions?: readonly Companion[];
  /** The agent whose command started this process. Each notification that this process queues has this agent as its sender. */
  readonly speaker?: InsideAgent | undefined;
};

type Place = { readonly log: LogKey; readonly id: ConversationId };

/** Loads the code of `why` at its first use, or earlier if `loadAhead` is called. */
export const loadWhy = async (): Promise<{ readonly explain: typeof explain }> => import('./why/why.ts');

/** Loads the code that records early refusals, which most processes never need. */
export const loadEarly = async (): Promise<{ readonly recordEarly: typeof recordEarly }> =>
  import('./conversation/early-refusal.ts');

export class Inbox implements Logs, AsyncDisposable {
  readonly store: Store;
  readonly policies: PolicySource;
  readonly ids: Ids;
  readonly owner: Owner;
  readonly isAlive: (owner: Owner) => boolean | undefined;
  readonly lines: LineRenderer | undefined;
  readonly speaker: InsideAgent | undefined;
  readonly companions: readonly Companion[];
  readonly witnesses: Witnesses;
  readonly leases = new LeaseEnds();
  readonly limit: OpenLimit;
  readonly intents: Intents;
  readonly #heldBack = new HeldBack();
  readonly #writer: WriterHold;
  #openNow: OpenNow | undefined;
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
    this.intents = new Intents(this);
    this.#writer = new WriterHold(this, randomIds.make('i'));
  }

  get timeZone(): string {
    if (typeof this.#timeZone === 'function') this.#timeZone = this.#timeZone();
    return this.#timeZone;
  }

  /**
   * Queues a notification durably: when the promise resolves, the store has the notification. With `project/*`, every
   * conversation that is active in the project and may take the notification gets a copy. Only the bus passes `subscribed`.
   * Throws: `bad_notification`, `bad_address`, `conflict` for an id of another sender, `not_trusted` for an action or a person's
   * name in an agent's command, or `nobody_there` for a fan-out without any effect.
   */
  queue(to: string | Address, input: NotificationInput, subscribed?: Subscribed): Promise<Queued> {
    return queue(this, to, input, subscribed);
  }

  /**
   * Makes the record that `queue` would append for one agent, for a caller that appends it in one step with other records. The
   * notification is for `only`. Without `only`, an `action` is for each active conversation of its purpose.
   */
  prepare(log: LogKey, input: NotificationInput, only?: ConversationId): Promise<QueuedRecord> {
    return prepare(this, log, input, only);
  }

  /**
   * Withdraws one notification by its id, or all open notifications of a key. A delivered interrupt no longer holds the gate up.
   */
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

  /**
   * Mutes a kind (`*`, `source`, `source.*`, `source.name`) for an agent, until a time or until a call with `off` lifts the mute.
   */
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

  /**
   * Lifts the pauses of a conversation, an agent or a whole project. Returns the lifted pauses. The list is empty if nothing was
   * paused.
   */
  async resume(
    to: string | Address,
    options: { readonly person: string; readonly message?: string },
  ): Promise<readonly Lifted[]> {
    return resume(this, typeof to === 'string' ? parseAddress(to) : to, options);
  }

  /** Marks the notifications as read, which lowers their gate. Reading does not lift a pause. */
  async markRead(to: string | Address | LogKey, ids: readonly string[], by: string): Promise<void> {
    const log = toLog(to);
    const items = await this.store.items(log, { kind: 'ids', ids: ids as readonly NotificationId[] });
    const records = readRecords(items, undefined, by);
    if (records.length > 0) await this.store.append(log, records);
  }

  /**
   * Registers a writer that queues its notifications with a delay (the bus: 100 ms). Before each carrier, the inbox makes the
   * writer queue them.
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

  /** Opens one conversation for the program that delivers to it. */
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

  /** Yields the transcript of a conversation, including the records that it shares with the conversations of its lineage. */
  transcript({ log, id }: Place, query?: TranscriptQuery): AsyncGenerator<Stored, void, undefined> {
    return transcriptOf(this.store, log, id, query);
  }

  /** Returns the stretches of a conversation's transcript, oldest first. The last stretch is from the conversation itself. */
  lineage({ log, id }: Place): Promise<readonly Stretch[]> {
    return lineageOf(this.store, log, id);
  }

  /**
   * Forks a conversation of an agent, as it is now or as it was at the record `upTo`. A notification that was open at that point
   * is open in the fork under the same id. A notification is not copied if it has since been withdrawn, expired, superseded,
   * filtered, dropped or folded, or if a third conversation has taken it. Throws `not_found` if there is nothing to fork, and
   * `bad_argument` if `to` exists.
   */
  async fork({ log, id }: Place, options: { readonly to?: string; readonly upTo?: number } = {}): Promise<Forked> {
    if (this.unwritten) await this.written();
    const { to = this.ids.make('f'), upTo } = options;
    return fork(this.store, log, id, { to: conversationId(to), ...defined({ upTo }) });
  }

  /** Returns the open and offered notifications of an agent, oldest first. */
  async open(to: string | Address | LogKey): Promise<readonly Item[]> {
    return this.store.items(toLog(to), { kind: 'open' });
  }

  /** Returns the notifications of a key that are open, or that an agent got only as a count in a summary (see `pendingWithKey`). */
  pending(log: LogKey, key: string, searched?: number): Promise<readonly Item[]> {
    return pendingWithKey(this, log, key, searched);
  }

  /** Returns the interrupts that hold up a gate of an agent, in any of its conversations. */
  gates(log: LogKey): Promise<readonly Item[]> {
    return gatesOf(this, log);
  }

  /**
   * Yields the records after the position `after` as they are appended (default: only new records). Ends when `signal` aborts or
   * the inbox closes.
   */
  watch(query: WatchQuery): AsyncGenerator<Stored, void, undefined> {
    return watch(this.store, query, () => this.#closed);
  }

  /**
   * Returns the history of a notification, with a verdict for each audience. For an open notification, the result also has the
   * plan's current decisions.
   */
  async why(id: string, to?: string | Address | LogKey, reader?: Reader): Promise<Why | undefined> {
    const { explain } = await loadWhy();
    return explain(this, id as NotificationId, to === undefined ? undefined : toLog(to), reader);
  }

  /** Predicts the verdict on a notification, as if it were queued for this agent now. */
  async foretell(to: ForOne, input: NotificationInput, subscribed?: Subscribed): Promise<Verdict> {
    return (await import('./why/foretell.ts')).foretell(this, to, input, subscribed);
  }

  /**
   * Returns the conversations that have not ended and whose process lives. If the process cannot be checked or serves many
   * conversations, a conversation counts as active for 30 minutes after its last contact.
   */
  active(query: { project?: string; log?: LogKey }): Promise<readonly Presence[]> {
    return activeOnes(this, query);
  }

  /**
   * Returns a page of agents like `Store.agents`, but without forgotten agents, and without the expired notifications that the
   * store still counts as open.
   */
  async agents(query: Parameters<Store['agents']>[0]): Promise<readonly AgentOverview[]> {
    const found = await (await import('./forgotten.ts')).rememberedAgents(this.store, query);
    this.#openNow ??= new (await import('./open-now.ts')).OpenNow(this);
    const { of } = this.#openNow;
    return Promise.all(found.map(of));
  }

  isActive(presence: Presence, now?: number): boolean {
    return isActive(this, presence, now);
  }

  /** Returns the reason why a conversation has ended. Undefined while the conversation is active. */
  overBecause(presence: Presence): OverBecause | undefined {
    return overBecause(this, presence);
  }

  /** Whether this presence belongs to a conversation, and not to a closed client connection that called no tool. */
  wasConversation(presence: Presence): boolean {
    return wasConversation(this, presence);
  }

  /**
   * Binds a host process to the conversation that it shows now. That conversation continues the conversation that the process
   * showed before.
   */
  bind(host: Owner, to: { log: LogKey; conversation: ConversationId }): Promise<void> {
    return bind(this, host, to);
  }

  /** Returns the mark in the frames of an agent. */
  mark(log: LogKey): Promise<string> {
    return markFor(this, log);
  }

  /** Gives each agent of a project a new mark. The new mark applies from the next start of the agent's host. */
  newMark(project: string): Promise<void> {
    return newMark(this, project);
  }

  /**
   * Makes this process the only writer of the conversation, until it releases the conversation or exits. Throws `store_refused`
   * while another writer lives. A writer on another machine is watched for up to 20 s.
   */
  holdWriter(place: Place): Promise<void> {
    return this.#writer.take(place);
  }

  /** Throws `store_refused` if another machine has taken the conversation over, because this process was silent for too long. */
  mustHoldWriter(place: Place): Promise<void> {
    return this.#writer.mustHold(place);
  }

  releaseWriter(place: Place): Promise<void> {
    return this.#writer.release(place);
  }

  /**
   * Does the regular housekeeping of a long-lived process. Closes expired notifications, releases leases that have ended or whose
   * owner is dead, finishes interrupted fan-outs, and prunes at most once a day.
   */
  sweep(): Promise<Swept> {
    return sweep(this, () => this.prune());
  }

  /**
   * Removes notifications that closed more than `olderMs` (default: the longest retention time of all projects) before `now`
   * (default: `pruneTime`). Open notifications stay.
   */
  prune(olderMs?: number, now?: number): Promise<Pruned> {
    return prune(this, olderMs, now);
  }

  /**
   * Returns the reference time for pruning: the current time, but not later than the newest record. A process whose clock is
   * ahead therefore removes nothing too early, unless that clock also gave the newest record its time.
   */
  pruneTime(): Promise<number> {
    return pruneTime(this);
  }

  /** Returns the projects that have records. */
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

/**
 * Returns the log of an address. Also accepts the key of a log, which has the form of an address. A conversation's log is its
 * agent's log.
 */
export const toLog = (to: string | Address | LogKey): LogKey => logOf(typeof to === 'string' ? parseAddress(to) : to);
