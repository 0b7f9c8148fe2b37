/**
 * The HTTP API's shapes, shared by the server and its clients. Times are epoch ms; an absent value is null. A page's `next`
 * is the `after` of the next call (or `before`, if the list is newest first). Null: there are no more.
 */
import type { Json } from '../core/json.ts';
import type { Action, Level } from '../core/notification.ts';
import type { Decision } from '../core/plan.ts';
import type { Stored } from '../core/records.ts';
import type { Verdict } from '../core/verdict/kinds.ts';
import type { Task, TaskExecution, TaskStatus } from '../core/task.ts';

export type Page<T> = { readonly items: readonly T[]; readonly next: string | null };

/** RFC 9457. `code` is for programs: an `ErrorCode`, or one of the server's own. */
export type Problem = {
  readonly type: string;
  readonly title: string;
  readonly status: number;
  readonly detail: string;
  readonly code: string;
  /** Names this one answer; the server's log has it too. */
  readonly instance: string;
  /** For bad input: the invalid field (`level`, `deliver.at`). */
  readonly field?: string;
  readonly retryable?: boolean;
};

export type Counts = Readonly<Record<Level, number>>;

/** The strongest effect of an interrupt at a host. */
export const FORCES = ['aborts_stream', 'refuses_next_call', 'next_contact', 'waits'] as const;
export type Force = (typeof FORCES)[number];

export type AgentSummary = {
  /** `project/agent`. */
  readonly log: string;
  readonly project: string;
  readonly agent: string;
  readonly open: Counts;
  readonly oldestOpenAt: number | null;
  /** At least one conversation is active. */
  readonly active: boolean;
  readonly paused: boolean;
  readonly doing: Doing;
  readonly lastContactAt: number | null;
  readonly hosts: readonly string[];
  /** Seen last first, at most 20. */
  readonly conversations: readonly ConversationSummary[];
};

/** `what` is a tool's name. `nothing`: it waits for somebody, or its state is unknown; `what` is then the last called tool. */
export type Doing = {
  readonly kind: 'tool' | 'thinking' | 'nothing';
  readonly what: string | null;
  readonly since: number | null;
  readonly conversation: string | null;
};

export type ConversationSummary = {
  readonly conversation: string;
  /** `project/agent#conversation`. */
  readonly address: string;
  readonly purpose: string | null;
  readonly host: string | null;
  readonly hostVersion: string | null;
  /** The worktree that it works in. */
  readonly folder: string | null;
  readonly active: boolean;
  readonly startedAt: number;
  readonly seenAt: number;
  readonly carriedAt: number | null;
  readonly endedAt: number | null;
  /** The heir that took over its unread notifications. */
  readonly passedTo: { readonly conversation: string; readonly at: number } | null;
  readonly turns: number;
  /** The carriers that can reach it, each with its last carry. */
  readonly carriers: readonly { readonly name: string; readonly at: number }[];
  /** Its model can call `get_notifications`. */
  readonly pulls: boolean;
  readonly force: Force;
};

export type RecordsPage = {
  /** Oldest first, even on a page that was requested with `newest`. */
  readonly items: readonly Stored[];
  /** For `after`; with `newest` or `before` for `before`. A page may be short and still have a next one. */
  readonly next: string | null;
  /** The store's newest position at the time of reading: a stream from here misses nothing. */
  readonly head: number;
};

export type Fork = {
  readonly conversation: string;
  /** The last record that it shares with its origin. */
  readonly upTo: number;
  readonly at: number;
};

export type ForksReply = {
  readonly origin: Pick<Fork, 'conversation' | 'upTo'> | null;
  /** Last seen first. */
  readonly forks: readonly Fork[];
  /** There are more conversations than were searched. */
  readonly more: boolean;
  /** With `at`: the number of its turns up to that record, as `--turns` of `earpiece chat --fork` counts them. */
  readonly turns: number | null;
};

/** One match of a search. */
export type Hit = {
  readonly seq: number;
  readonly at: number;
  /** The record's type. */
  readonly type: string;
  readonly conversation: string | null;
  /** The record's tool, kind or author. */
  readonly name: string | null;
  /** The id of the notification, or of the call. */
  readonly id: string | null;
  /** A part of the text, with the first of the words. */
  readonly text: string;
};

