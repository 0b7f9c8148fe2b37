import type { ConversationId, LogKey } from './address.ts';
import type { Item } from './items.ts';
import type { Json } from './json.ts';
import type { NotificationId } from './notification.ts';
import type { Line } from './plan.ts';
import type { CarrierId, ContactPoint, Draft, Owner, Stored } from './records.ts';

/**
 * A store keeps the logs and the index of their items. `docs/write-a-store.md` shows how to write a store. Every store must meet
 * the following obligations. `runStoreContract` tests most of them:
 *
 * - An append is one atomic, durable step: it writes all drafts with all their effects on the items, or nothing. An acknowledged
 *   append survives `kill -9` (and, if the engine can promise it, a power cut).
 * - Items change only through `settle`, in the order of the drafts, so replaying the log gives the same items. `touches` names
 *   the items that `settle` needs, including items that earlier drafts of the same append made or changed.
 * - An append does not depend on the log's head, so two busy producers do not starve a carrier.
 * - `seq` is unique in the store, and grows along each log in the order in which records become visible. After a reader has read
 *   a log up to a `seq`, no lower `seq` appears.
 * - `at` (epoch ms) orders the records. `at` is the later of `now()` and the newest `at` that the process knows. In a log, `at`
 *   never runs backwards, even if a writer's clock does. The store also keeps the time on the writer's own clock if that clock is
 *   at least 60 s behind `at` (`clockBeside`).
 * - The store returns unknown types and fields unchanged.
 * - The caller has checked the drafts, and the store does not interpret them. A store refuses a draft that JSON cannot represent,
 *   with `bad_argument`.
 * - A method that cannot reach the data rejects with `store_unavailable` (retryable) after `withinMs` ms (default 5,000).
 */
export interface Store {
  /** The name shown to people: `memory`, `sqlite /path/to/earpiece.db`. */
  readonly name: string;

  /**
   * Returns the wall clock of this process, epoch ms. Expiry, due times, leases and ages use this clock and not the `at` of
   * records.
   */
  now(): number;

  /**
   * Returns the `at` that a record would get now. This time is not before the `at` of any record that this process has seen.
   * Compare the result only with an `at`.
   */
  ordered(): number;

  /** True if no other process can open the store, so that no other clock matters. */
  readonly private?: true;

  /**
   * Settles and appends the drafts in order, in one step. If `settle` returns `duplicate` or `conflict` for a draft, that is the
   * result, and nothing is written. Rejects with `bad_argument` if the drafts queue one id twice, or if JSON cannot represent one
   * of the drafts. An item that `settle` moved to another audience replaces the item that `formerOf` names.
   *
   * With `swaps`, the append happens only if each of these settings still has the caller's expected value, and changes them in
   * the same step. The store handles the appends of one process in the order of their calls.
   *
   * With `newIds`, the caller has just made the ids that the drafts queue, and no other call can have used them. The store may
   * then write the records without a search for these ids. The `at` of a returned record may be earlier than that of the stored
   * record.
   */
  append(log: LogKey, drafts: readonly Draft[], options?: AppendOptions): Promise<Appended>;

  /**
   * Returns the records after position `after` (exclusive, default 0), at most `limit` (default 1,000), oldest first by default.
   */
  read(query: ReadQuery, options?: Wait): Promise<readonly Stored[]>;

  /** Returns the newest position in the store (0 when empty). */
  head(options?: Wait): Promise<number>;

  /**
   * Returns items of one log, oldest queued first unless the query names another order. The queries `open`, `gate`, `unread`,
   * `ids` and `key` use an index and never scan the log.
   */
  items(log: LogKey, query: ItemQuery, options?: Wait): Promise<readonly Item[]>;

  /**
   * Whether the store knows at once that the conversation is quiet. In a quiet conversation, nothing is open or offered, no gate
   * is up, and the conversation has not ended. False proves nothing. Callers ask before each tool call. Must not throw.
   */
  quiet?(log: LogKey, conversation: ConversationId): boolean;

  /** Returns how many items of the log are open or offered (for `maxOpen`). */
  countOpen(log: LogKey, options?: Wait): Promise<number>;

  /**
   * Returns all logs with records, sorted by name, with counts of their open and offered items by level. For the counts, the SQL
   * stores read only the open set.
   */
  overview(project?: string, options?: Wait): Promise<readonly LogOverview[]>;

  /**
   * Returns one page of the agents that have records or presence, sorted by name, without the logs `project/*`. `after` is the
   * last log of the previous page. Default limit 100. The SQL stores read a page with one query of indexes, even with many agents
   * and many open items.
   */
  agents(
    query: { readonly project?: string; readonly after?: LogKey; readonly limit?: number },
    options?: Wait,
  ): Promise<readonly AgentOverview[]>;

