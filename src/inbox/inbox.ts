/**
 * The shell round the core: the only way to a store. It gathers facts, asks the plan, renders the view and appends; the
 * rules are in core, the transactions in the store.
 */
import { EarpieceError } from '../core/errors.ts';
import {
  conversationId,
  formatAddress,
  logOf,
  parseAddress,
  splitLog,
  type Address,
  type ConversationId,
  type LogKey,
} from '../core/address.ts';
import { fault } from '../core/faults.ts';
import { cappedLevel, type Mute } from '../core/filter.ts';
import type { Item } from '../core/items.ts';
import {
  isInterrupt,
  makeNotification,
  type Notification,
  type NotificationId,
  type NotificationInput,
  type Subscribed,
} from '../core/notification.ts';
import type { Policy } from '../core/policy.ts';
import type { Ids, LineRenderer, Presence, PresenceUpdate, ReadQuery, Store } from '../core/ports.ts';
import { queuedRecord, type FoldedRecord, type Owner, type QueuedRecord, type Stored } from '../core/records.ts';
import { bind } from './arrival.ts';
import { Conversation, type ConversationOptions } from './conversation.ts';
import { fanOut, finishFanOuts } from './fan-out.ts';
import { fork, lineageOf, transcriptOf, type Forked, type Stretch, type TranscriptQuery } from './fork.ts';
import { markOf, randomIds } from './ids.ts';
import { redactedJson, redactor } from './redact.ts';
import { readRecords } from './lease.ts';
import { holding, pausesOf, resume, resumeRecords, withdrawOne, type Lifted, type Withdrawn } from './lift.ts';
import { mute, mutesOf, type MuteOptions } from './mutes.ts';
import { OpenLimit } from './open-limit.ts';
import { LeaseEnds } from './lease-ends.ts';
import { isActive, overBecause } from './presence.ts';
import { asAgent, mayRequeue, mayTakeBack, notAPerson, type InsideAgent } from './inside.ts';
import { isAlive, selfOwner } from './processes.ts';
import type { Companion, Succession } from './succession.ts';
import { sweepLog } from './sweep.ts';
import type { explain, Reader, Why } from './why.ts';
import { Witnesses } from './witnesses.ts';

export interface PolicySource {
  /** The policy of a project as it is now. Must not throw: a broken file keeps the old one. */
  policy(project: string): Policy;
  /** Where a setting of the project was decided, for people: a file with its line, a variable. Undefined: nobody decided. */
  decidedBy?(project: string, key: string): string | undefined;
}

export type InboxDeps = {
  readonly store: Store;
  readonly policies: PolicySource;
  readonly ids?: Ids;
  /** This process, as the owner of its leases. */
  readonly owner?: Owner;
  /** Undefined: cannot be told from here. */
  readonly isAlive?: (owner: Owner) => boolean | undefined;
  /** Default: the system's. A function is called when a time is first shown. */
  readonly timeZone?: string | (() => string);
  /** Says lines by their subscribers' templates. Without one they are said like any other. */
  readonly lines?: LineRenderer;
  /** What else passes on from a conversation that is over to its heir. */
  readonly companions?: readonly Companion[];
  /** This process is a command that an agent runs: all that it queues is the agent's. */
  readonly speaker?: InsideAgent | undefined;
};

export type Queued =
  | { readonly kind: 'queued'; readonly id: NotificationId; readonly to: readonly string[] }
  /** Counted into an open notification of the same key. */
  | { readonly kind: 'folded'; readonly id: NotificationId; readonly into: NotificationId; readonly to: readonly string[] }
  /** The id was queued before; nothing changed. */
  | { readonly kind: 'duplicate'; readonly id: NotificationId; readonly to: readonly string[] };

/** What was removed. */
export type Pruned = { readonly records: number; readonly items: number };

/** `flush` must not throw. */
export type Unwritten = { readonly pending: boolean; flush(): Promise<void> };

/** Loaded when somebody asks why. `loadAhead` loads it earlier. */
export const loadWhy = async (): Promise<{ readonly explain: typeof explain }> => import('./why.ts');

/** The open inboxes of this process. */
const OPEN = new Set<string>();

