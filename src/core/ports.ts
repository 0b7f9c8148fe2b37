import type { ConversationId, LogKey } from './address.ts';
import type { Item } from './items.ts';
import type { Json } from './json.ts';
import type { NotificationId } from './notification.ts';
import type { Line } from './plan.ts';
import type { CarrierId, Draft, Owner, Stored } from './records.ts';

/**
 * The log and its index. Obligations, proved for every store by `contracts/store`:
 *
 * - An append is one atomic, durable step: all drafts with all they do to the items, or nothing. What was acknowledged
 *   survives `kill -9` (and, where the engine can promise it, a power cut).
 * - Items change only through `settle` of `core/items`, in the order of the drafts, so replaying the log gives the same items.
 * - An append never waits for, or compares with, the log's head: two producers without pause do not starve a carrier.
 * - `seq` is unique in the store and grows along each log in the order in which readers can see the records: whoever has
 *   read up to a `seq` never misses one below it.
 * - `at` is for order, epoch ms: it never runs backwards within a log, even when a writer's clock does. The writer's own
 *   clock is kept beside it where it is behind (`clockBeside`).
 * - Types and fields that it does not know come back as they were given.
 * - Drafts come in already checked; a store does not know what they mean.
 * - A method that cannot reach the data rejects with `store_unavailable` (retryable) after `withinMs`, by default 5,000.
 */
export interface Store {
  /** For people: `memory`, `sqlite /path/to/earpiece.db`. */
  readonly name: string;

  /** This process's own wall clock, epoch ms: expiry, due times, leases and ages go by it, whatever the log's time is. */
  now(): number;

  /** Now, as a record would be stamped: not before any record that this process has seen. Only to compare with an `at`. */
  ordered(): number;

  /** No other process can open it, so nobody else's clock matters. */
  readonly private?: true;

  /** With `swaps` the append happens only where each of these settings is still as the caller saw it, and changes them in the same step. */
  append(log: LogKey, drafts: readonly Draft[], options?: Wait & { readonly swaps?: readonly Swap[] }): Promise<Appended>;

  /** Records after `after` (exclusive, default 0), oldest first, at most `limit` (default 1,000). */
  read(query: ReadQuery, options?: Wait): Promise<readonly Stored[]>;

  /** The newest position in the store (0 when empty). */
  head(options?: Wait): Promise<number>;

  /** Items of one log, oldest queued first. Served by an index for `open`, `gate`, `unread`, `ids`, `key`; never a scan of the log. */
  items(log: LogKey, query: ItemQuery, options?: Wait): Promise<readonly Item[]>;

  /**
   * True when it is certain, without waiting for anything, that nothing is open or offered for the conversation, no gate is
   * up, and the conversation has not ended. False says nothing. For whoever asks before each tool call; must not throw.
   */
  quiet?(log: LogKey, conversation: ConversationId): boolean;

  /** How many items of the log are open or offered (for `maxOpen`). */
  countOpen(log: LogKey, options?: Wait): Promise<number>;

  /** Every log that has records, by name, with its open and offered items counted by level. Reads the open set only. */
  overview(project?: string, options?: Wait): Promise<readonly LogOverview[]>;

  /**
   * Agents by name, a page at a time: those that have records or were seen, `after` being the last log of the page before
   * (default limit 100). One query by index, however many agents there are and however much each has open.
   */
  agents(
    query: { readonly project?: string; readonly after?: LogKey; readonly limit?: number },
    options?: Wait,
  ): Promise<readonly AgentOverview[]>;

  /**
   * Waits until something was appended (by any process) after `after`, then resolves with the head; resolves with
   * `after` when `signal` aborts, `withinMs` pass (default: never) or the store is closed. A wake-up is a hint: readers
   * then `read`.
   */
  changed(after: number, options?: Wait): Promise<number>;

  /** Creates or updates a conversation's presence. Undefined fields stay as they were. */
  touch(presence: PresenceUpdate, options?: Wait): Promise<Presence>;
  presence(
    query: { project?: string; log?: LogKey; conversation?: ConversationId },
    options?: Wait,
  ): Promise<readonly Presence[]>;

  /** Binds a host process to the conversation that it shows now (`/clear` binds it anew); the newest binding counts. */
  bind(host: Owner, to: { log: LogKey; conversation: ConversationId }, options?: Wait): Promise<void>;
  binding(host: Owner, options?: Wait): Promise<{ log: LogKey; conversation: ConversationId; at: number } | undefined>;