export type SearchPage = {
  /** Newest first. */
  readonly items: readonly Hit[];
  /** The number of records that were searched for this page. */
  readonly looked: number;
  /** When the oldest of them was written; null if there are none. */
  readonly lookedBackTo: number | null;
  /** For `before`: null when everything was searched. */
  readonly next: string | null;
};

/** `lookedBackTo`: for a page of a word search, the time of the oldest searched notification; missing if all were searched. */
export type NotificationsPage = Page<NotificationView> & { readonly lookedBackTo?: number | undefined };

export type NotificationState = 'open' | 'offered' | 'closed';

export type NotificationView = {
  readonly log: string;
  /** Its audience. Null: the agent's first conversation that carries. */
  readonly conversation: string | null;
  readonly id: string;
  /** `source.name`. */
  readonly kind: string;
  readonly level: Level;
  readonly message: string;
  readonly data: Json;
  readonly action: Action | null;
  readonly instruction: string | null;
  readonly key: string | null;
  readonly about: string | null;
  readonly purpose: string | null;
  readonly deliver: Json;
  /** The person who sent it, if one did. */
  readonly person: string | null;
  /** The agent that sent it, if one did. */
  readonly sender: string | null;
  /** The subscriber that made it. */
  readonly subscriber: string | null;
  readonly requeues: string | null;
  /** The number of all, folded ones included. */
  readonly count: number;
  readonly seq: number;
  readonly at: number;
  readonly lastAt: number;
  readonly expiresAt: number | null;
  readonly state: NotificationState;
  /** `queued`, `offered`, `delivered`, `observed`, `read`, `maybe_seen`, or its outcome. */
  readonly receipt: string;
  /** The person who marked it read, as long as nothing proves that the agent has read it. The client's `markedBy` words this. */
  readonly markedBy: string | null;
  readonly outcome: string | null;
  readonly closedAt: number | null;
  /** It holds the gate of its conversations up. */
  readonly gate: boolean;
  readonly offers: number;
  /** The conversation whose carrier took it. */
  readonly takenBy: string | null;
  readonly carrier: string | null;
};

/** The history of a notification and its reasons, for each audience. */
export type Story = {
  readonly log: string;
  readonly id: string;
  readonly items: readonly StoryItem[];
};

export type StoryItem = {
  readonly notification: NotificationView;
  /** One answer to why it was delivered, waits or ended. */
  readonly verdict: Verdict;
  readonly steps: readonly { readonly at: number; readonly seq: number; readonly what: string; readonly detail: string | null }[];
  /** For one that ended undelivered: the step of the plan, or the person or process that closed it. */
  readonly ended: { readonly outcome: string; readonly by: string; readonly reason: string; readonly at: number } | null;
  /** For an open one: the current decision of a carrier for each conversation. */
  readonly now: readonly { readonly conversation: string; readonly decision: Decision }[];
  /** The exact texts that the model was sent, each time. */
  readonly sent: readonly Sent[];
};

export type Sent = {
  readonly seq: number;
  readonly at: number;
  /** The record that carried: `carrier_offered`, `tool_call_response`, `chat_request`, `gate_refused`. */
  readonly record: string;
  readonly conversation: string | null;
  /** `tool_result`, `turn_start` … */
  readonly point: string | null;
  /** The tool or the hook whose message carried it. */
  readonly on: string | null;
  readonly format: string | null;
  /** The line of this notification. */
  readonly item: string;
  /** The whole text with all notifications in it. */
  readonly text: string;
  readonly repeated: boolean;
};

export type QueuedReply = {
  readonly kind: 'queued' | 'folded' | 'duplicate';
  readonly id: string;
  /** The open notification that counts this one. */
  readonly into: string | null;
  readonly to: readonly string[];
};

export type InterruptReply = QueuedReply & { readonly effects: readonly Effect[] };