  /**
   * Waits until any process has appended a record after position `after`, then resolves with the head. Resolves with `after` if
   * `signal` aborts, if `withinMs` pass (default: never), or if the store closes during the wait. The result is only a hint that
   * the caller should `read`. On a closed store the call rejects: otherwise a reader that calls `changed` in a loop would never
   * wait.
   */
  changed(after: number, options?: Wait): Promise<number>;

  /**
   * Creates or updates a conversation's presence, by the rules of `presenceAfter`. Undefined fields stay as they were. `endedAt`
   * stays until an update has `ended: false`.
   */
  touch(presence: PresenceUpdate, options?: Wait): Promise<Presence>;
  /** Returns presence, sorted by log and then by conversation. */
  presence(query: PresenceQuery, options?: Wait): Promise<readonly Presence[]>;

  /**
   * Binds a host process to the conversation that it shows now, for example after `/clear`. The newest binding of a host process
   * replaces older ones.
   */
  bind(host: Owner, to: { log: LogKey; conversation: ConversationId }, options?: Wait): Promise<void>;
  binding(host: Owner, options?: Wait): Promise<{ log: LogKey; conversation: ConversationId; at: number } | undefined>;

  /** Keeps a tool result that was withheld from the model, until `withheld` takes it or `until` (epoch ms) has passed. */
  withhold(held: Withheld, options?: Wait): Promise<void>;
  /**
   * Returns the withheld results whose `until` is after `now()`, oldest `at` first. With `take`, these results are removed in the
   * same step.
   */
  withheld(log: LogKey, conversation: ConversationId, options?: Wait & { take?: boolean }): Promise<readonly Withheld[]>;

  /**
   * Removes old data. A replay of the remaining records gives the remaining items. `before` is epoch ms. The call removes:
   * - notifications whose items were all closed before that time and hold no gate up (`isPast`). The call also removes the
   *   notifications that were folded into them, and the housekeeping records about them (`removable`)
   * - housekeeping records that changed no item, such as a `fan_out` together with its `fan_out_done` (`removableLoose`)
   * - withheld results whose `until` has passed by `now()`
   * - presence that ended before that time, unless an open item waits for that conversation
   * - bindings made before that time whose conversation no longer has a presence
   *
   * Transcript records, unknown types and the newest record of the store stay, so no position is assigned twice. Returns how many
   * records and items were removed.
   */
  prune(before: number, options?: Wait): Promise<{ readonly records: number; readonly items: number }>;

  /**
   * Removes records that concern no item and changes `swaps`, in one step. This method is for code that keeps data other than
   * notifications in the log. Rejects with `bad_argument` for records that name an item or a carrier, and for the types that
   * `prune` removes (`mustConcernNoItem`). Returns false if a setting does not have the expected value, or if one of the records
   * is the newest in the store. The call then changes nothing. Unknown positions are ignored.
   */
  forget(seqs: readonly number[], options?: Wait & { readonly swaps?: readonly Swap[] }): Promise<boolean>;

  /**
   * Removes the log's records and items before position `before` (exclusive), including open items, in one step. The call also
   * removes the log's presence, bindings and withheld results, and the settings of the agent. A setting is the agent's if its key
   * ends with ` <log>` or contains ` <log>#`, or if its value is a text that begins with `<log>#`. The caller first appends a
   * record and passes its position, so that no position is assigned twice. In an engine that promises `overwrites-erased`, no
   * byte of the removed data is left after the store is closed.
   */
  erase(log: LogKey, before: number, options?: Wait): Promise<Erased>;

  /**
   * Reads a small durable value that is not part of a log, such as the mutes or the time of the last prune. Undefined if the
   * value is not set.
   */
  setting(key: string, options?: Wait): Promise<Json | undefined>;
  setSetting(key: string, value: Json | undefined, options?: Wait): Promise<void>;
  /**
   * Sets the value to `to` if the value is still `from`, compared as JSON text. If `to` is undefined, removes the value. Returns
   * false if the value is not `from`.
   */
  swapSetting(key: string, from: Json | undefined, to: Json | undefined, options?: Wait): Promise<boolean>;

  /** Returns the secret of this store in hex. The store makes its secret once. Marks are derived from the secret. */
  secret(options?: Wait): Promise<string>;

  /** Checks the structure, and compares the index with a replay of the logs. Returns one line for each fault. */
  verify(options?: Wait & Progress): Promise<readonly string[]>;

  close(): Promise<void>;
}

/** The numbers of removed records, notifications and other data. */
export type Erased = {
  readonly records: number;
  readonly notifications: number;
  readonly conversations: number;
  readonly withheld: number;
  readonly settings: number;
};