export class Inbox implements AsyncDisposable {
  readonly store: Store;
  readonly policies: PolicySource;
  readonly ids: Ids;
  readonly owner: Owner;
  readonly isAlive: (owner: Owner) => boolean | undefined;
  readonly lines: LineRenderer | undefined;
  readonly speaker: InsideAgent | undefined;
  /** Whose clock agrees with this process's. */
  readonly witnesses: Witnesses;
  readonly leases = new LeaseEnds();
  readonly #unwritten = new Set<Unwritten>();
  readonly #companions: readonly Companion[];
  #timeZone: string | (() => string);
  #limit: OpenLimit;
  #closed = false;
  /** Tells the inboxes of one process apart. */
  readonly #name = randomIds.make('i');

  constructor(deps: InboxDeps) {
    this.store = deps.store;
    this.policies = deps.policies;
    this.ids = deps.ids ?? randomIds;
    this.owner = deps.owner ?? selfOwner();
    this.isAlive = deps.isAlive ?? ((owner) => isAlive(owner));
    this.#timeZone = deps.timeZone ?? (() => Intl.DateTimeFormat().resolvedOptions().timeZone);
    this.lines = deps.lines;
    this.speaker = deps.speaker;
    this.witnesses = new Witnesses(this);
    this.#companions = deps.companions ?? [];
    this.#limit = new OpenLimit(this);
    OPEN.add(this.#name);
  }

  get timeZone(): string {
    if (typeof this.#timeZone === 'function') this.#timeZone = this.#timeZone();
    return this.#timeZone;
  }

  /**
   * Queues a notification, durably: when this resolves it survives a crash. `project/*` goes to every conversation active
   * in the project. `subscribed` is for the bus. Throws `bad_notification`, `bad_address`, `nobody_there` (a fan-out that
   * would reach no one).
   */
  async queue(to: string | Address, input: NotificationInput, subscribed?: Subscribed): Promise<Queued> {
    const address = typeof to === 'string' ? parseAddress(to) : to;
    const policy = this.policies.policy(address.project);
    if (this.speaker !== undefined && subscribed === undefined && input.action !== undefined)
      throw notAPerson(`to ask for ${input.action}`, this.speaker);
    const made = this.#make(input, policy);
    const notification = subscribed ? { ...made, subscriber: subscribed } : made;
    fault('queue.checked');
    if (address.kind === 'project') return fanOut(this, address.project, notification, policy);
    const queued = await this.queueOne(
      logOf(address),
      notification,
      policy,
      address.kind === 'conversation' ? [address.conversation] : [],
    );
    fault('queue.acknowledged');
    return { ...queued, to: [formatAddress(address)] };
  }

  /** One notification into one log. `conversations`: for whom; none means the agent's first that carries. */
  async queueOne(
    log: LogKey,
    notification: Notification,
    policy: Policy,
    conversations: readonly ConversationId[],
  ): Promise<
    { kind: 'queued' | 'duplicate'; id: NotificationId } | { kind: 'folded'; id: NotificationId; into: NotificationId }
  > {
    const { id } = notification;
    const audience =
      conversations.length === 0 && notification.action !== undefined ? await this.#forAction(log, notification) : conversations;

    const into = await this.#foldable(log, notification, audience);
    if (into) {
      const differs = differsFrom(into, notification);
      const folded = await this.store.append(log, [
        {
          type: 'system_notification_folded',
          id,
          into: into.id,
          count: notification.count ?? 1,
          ...(differs === undefined ? {} : { differs }),
        },
      ]);
      if (folded.kind === 'appended') return { kind: 'folded', id, into: into.id };
      if (folded.kind === 'duplicate') return { kind: 'duplicate', id };
      // It was taken meanwhile: this one stands alone.
    }
    const queued = queuedRecord(
      notification,
      audience.length === 1 ? { conversation: audience[0] } : { audience: audience.length > 0 ? audience : undefined },
    );
    for (;;) {
      // For the whole agent it lifts each pause: also of those who are not there, whose heirs would inherit it.
      const whose = notification.purpose === undefined ? conversations : audience;
      const lifted = notification.action === 'resume' ? await pausesOf(this, log, whose) : [];
      const appended = await this.store.append(log, [queued, ...resumeRecords(lifted, `resumed by ${id}`)]);
      if (appended.kind === 'duplicate') return { kind: 'duplicate', id };
      if (appended.kind === 'appended') break;
      // A pause that it lifts was delivered or ended meanwhile: look again.
    }
    await this.#limit.queued(log, policy);
    return { kind: 'queued', id };
  }

  /**
   * What `queue` would append for one agent: for whoever appends it together with records of its own, in one step. It goes
   * to `only`; where no conversation is known, an `action` goes to each active one of matching purpose.
   */
  async prepare(log: LogKey, input: NotificationInput, only?: ConversationId): Promise<QueuedRecord> {
    const notification = this.#make(input, this.policies.policy(splitLog(log).project));
    if (only !== undefined) return queuedRecord(notification, { conversation: only });
    const audience = notification.action === undefined ? [] : await this.#forAction(log, notification);
    return queuedRecord(notification, audience.length === 1 ? { conversation: audience[0] } : { audience });
  }

  /** A handle on one conversation, for whoever carries to it. */
  conversation(address: string | { log: LogKey; conversation: ConversationId }, options: ConversationOptions = {}): Conversation {
    if (typeof address !== 'string') return new Conversation(this, address.log, address.conversation, options);
    const parsed = parseAddress(address);
    if (parsed.kind === 'project')
      throw new EarpieceError(
        'bad_address',
        `address ${JSON.stringify(address)} is a whole project, a conversation belongs to one agent: write project/agent#conversation`,
      );
    return new Conversation(
      this,
      logOf(parsed),
      parsed.kind === 'conversation' ? parsed.conversation : ('main' as ConversationId),
      options,
    );
  }

  /** Takes back what is not delivered yet. By id, or every open one with a key. */
  async withdraw(
    to: string | Address | LogKey,
    what: { id: string } | { key: string },
    why: { by: string; reason: string },
  ): Promise<readonly Withdrawn[]> {
    const log = toLog(to);
    const items =
      'id' in what
        ? await this.store.items(log, { kind: 'ids', ids: [what.id as NotificationId] })
        : [
            ...(await this.store.items(log, { kind: 'key', key: what.key })),
            ...(await holding(
              this,
              (await this.store.items(log, { kind: 'gate' })).filter(({ notification }) => notification.key === what.key),
            )),
          ];
    if ('id' in what && items.length === 0) return [{ id: what.id as NotificationId, result: 'unknown' }];
    if (this.speaker !== undefined) for (const { notification } of items) mayTakeBack(notification, this.speaker);
    const results: Withdrawn[] = [];
    for (const id of new Set(items.map((item) => item.id))) results.push({ id, result: await withdrawOne(this, log, id, why) });
    return results;
  }

  /** Queues a closed notification again, under a new id. */
  async requeue(to: string | Address | LogKey, id: string, by: string): Promise<Queued> {
    const log = toLog(to);
    const item = (await this.store.items(log, { kind: 'ids', ids: [id as NotificationId] }))[0];
    if (item === undefined)
      throw new EarpieceError('not_found', `no notification ${JSON.stringify(id)} in ${log}; earpiece log lists them`);
    if (item.state !== 'closed')
      throw new EarpieceError(
        'bad_argument',
        `${id} is ${item.state}, it will ride anyway; only a closed one can be queued again`,
      );
    if (this.speaker !== undefined) mayRequeue(item.notification, this.speaker);
    const policy = this.policies.policy(log.slice(0, log.indexOf('/')));
    const { count: _count, firstAt: _firstAt, requeues: _requeues, ...old } = item.notification;
    const ttl = policy.ttlMs[old.level];
    const again: Notification = {
      ...old,
      id: this.ids.make('n') as NotificationId,
      expiresAt: ttl === null ? null : this.store.now() + ttl,
      requeues: item.id,
      origin: { depth: 0, ...old.origin, cause: `requeued by ${by}` },
    };
    const queued = await this.queueOne(log, again, policy, item.audience === '' ? [] : [item.audience]);
    return { ...queued, to: [item.audience === '' ? log : `${log}#${item.audience}`] };
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

  async mutes(log: LogKey): Promise<readonly Mute[]> {
    return mutesOf(this, log);
  }

  /** The model has read them: the gate that they hold up falls. A pause holds until `resume`. */
  async markRead(to: string | Address | LogKey, ids: readonly string[], by: string): Promise<void> {
    const log = toLog(to);
    const items = await this.store.items(log, { kind: 'ids', ids: ids as readonly NotificationId[] });
    const records = readRecords(items, undefined, by);
    if (records.length > 0) await this.store.append(log, records);
  }

  /** The mark in the frames of an agent. */
  async mark(log: LogKey): Promise<string> {
    const generation = await this.store.setting(markSetting(splitLog(log).project));
    return markOf(await this.store.secret(), log, typeof generation === 'string' ? generation : '');
  }

  /** Gives each agent of a project a new mark, from the next start of its host on. */
  async newMark(project: string): Promise<void> {
    await this.store.setSetting(markSetting(project), this.ids.make('mark'));
  }

  /** Lifts the pauses of a conversation, an agent or a whole project. Returns what was lifted; empty when nothing was paused. */
  async resume(
    to: string | Address,
    options: { readonly person: string; readonly message?: string },
  ): Promise<readonly Lifted[]> {
    return resume(this, typeof to === 'string' ? parseAddress(to) : to, options);
  }

  /** Evidence that the model saw them: a transcript's line, an echoed id. */
  async observe(to: string | Address | LogKey, ids: readonly string[], evidence: string): Promise<void> {
    await this.store.append(toLog(to), [{ type: 'notification_observed', ids: ids as readonly NotificationId[], evidence }]);
  }

  /** Open and offered notifications of an agent, oldest first. */
  async open(to: string | Address | LogKey): Promise<readonly Item[]> {
    return this.store.items(toLog(to), { kind: 'open' });
  }

  /** Records as they come, from `after` on (exclusive; default: only new ones). Ends when `signal` aborts. */
  async *watch(
    query: Omit<ReadQuery, 'limit' | 'newestFirst' | 'seqs'> & { signal?: AbortSignal },
  ): AsyncGenerator<Stored, void, undefined> {
    const { signal, ...read } = query;
    let after = read.after ?? (await this.store.head());
    while (!signal?.aborted && !this.#closed) {
      const seen = await this.store.head();
      for (;;) {
        const page = await this.store.read({ ...read, after, limit: 500 });
        for (const record of page) {
          yield record;
          after = record.seq;
        }
        if (page.length < 500) break;
      }
      after = Math.max(after, seen);
      await this.store.changed(seen, { withinMs: 5_000, ...(signal ? { signal } : {}) });
    }
  }

  /** The records of a conversation, with those of the conversations that it was forked from before its own. */
  transcript(
    { log, id }: { readonly log: LogKey; readonly id: ConversationId },
    query?: TranscriptQuery,
  ): AsyncGenerator<Stored, void, undefined> {
    return transcriptOf(this.store, log, id, query);
  }

  /** The conversations that make up its transcript, oldest first; the last is itself. */
  lineage({ log, id }: { readonly log: LogKey; readonly id: ConversationId }): Promise<readonly Stretch[]> {
    return lineageOf(this.store, log, id);
  }

  /**
   * Begins a conversation as another one of its agent is, or was at the record `upTo`. What was open there then is open
   * here, with its ids; not what has been withdrawn, has expired or was superseded since. Throws `not_found` where there is
   * nothing to begin with, `bad_argument` where `to` exists.
   */
  async fork(
    { log, id }: { readonly log: LogKey; readonly id: ConversationId },
    options: { readonly to?: string; readonly upTo?: number } = {},
  ): Promise<Forked> {
    if (this.unwritten) await this.written();
    const { to = this.ids.make('f'), upTo } = options;
    return fork(this.store, log, id, { to: conversationId(to), ...(upTo === undefined ? {} : { upTo }) });
  }

  /** What happened to a notification and why, with one verdict; for an open one also what the plan would say now. */
  async why(id: string, to?: string | Address | LogKey, reader?: Reader): Promise<Why | undefined> {
    const { explain } = await loadWhy();
    return explain(this, id as NotificationId, to === undefined ? undefined : toLog(to), reader);
  }

  /** Conversations that have not ended and whose process lives; where it cannot be asked, seen in the last 30 minutes. */
  async active(query: { project?: string; log?: LogKey }): Promise<readonly Presence[]> {
    const now = this.store.now();
    return (await this.store.presence(query)).filter((p) => this.isActive(p, now));
  }

  isActive(presence: Presence, now: number = this.store.now()): boolean {
    return isActive(presence, now, this.isAlive);
  }

  /** Why a conversation is over; undefined while it is active. */
  overBecause(presence: Presence): ReturnType<typeof overBecause> {
    return overBecause(presence, this.store.now(), this.isAlive);
  }

  /** False for what was a client's connection only, and is gone: it called no tool. */
  wasConversation(presence: Presence): boolean {
    return presence.pending !== true || this.isActive(presence);
  }

  /** What passes on with the notifications of a conversation that is over. */
  async companions(succession: Succession): Promise<Awaited<ReturnType<Companion>>> {
    const all = await Promise.all(this.#companions.map((companion) => companion(this.store, succession)));
    const some = all.filter((each) => each !== undefined);
    if (some.length === 0) return undefined;
    return { drafts: some.flatMap(({ drafts }) => drafts), swaps: some.flatMap(({ swaps }) => swaps) };
  }

  /** Whoever holds back what is to be queued (the bus, for 100 ms) says so here, and writes it before the next carrier. */
  holdsBack(unwritten: Unwritten): void {
    this.#unwritten.add(unwritten);
  }

  /** Somebody holds something back. */
  get unwritten(): boolean {
    for (const { pending } of this.#unwritten) if (pending) return true;
    return false;
  }

  async written(): Promise<void> {
    for (const each of this.#unwritten) if (each.pending) await each.flush();
  }

  async touch(update: PresenceUpdate): Promise<Presence> {
    return this.store.touch(update);
  }

  /** Binds a host process to the conversation that it shows now; what it showed before is the same one going on. */
  async bind(host: Owner, to: { log: LogKey; conversation: ConversationId }): Promise<void> {
    await bind(this, host, to);
  }

  /**
   * One writer a conversation: whoever runs its loop holds it, until it lets go or its process ends. Throws
   * `store_refused` while another one lives. A holder on another machine, whose life cannot be told from here, keeps it.
   */
  async holdWriter({ log, id }: { readonly log: LogKey; readonly id: ConversationId }): Promise<void> {
    const key = `writer ${log}#${id}`;
    for (;;) {
      const holder = (await this.store.setting(key)) as (Owner & { inbox: string }) | undefined;
      const mine =
        holder?.pid === this.owner.pid && holder.machine === this.owner.machine && holder.startedAt === this.owner.startedAt;
      if (holder !== undefined && (mine ? holder.inbox === this.#name || OPEN.has(holder.inbox) : this.isAlive(holder) !== false))
        throw new EarpieceError(
          'store_refused',
          `${log}#${id} is written by process ${holder.pid}${mine ? '' : ` on ${holder.machine}`}; end it, or use another conversation`,
          {
            data: { holder },
          },
        );
      if (await this.store.swapSetting(key, holder, { ...this.owner, inbox: this.#name })) return;
    }
  }

  async releaseWriter({ log, id }: { readonly log: LogKey; readonly id: ConversationId }): Promise<void> {
    await this.store.swapSetting(`writer ${log}#${id}`, { ...this.owner, inbox: this.#name }, undefined);
  }

  /**
   * Housekeeping that any long-lived process does now and then: closes what expired, releases leases of dead owners,
   * finishes fan-outs that were cut off, prunes once a day.
   */
  async sweep(): Promise<{ readonly expired: number; readonly released: number; readonly pruned: number }> {
    await this.witnesses.note();
    const mayClose = await this.witnesses.agree();
    let expired = 0;
    let released = 0;
    const projects = new Set<string>();
    for (const { log } of await this.store.overview()) {
      projects.add(log.slice(0, log.indexOf('/')));
      const swept = await sweepLog(this, log, mayClose);
      expired += swept.expired;
      released += swept.released;
    }
    for (const project of projects) await finishFanOuts(this, project);
    const now = this.store.now();
    const last = Number((await this.store.setting('pruned_at')) ?? 0);
    if (Math.abs(now - last) < 24 * 3_600_000 || !(await this.witnesses.mayRemove())) return { expired, released, pruned: 0 };
    await this.store.setSetting('pruned_at', now);
    const { records } = await this.prune();
    return { expired, released, pruned: records };
  }

  /** Removes what has been closed for longer than its project keeps it, or than `olderMs`; what is open stays, however old. */
  async prune(olderMs?: number): Promise<Pruned> {
    const projects = ['', ...(await this.projects())];
    const keptMs = olderMs ?? projects.reduce((most, project) => Math.max(most, this.policies.policy(project).retentionMs), 0);
    return this.store.prune((await this.pruneTime()) - keptMs);
  }

  /** Now, but not after the newest record: a clock that is ahead removes nothing that it should keep. */
  async pruneTime(): Promise<number> {
    const [newest] = await this.store.read({ newestFirst: true, limit: 1 });
    return newest === undefined ? this.store.now() : Math.min(this.store.now(), newest.at);
  }

  /** Those that have records. */
  async projects(): Promise<ReadonlySet<string>> {
    return new Set((await this.store.overview()).map(({ log }) => splitLog(log).project));
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    OPEN.delete(this.#name);
    await this.store.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  #make(given: NotificationInput, policy: Policy): Notification {
    const input = this.speaker === undefined ? given : asAgent(given, this.speaker);
    const clean = redactor(policy.redact);
    const made = makeNotification(input, { id: this.ids.make('n'), now: this.store.now(), ttlMs: policy.ttlMs });
    return {
      ...made,
      level: cappedLevel(made.level, made.kind.source, policy),
      message: clean(made.message),
      ...(made.instruction === undefined ? {} : { instruction: clean(made.instruction) }),
      ...(made.needs === undefined ? {} : { needs: { ...made.needs, otherwise: clean(made.needs.otherwise) } }),
      ...(made.data === undefined ? {} : { data: redactedJson(made.data, clean) }),
    };
  }

  /** An action for an agent goes to each of its active conversations of matching purpose; with none, to the first that carries. */
  async #forAction(log: LogKey, notification: Notification): Promise<readonly ConversationId[]> {
    const { purpose } = notification;
    const fits = (p: Presence): boolean => purpose === undefined || p.purpose === undefined || p.purpose === purpose;
    return (await this.active({ log })).filter(fits).map((p) => p.conversation);
  }

  /** The open, never offered notification of the same key, kind and level that this one can be counted into. */
  async #foldable(log: LogKey, notification: Notification, audience: readonly ConversationId[]): Promise<Item | undefined> {
    const { key } = notification;
    if (
      key === undefined ||
      notification.supersede ||
      notification.action !== undefined ||
      isInterrupt(notification) ||
      audience.length > 1
    )
      return undefined;
    const open = await this.store.items(log, { kind: 'key', key });
    const wanted = audience[0] ?? '';
    return open.findLast(
      (item) =>
        item.state === 'open' &&
        item.offers === 0 &&
        item.audience === wanted &&
        item.notification.level === notification.level &&
        item.notification.kind.source === notification.kind.source &&
        item.notification.kind.name === notification.kind.name &&
        !item.notification.supersede &&
        item.notification.instruction === notification.instruction &&
        item.notification.subscriber?.id === notification.subscriber?.id &&
        item.notification.subscriber?.template === notification.subscriber?.template &&
        open.filter((other) => other.id === item.id).length === 1,
    );
  }
}

const markSetting = (project: string): string => `mark ${project}`;

function differsFrom(into: Item, notification: Notification): FoldedRecord['differs'] {
  const message = notification.message === into.notification.message ? undefined : notification.message;
  const data = JSON.stringify(notification.data) === JSON.stringify(into.notification.data) ? undefined : notification.data;
  if (message === undefined && data === undefined) return undefined;
  return { ...(message === undefined ? {} : { message }), ...(data === undefined ? {} : { data }) };
}

/** An address, or a log's key, which looks like one. A conversation's log is its agent's. */
export const toLog = (to: string | Address | LogKey): LogKey => logOf(typeof to === 'string' ? parseAddress(to) : to);