/** Empty if nothing was paused. */
export type ResumeReply = { readonly lifted: readonly LiftedPause[]; readonly effects: readonly Effect[] };
export type LiftedPause = {
  readonly log: string;
  readonly id: string;
  /** Null: a pause of the agent that no conversation has taken. */
  readonly conversation: string | null;
  readonly message: string;
  /** The person who paused; null if no person did. */
  readonly person: string | null;
  /** Epoch ms. */
  readonly since: number;
};
export type Effect = {
  readonly address: string;
  readonly host: string | null;
  readonly force: Force;
  /** In words, for a person. */
  readonly says: string;
};

export type WithdrawReply = {
  readonly id: string;
  readonly result: 'withdrawn' | 'maybe_seen' | 'gate_lowered' | 'too_late' | 'unknown';
};

export type ReceiptReply = {
  readonly id: string;
  readonly receipt: string;
  /** It has the requested receipt. */
  readonly reached: boolean;
  /** It has the receipt or ended otherwise: waiting longer changes nothing. */
  readonly settled: boolean;
};

export const TOKEN_KINDS = ['admin', 'project', 'agent', 'send'] as const;
/**
 * - `admin`: everything.
 * - `project`: reads and writes everything in one project.
 * - `agent`: reads one agent's conversations, or one of them, marks them read, and queues in its project at most at error.
 * - `send`: queues notifications and events in one project, at most at error, and reads nothing.
 */
export type TokenKind = (typeof TOKEN_KINDS)[number];

export type TokenInfo = {
  readonly id: string;
  readonly kind: TokenKind;
  readonly name: string;
  readonly project: string | null;
  readonly agent: string | null;
  readonly conversation: string | null;
  /** A browser that has logged in, not a token for programs. */
  readonly session: boolean;
  readonly createdAt: number;
  readonly lastUsedAt: number | null;
  readonly expiresAt: number | null;
};

/** A request for a token. Without `project` or `agent` it is for all of them; without `expiresInMs` it does not expire. */
export type TokenRequest = {
  readonly kind: TokenKind;
  readonly name: string;
  readonly project?: string;
  readonly agent?: string;
  readonly conversation?: string;
  readonly expiresInMs?: number;
};

export type CreatedToken = TokenInfo & {
  /** Shown this once. */
  readonly token: string;
};

export type SessionReply = {
  readonly who: TokenInfo;
  /** The project of the folder that the server runs in. */
  readonly project: string;
  readonly version: string;
  readonly store: string;
  readonly shell: ShellInfo;
  /** The server's time. */
  readonly now: number;
  readonly head: number;
};

export type ShellInfo = {
  /** The command that reaches this log from a terminal on the server's machine, instead of `earpiece`. */
  readonly earpiece: string;
  /** The MCP clients that were found there, under the names that `gateway --print` knows. */
  readonly clients: readonly string[];
};

export type SettingReply = {
  readonly key: string;
  readonly value: Json;
  readonly text: string;
  readonly decidedBy: string;
  readonly expects: string;
  readonly env: string | null;
  readonly overridden: readonly { readonly text: string; readonly decidedBy: string }[];
  /** The form for changing it. Null if it is changed only in its file. */
  readonly change: SettingChange | null;
};

export type SettingChange = {
  readonly label: string;
  /** Its effect, in one line. */
  readonly help: string;
  readonly form:
    | { readonly kind: 'switch' }
    | { readonly kind: 'number'; readonly min: number; readonly max: number }
    | { readonly kind: 'choice'; readonly words: readonly string[] }
    /** A text such as `30m`. `never`: also accepts that word. */
    | { readonly kind: 'duration'; readonly never: boolean }
    | { readonly kind: 'list' };
  /** A list that joins the values of all files. */
  readonly addsUp: boolean;
  /** When a change takes effect: `now, from the next carrier on`. */
  readonly takesEffect: string;
  /**
   * For each file that may hold it: the stronger source that still decides, if there is one; whether the file sets it, and
   * its value there.
   */
  readonly in: Readonly<Record<SettingScope, { readonly decidedBy: string | null; readonly set: boolean; readonly says: Json }>>;
};

/** The file: the user's, for all projects, or the project's. */
export type SettingScope = 'user' | 'project';