/** Changes a setting from `from`, compared as JSON text, to `to`. Undefined means that the setting is absent. */
export type Swap = { readonly key: string; readonly from: Json | undefined; readonly to: Json | undefined };

export type Wait = { readonly withinMs?: number; readonly signal?: AbortSignal };
export type AppendOptions = Wait & { readonly swaps?: readonly Swap[]; readonly newIds?: boolean };

/** The result of an append. A lost race is a result, and not an error. If the disk fails, the append rejects. */
export type Appended =
  | { readonly kind: 'appended'; readonly records: readonly Stored[]; readonly items: readonly Item[] }
  /** The log already has a notification with this id: nothing was written. `item`: the current state of this notification. */
  | { readonly kind: 'duplicate'; readonly id: NotificationId; readonly item: Item }
  | {
      readonly kind: 'conflict';
      readonly ids: readonly { readonly id: NotificationId; readonly why: 'closed' | 'offered' | 'unknown' | 'counted' }[];
    }
  /** A setting of `swaps` no longer has the caller's expected value: nothing was written. */
  | { readonly kind: 'stale'; readonly key: string };

export type ReadQuery = {
  readonly log?: LogKey;
  readonly project?: string;
  readonly after?: number;
  /** The last position (inclusive). */
  readonly upTo?: number;
  readonly limit?: number;
  readonly conversation?: ConversationId;
  readonly types?: readonly string[];
  /** True to return the newest records first. */
  readonly newestFirst?: boolean;
  /** Only the records at these positions. */
  readonly seqs?: readonly number[];
};

export type PresenceQuery = {
  readonly project?: string;
  readonly log?: LogKey;
  readonly conversation?: ConversationId;
  /** The last log of the previous page. Only later logs are returned. */
  readonly after?: LogKey;
  /** The maximum number of logs, each with all its conversations. */
  readonly limit?: number;
};

/**
 * The store calls `onProgress` during a long check, with the number of checked records and their approximate total. `onProgress`
 * must not throw.
 */
export type Progress = { readonly onProgress?: ((done: number, of: number) => void) | undefined };

export type ItemQuery =
  /** Open or offered items. With `conversation`: only the items of this conversation and the items for ANYONE. */
  | { readonly kind: 'open'; readonly conversation?: ConversationId; readonly limit?: number }
  /** Open or offered items that some conversation holds: the conversation is their audience, or has taken an item for ANYONE. */
  | { readonly kind: 'held' }
  /**
   * Items that hold the gate up. With `conversation`: items for this conversation, items that it took, and untaken items for
   * ANYONE. With `read`: only closed items that `unread` does not return, such as a pause that was read.
   */
  | { readonly kind: 'gate'; readonly conversation?: ConversationId; readonly read?: true }
  /**
   * Delivered or summarized items that are not read, newest first. With `conversation`: only items that this conversation took,
   * and untaken items for this conversation. `before`: a position (exclusive).
   */
  | { readonly kind: 'unread'; readonly conversation?: ConversationId; readonly limit?: number; readonly before?: number }
  /** Open items with this key. */
  | { readonly kind: 'key'; readonly key: string }
  | { readonly kind: 'ids'; readonly ids: readonly NotificationId[] }
  | { readonly kind: 'carrier'; readonly carrier: CarrierId }
  /** Items in all states or in one state, newest first. `open` includes offered items. `before` is a position (exclusive). */
  | { readonly kind: 'latest'; readonly limit: number; readonly before?: number; readonly state?: 'open' | 'closed' }
  /**
   * Items that closed from `from` (inclusive) to `to` (exclusive), the last closed first. `before` is the last item of the
   * previous page.
   */
  | {
      readonly kind: 'closed';
      readonly limit: number;
      readonly from: number;
      readonly to: number;
      readonly before?: { readonly closedAt: number; readonly seq: number };
    };

export type LogOverview = {
  readonly log: LogKey;
  readonly open: { readonly info: number; readonly warning: number; readonly error: number; readonly critical: number };
  readonly oldestOpenAt?: number;
};

export type AgentOverview = LogOverview & {
  /** True while a pause holds a gate up. */
  readonly paused: boolean;
  /** True while an interrupt holds a gate up. A filter of the project may still let calls pass. */
  readonly gated: boolean;
  /** The agent's conversations, newest contact first, at most `MAX_CONVERSATIONS_OF_AN_OVERVIEW`. */
  readonly presence: readonly Presence[];
  /** The newest record that shows the agent's work (`isSignOfWork`). `what`: the body's field `name`, else its field `on`. */
  readonly last?: { readonly type: string; readonly at: number; readonly conversation?: string; readonly what?: string };
};