  /** A tool result that was held back from the model, until it is fetched or `until` (epoch ms) has passed. */
  withhold(held: Withheld, options?: Wait): Promise<void>;
  withheld(log: LogKey, conversation: ConversationId, options?: Wait & { take?: boolean }): Promise<readonly Withheld[]>;

  /**
   * Removes items closed before `before` (epoch ms) with the housekeeping records about them, withheld results that ran
   * out, and presence ended before it. Transcript records, unknown types and interrupts that hold a gate up stay; replaying
   * what is left gives the items that are left.
   */
  prune(before: number, options?: Wait): Promise<{ readonly records: number; readonly items: number }>;

  /**
   * Removes records that concern no item (of others it throws `bad_argument`), and changes `swaps`, in one step: for whoever
   * keeps more than notifications in the log. False, and nothing is done, where a setting is not what the caller saw, or
   * the store's newest record is among them. Positions that are not there are passed over.
   */
  forget(seqs: readonly number[], options?: Wait & { readonly swaps?: readonly Swap[] }): Promise<boolean>;

  /**
   * Removes all that the log holds before position `before` (exclusive), also what is open: records, items, withheld results,
   * presence, bindings of host processes, and the settings and session tokens of its agent. One step. The bytes
   * are overwritten.
   */
  erase(log: LogKey, before: number, options?: Wait): Promise<Erased>;

  /** Small durable values beside the log (mutes, when the last prune ran). Undefined removes. */
  setting(key: string, options?: Wait): Promise<Json | undefined>;
  setSetting(key: string, value: Json | undefined, options?: Wait): Promise<void>;
  /** Sets it only where it is still `from`, compared as JSON text; false where it is not. */
  swapSetting(key: string, from: Json | undefined, to: Json | undefined, options?: Wait): Promise<boolean>;

  /** A secret of this store, made once, from which marks are derived. Hex. */
  secret(options?: Wait): Promise<string>;

  /** Checks what can be checked (structure, index against replay). Empty when sound. */
  verify(options?: Wait & Progress): Promise<readonly string[]>;

  close(): Promise<void>;
}

/** How much was removed. */
export type Erased = {
  readonly records: number;
  readonly notifications: number;
  readonly conversations: number;
  readonly withheld: number;
  readonly settings: number;
};

/** A setting that is to be `from`, compared as JSON text, and then is `to`; undefined: is not there. */
export type Swap = { readonly key: string; readonly from: Json | undefined; readonly to: Json | undefined };

export type Wait = { readonly withinMs?: number; readonly signal?: AbortSignal };

/** A lost race is an expected outcome, so it is a value; a broken disk is not, so it throws. */
export type Appended =
  | { readonly kind: 'appended'; readonly records: readonly Stored[]; readonly items: readonly Item[] }
  /** This id is in the log already: nothing was written. `item` as it stands. */
  | { readonly kind: 'duplicate'; readonly id: NotificationId; readonly item: Item }
  | {
      readonly kind: 'conflict';
      readonly ids: readonly { readonly id: NotificationId; readonly why: 'closed' | 'offered' | 'unknown' }[];
    }
  /** A setting of `swaps` is not what the caller saw any more: nothing was written. */
  | { readonly kind: 'stale'; readonly key: string };

export type ReadQuery = {
  readonly log?: LogKey;
  readonly project?: string;
  readonly after?: number;
  /** Inclusive upper bound. */
  readonly upTo?: number;
  readonly limit?: number;
  readonly conversation?: ConversationId;
  readonly types?: readonly string[];
  /** Newest first. */
  readonly newestFirst?: boolean;
  /** Exactly these positions. */
  readonly seqs?: readonly number[];
};

/** Called now and then while a long check runs: records done, and about how many there are. Must not throw. */
export type Progress = { readonly onProgress?: ((done: number, of: number) => void) | undefined };