export type SettingsReply = {
  readonly project: string;
  readonly files: readonly { readonly scope: string; readonly file: string }[];
  /** The file of each scope, even if it does not exist yet. Null if nothing can be changed from here. */
  readonly places: Readonly<Record<SettingScope, { readonly file: string; readonly exists: boolean }>> | null;
  /** The problems of the files. As long as there are any, running processes keep the earlier configuration. */
  readonly problems: readonly string[];
  readonly settings: readonly SettingReply[];
};

/** The names of the fifth seed's routes. */
export type SubscriberItem = {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly version: string;
  readonly event_types: readonly string[];
  readonly priority: string;
  readonly inject_at: string;
  readonly core: boolean;
  /** Why a core one cannot be disabled. */
  readonly locked: string | null;
  readonly enabled: boolean;
  /** The folder of its file, and the file. */
  readonly from: { readonly folder: string; readonly file: string };
  readonly spoke_last_7_days: number;
};

export type SubscribersReply = {
  readonly project: string;
  readonly subscribers: readonly SubscriberItem[];
  /** Files that did not load, or loaded with a warning. */
  readonly problems: readonly { readonly file: string; readonly severity: string; readonly message: string }[];
};

/** The text for a sample event. If the request names an agent: also the test notification that was sent there. */
export type SubscriberTestReply = {
  readonly subscriber_id: string;
  readonly event_type: string;
  readonly inject_at: string;
  readonly kind: string;
  /** The level of a real notification. A test notification is info. */
  readonly level: Level;
  /** The text of a real notification. */
  readonly preview: string;
  /** Why its template failed. */
  readonly problem: string | null;
  /** Null: nothing was sent. */
  readonly to: string | null;
  readonly notification: string | null;
  /** The action taken, and when its result shows, or why it does not. */
  readonly message: string;
  /** The verdict of the sent notification, as `why` answers. Null: nothing was sent. */
  readonly verdict: Verdict | null;
};

/** A kind that a person silenced for an agent: `*`, `source`, `source.*` or `source.name`. */
export type MuteView = {
  readonly log: string;
  readonly pattern: string;
  /** Null: until a person lifts it. */
  readonly until: number | null;
  readonly by: string;
};
export type MutesReply = {
  readonly items: readonly MuteView[];
  /** There are more agents than were searched. */ readonly more: boolean;
};

export type EmittedReply = {
  readonly events: readonly {
    readonly id: string;
    readonly source: string;
    readonly type: string;
    readonly heard: readonly {
      readonly subscriber: string;
      readonly kind: string;
      readonly ids: readonly string[];
      /** For a skipped event: the reason. */
      readonly because: string | null;
    }[];
  }[];
};

/** From queue to delivery: half took at most `p50Ms`, 95 % at most `p95Ms`. Null if none was delivered. */
export type Delivery = { readonly count: number; readonly p50Ms: number | null; readonly p95Ms: number | null };

export type ActivityReply = {
  readonly project: string | null;
  readonly from: number;
  readonly to: number;
  readonly bucketMs: number;
  /** `at` is the start of the bucket; `waiting` counts at its end. */
  readonly buckets: readonly {
    readonly at: number;
    readonly queued: Counts;
    readonly delivered: Counts;
    readonly waiting: Counts;
    /** Estimated tokens of the texts that models were sent. */
    readonly tokens: number;
    /** For notifications that were delivered in this bucket. */
    readonly delivery: Delivery;
  }[];
  readonly delivery: Delivery;
  readonly kinds: readonly {
    readonly kind: string;
    readonly queued: number;
    readonly delivered: number;
    readonly tokens: number;
  }[];
  readonly tokens: number;
  /** There was more data than one answer covers. */
  readonly truncated: boolean;
};

/** A task in a list: the number of its executions, with the last one. */
export type TaskView = Omit<Task, 'executions'> & {
  readonly execution: TaskExecution | null;
  /** The statuses to which it may move from here. */
  readonly mayBecome: readonly TaskStatus[];
};

export type Health = { readonly status: 'ok' | 'store_unavailable'; readonly version: string };