/** The maximum number of conversations that `agents` lists for one agent. */
export const MAX_CONVERSATIONS_OF_AN_OVERVIEW = 20;

/** The known facts about a conversation's host. Times are epoch ms. */
export type Presence = {
  readonly log: LogKey;
  readonly conversation: ConversationId;
  readonly purpose?: string;
  /** The program that runs the agent's loop: `claude-code`, `codex`, `gateway` … */
  readonly host?: string;
  readonly hostVersion?: string;
  readonly process?: Owner;
  /**
   * True if the process serves many conversations, as an HTTP gateway does. Such a process may live longer than the conversation.
   * An update that names another process without `shared` removes the field.
   */
  readonly shared?: boolean;
  /** The worktree in which the conversation works. */
  readonly folder?: string;
  /** True until the conversation calls its first tool. The connection of a client's health check never calls a tool. */
  readonly pending?: true;
  /** The current run. `beside` lists the runs of the agent's other conversations that were active when this run began. */
  readonly began?: { readonly run: string; readonly beside: readonly string[] };
  /** The heir that took over the unread items. */
  readonly passedTo?: { readonly conversation: ConversationId; readonly at: number };
  /** The current connections to gateways, each with the gateway's process. */
  readonly connections?: Readonly<Record<string, Owner>>;
  /**
   * The carriers that can reach the conversation (`gateway:stdio filesystem`, `hook`), each with the time of its last contact.
   */
  readonly carriers: Readonly<Record<string, number>>;
  /** The contact points that each carrier reported. A carrier of an older release reported no contact points. */
  readonly points?: Readonly<Record<string, readonly ContactPoint[]>>;
  readonly startedAt: number;
  readonly seenAt: number;
  readonly carriedAt?: number;
  readonly endedAt?: number;
  /** Whether the model knows the meaning of the mark. */
  readonly told: boolean;
  /** The mark that a frame explained last. Missing if there is no such frame, or if a version before 0.1.0 wrote the frame. */
  readonly mark?: string;
  /** Whether the model can call `get_notifications`. */
  readonly pulls: boolean;
  /** The other Earpiece tools that the model can call. Undefined if these tools are not known. */
  readonly has?: readonly string[];
  readonly turns: number;
};

export type PresenceUpdate = Pick<Presence, 'log' | 'conversation'> & {
  readonly purpose?: string;
  readonly host?: string;
  readonly hostVersion?: string;
  readonly process?: Owner;
  readonly shared?: boolean;
  readonly folder?: string;
  /** `true` has an effect only at the first contact of the conversation. */
  readonly pending?: boolean;
  /** The new run, if a run begins now. */
  readonly began?: Presence['began'];
  /** Names the heir of a conversation that has ended. An update with this field does not count as contact. */
  readonly passedTo?: ConversationId;
  readonly connect?: { readonly key: string; readonly process: Owner };
  readonly disconnect?: readonly string[];
  /** The name of the carrier that makes this contact. */
  readonly carrier?: string;
  /** The contact points of `carrier`. */
  readonly points?: readonly ContactPoint[];
  readonly carried?: true;
  /** `true` ends the conversation, `alone` ends it only if it has no connection left, and `false` opens it again. */
  readonly ended?: boolean | 'alone';
  readonly told?: true;
  readonly mark?: string;
  readonly pulls?: boolean;
  readonly has?: readonly string[];
  readonly turnStarted?: true;
};

export type Withheld = {
  readonly log: LogKey;
  readonly conversation: ConversationId;
  readonly id: string;
  readonly at: number;
  readonly until: number;
  readonly tool: string;
  /** The text of the upstream server's result, redacted and cut as the policy says. */
  readonly body: string;
};

/**
 * Renders a line with the template of its subscriber. Must not throw and must not block. Returns `failed`, with a reason for
 * people, if the template takes too long, fails or is unknown.
 */
export interface LineRenderer {
  render(line: Line, how: { readonly timeZone: string }): Promise<Rendered>;
  /**
   * Whether templates or conditions are running now. If so, a slow call waits for a template or a condition, and not for the
   * store.
   */
  busy?(): boolean;
}
export type Rendered = { readonly kind: 'text'; readonly text: string } | { readonly kind: 'failed'; readonly reason: string };

/** The current time, replaceable in tests. */
export interface Clock {
  /** Returns the time in epoch ms. This clock may run backwards. A store compensates for such jumps in `at`. */
  now(): number;
}
export interface Ids {
  /** Makes a new id: prefix, underscore, 20 lower-case letters and digits. Ids sort by the clock of the process, in ms. */
  make(prefix: string): string;
}