export type ItemQuery =
  /** Open or offered. With `conversation`: its own and ANYONE's. */
  | { readonly kind: 'open'; readonly conversation?: ConversationId; readonly limit?: number }
  /** Open or offered, and some conversation's: it is the audience, or took what was anyone's. */
  | { readonly kind: 'held' }
  /**
   * Those that hold the gate up. With `conversation`: its own, those that it took, and ANYONE's that nobody took yet. With
   * `read`: only what holds it although it was read, as a pause does.
   */
  | { readonly kind: 'gate'; readonly conversation?: ConversationId; readonly read?: true }
  /** Delivered or summarized and not read, newest first. With `conversation`: what that conversation took. `before`: a position (exclusive). */
  | { readonly kind: 'unread'; readonly conversation?: ConversationId; readonly limit?: number; readonly before?: number }
  /** Open, with this key. */
  | { readonly kind: 'key'; readonly key: string }
  | { readonly kind: 'ids'; readonly ids: readonly NotificationId[] }
  | { readonly kind: 'carrier'; readonly carrier: CarrierId }
  /** Newest first: of all states, or of one; `before` is a position (exclusive). */
  | { readonly kind: 'latest'; readonly limit: number; readonly before?: number; readonly state?: 'open' | 'closed' }
  /** Closed from `from` (inclusive) to `to` (exclusive), closed last first; `before` is the last one of the page before. */
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
  /** A pause holds a gate up. */
  readonly paused: boolean;
  /** Its conversations, the one seen last first, at most `MAX_CONVERSATIONS_OF_AN_OVERVIEW`. */
  readonly presence: readonly Presence[];
  /** The newest record that queues nothing. `what`: the tool's name, or what carried. */
  readonly last?: { readonly type: string; readonly at: number; readonly conversation?: string; readonly what?: string };
};

export const MAX_CONVERSATIONS_OF_AN_OVERVIEW = 20;

/** What is known of a conversation's host. Times are epoch ms. */
export type Presence = {
  readonly log: LogKey;
  readonly conversation: ConversationId;
  readonly purpose?: string;
  /** The program that runs its loop: `claude-code`, `codex`, `gateway` … */
  readonly host?: string;
  readonly hostVersion?: string;
  readonly process?: Owner;
  /** The process serves many conversations (an HTTP gateway): that it lives says nothing of this one. */
  readonly shared?: boolean;
  /** The worktree that it works in. */
  readonly folder?: string;
  /** It has called no tool yet: a client's health check looks like this. */
  readonly pending?: true;
  /** Its current run, and the runs of its agent's other conversations that were active when it began. */
  readonly began?: { readonly run: string; readonly beside: readonly string[] };
  /** Who took over what it had not read. */
  readonly passedTo?: { readonly conversation: ConversationId; readonly at: number };
  /** The connections of gateways that it has now, each with the gateway's process. */
  readonly connections?: Readonly<Record<string, Owner>>;
  /** What can carry to it (`gateway:stdio filesystem`, `hook`), each with its last carry. */
  readonly carriers: Readonly<Record<string, number>>;
  readonly startedAt: number;
  readonly seenAt: number;
  readonly carriedAt?: number;
  readonly endedAt?: number;
  /** The meaning of the mark has been told to the model. */
  readonly told: boolean;
  /** The mark that a frame explained last. Missing where release 0.0.0 explained the mark of the conversation. */
  readonly mark?: string;
  /** Its model can call `get_notifications`. */
  readonly pulls: boolean;
  /** Our other tools that it can call; undefined: not known. */
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
  /** `true` counts only for a conversation that was not seen before. */
  readonly pending?: boolean;
  /** A new run begins now. */
  readonly began?: Presence['began'];
  /** About a conversation that is over: no sign of life of it. */
  readonly passedTo?: ConversationId;
  readonly connect?: { readonly key: string; readonly process: Owner };
  readonly disconnect?: readonly string[];
  /** Names a carrier that was seen now. */
  readonly carrier?: string;
  readonly carried?: true;
  /** `alone`: where it has no connection left. */
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
  /** The raw result, as the upstream sent it, cut to the policy's cap. */
  readonly body: string;
};

/**
 * Says a line by the template of its subscriber. Must not throw and must not block: what takes too long, fails or is not
 * known is `failed`, with a reason for people.
 */
export interface LineRenderer {
  render(line: Line, how: { readonly timeZone: string }): Promise<Rendered>;
  /** Templates and conditions are at work at this moment: whoever waits then waits for them, and not for a store. */
  busy?(): boolean;
}
export type Rendered = { readonly kind: 'text'; readonly text: string } | { readonly kind: 'failed'; readonly reason: string };

/** Where ids and time come from, so that tests can hold both still. */
export interface Clock {
  /** Epoch ms. May run backwards; stores do not let it show. */
  now(): number;
}
export interface Ids {
  /** A new id that sorts by time within a process: prefix, underscore, 20 lower-case characters. */
  make(prefix: string): string;
}
