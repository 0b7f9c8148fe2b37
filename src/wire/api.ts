/**
 * What the HTTP API says: the shapes that the server and its clients share. Times are epoch ms; what there is none of is
 * null. A page's `next` goes into `after` (or `before`, where the list is newest first) of the next call; null: that was all.
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
  /** Of bad input: where it is (`level`, `deliver.at`). */
  readonly field?: string;
  readonly retryable?: boolean;
};

export type Counts = Readonly<Record<Level, number>>;

/** What an interrupt does at a host, the strongest thing that it has. */
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

/** `what` is a tool's name. `nothing`: it waits for somebody, or nobody knows; `what` is then the tool that it called last. */
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
  /** The conversation that took over what this one had not read. */
  readonly passedTo: { readonly conversation: string; readonly at: number } | null;
  readonly turns: number;
  /** What can carry to it, each with when it did last. */
  readonly carriers: readonly { readonly name: string; readonly at: number }[];
  /** Its model can call `get_notifications`. */
  readonly pulls: boolean;
  readonly force: Force;
};

export type RecordsPage = {
  /** Oldest first, also of a page that was asked for with `newest`. */
  readonly items: readonly Stored[];
  /** For `after`; with `newest` or `before` for `before`. A page may be short and have a next one. */
  readonly next: string | null;
  /** The store's newest position when this was read: a stream from here misses nothing. */
  readonly head: number;
};

export type Fork = {
  readonly conversation: string;
  /** The last record that it has of what it was forked from. */
  readonly upTo: number;
  readonly at: number;
};

export type ForksReply = {
  readonly origin: Pick<Fork, 'conversation' | 'upTo'> | null;
  /** The one seen last first. */
  readonly forks: readonly Fork[];
  /** There are more conversations than were looked at. */
  readonly more: boolean;
  /** With `at`: how many turns it has up to that record, as `--turns` of `earpiece chat --fork` counts them. */
  readonly turns: number | null;
};

/** A place where words that were looked for stand. */
export type Hit = {
  readonly seq: number;
  readonly at: number;
  /** Of the record. */
  readonly type: string;
  readonly conversation: string | null;
  /** Whose or of what it is: the tool, the kind, the author. */
  readonly name: string | null;
  /** Of the notification, or of the call. */
  readonly id: string | null;
  /** A part of it, with the first of the words. */
  readonly text: string;
};

export type SearchPage = {
  /** The newest first. */
  readonly items: readonly Hit[];
  /** How many records were looked at for this page. */
  readonly looked: number;
  /** When the oldest of them was written; null where there is none. */
  readonly lookedBackTo: number | null;
  /** For `before`: null when everything was looked at. */
  readonly next: string | null;
};

/** `lookedBackTo`: of a page of those that have some words, how far back that was looked for; missing when it was all. */
export type NotificationsPage = Page<NotificationView> & { readonly lookedBackTo?: number | undefined };

export type NotificationState = 'open' | 'offered' | 'closed';

export type NotificationView = {
  readonly log: string;
  /** Whom it is for; null: the agent's first conversation that carries. */
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
  /** The person who said it, where one did. */
  readonly person: string | null;
  /** The agent who sent it, where one did. */
  readonly sender: string | null;
  /** The subscriber that made it. */
  readonly subscriber: string | null;
  readonly requeues: string | null;
  /** How many in all, those counted into it included. */
  readonly count: number;
  readonly seq: number;
  readonly at: number;
  readonly lastAt: number;
  readonly expiresAt: number | null;
  readonly state: NotificationState;
  /** `queued`, `offered`, `delivered`, `observed`, `read`, `maybe_seen`, or the outcome it ended with. */
  readonly receipt: string;
  /** Who marked it read, while nothing proves that the agent has read it; `markedBy` of the client says it in words. */
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

/** What happened to a notification and why, for each of those it is for. */
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
  /** Of one that ended undelivered: the step of the plan, or who closed it. */
  readonly ended: { readonly outcome: string; readonly by: string; readonly reason: string; readonly at: number } | null;
  /** Of an open one: what a carrier of each conversation would decide now. */
  readonly now: readonly { readonly conversation: string; readonly decision: Decision }[];
  /** Exactly what the model was sent, each time. */
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
  /** The tool or the hook whose message it rode on. */
  readonly on: string | null;
  readonly format: string | null;
  /** The line of this notification. */
  readonly item: string;
  /** The whole text with all that rode along. */
  readonly text: string;
  readonly repeated: boolean;
};

export type QueuedReply = {
  readonly kind: 'queued' | 'folded' | 'duplicate';
  readonly id: string;
  /** The open notification that it was counted into. */
  readonly into: string | null;
  readonly to: readonly string[];
};

export type InterruptReply = QueuedReply & { readonly effects: readonly Effect[] };

/** Empty where nothing was paused. */
export type ResumeReply = { readonly lifted: readonly LiftedPause[]; readonly effects: readonly Effect[] };
export type LiftedPause = {
  readonly log: string;
  readonly id: string;
  /** Null: a pause of the agent that no conversation has taken. */
  readonly conversation: string | null;
  readonly message: string;
  /** Who paused; null where no person did. */
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
  /** It got as far as was asked for. */
  readonly reached: boolean;
  /** It ended otherwise, or got there: waiting longer changes nothing. */
  readonly settled: boolean;
};

export const TOKEN_KINDS = ['admin', 'project', 'agent', 'send'] as const;
/**
 * - `admin`: everything.
 * - `project`: all of one project, read and write.
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

/** What a token is asked for with. Without `project` or `agent` it is for all of them; without `expiresInMs` it does not expire. */
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
  /** What a terminal on the server's machine types for `earpiece`, so that it reaches this log. */
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
  /** How a person changes it; null where it is changed in its file alone. */
  readonly change: SettingChange | null;
};

export type SettingChange = {
  readonly label: string;
  /** What it does, in one line. */
  readonly help: string;
  readonly form:
    | { readonly kind: 'switch' }
    | { readonly kind: 'number'; readonly min: number; readonly max: number }
    | { readonly kind: 'choice'; readonly words: readonly string[] }
    /** A text such as `30m`; `never`: that word will do, too. */
    | { readonly kind: 'duration'; readonly never: boolean }
    | { readonly kind: 'list' };
  /** A list to which each file adds: what others say stays. */
  readonly addsUp: boolean;
  /** When a change counts: `now, from the next carrier on`. */
  readonly takesEffect: string;
  /** For each file that a change may go to: who is stronger and goes on deciding, if anybody; whether it is set there, and to what. */
  readonly in: Readonly<Record<SettingScope, { readonly decidedBy: string | null; readonly set: boolean; readonly says: Json }>>;
};

/** Whose file: the user's, for all projects, or the project's. */
export type SettingScope = 'user' | 'project';

export type SettingsReply = {
  readonly project: string;
  readonly files: readonly { readonly scope: string; readonly file: string }[];
  /** Where a change goes, also where there is no file yet; null where nothing can be changed from here. */
  readonly places: Readonly<Record<SettingScope, { readonly file: string; readonly exists: boolean }>> | null;
  /** What is wrong with the files. While it is, whoever runs goes on as before. */
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
  /** Which folder its file is in, and the file. */
  readonly from: { readonly folder: string; readonly file: string };
  readonly spoke_last_7_days: number;
};

export type SubscribersReply = {
  readonly project: string;
  readonly subscribers: readonly SubscriberItem[];
  /** Files that did not load, or not as they should. */
  readonly problems: readonly { readonly file: string; readonly severity: string; readonly message: string }[];
};

/** What it would say about a sample event; and, where an agent was named, the test notification that was sent there. */
export type SubscriberTestReply = {
  readonly subscriber_id: string;
  readonly event_type: string;
  readonly inject_at: string;
  readonly kind: string;
  /** Of a real one. A test notification is info. */
  readonly level: Level;
  /** What would be sent of a real one. */
  readonly preview: string;
  /** Why its template could not say it. */
  readonly problem: string | null;
  /** Null: nothing was sent. */
  readonly to: string | null;
  readonly notification: string | null;
  /** What was done, and when it will show, or why it will not. */
  readonly message: string;
  /** Of what was sent, as `why` answers; null: nothing was sent. */
  readonly verdict: Verdict | null;
};

/** A kind that somebody silenced for an agent: `*`, `source`, `source.*` or `source.name`. */
export type MuteView = {
  readonly log: string;
  readonly pattern: string;
  /** Null: until somebody lifts it. */
  readonly until: number | null;
  readonly by: string;
};
export type MutesReply = {
  readonly items: readonly MuteView[];
  /** There are more agents than were looked at. */ readonly more: boolean;
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
      /** Of one that was skipped. */
      readonly because: string | null;
    }[];
  }[];
};

/** From queue to delivery: half took at most `p50Ms`, 95 % at most `p95Ms`; null where none was delivered. */
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
    /** Estimated tokens of what models were sent. */
    readonly tokens: number;
    /** Of those that were delivered in it. */
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
  /** There was more than is looked at for one answer. */
  readonly truncated: boolean;
};

/** A task as lists show it: the work on it is counted, with the last of it. */
export type TaskView = Omit<Task, 'executions'> & {
  readonly execution: TaskExecution | null;
  /** Where it may be moved from here. */
  readonly mayBecome: readonly TaskStatus[];
};

export type Health = { readonly status: 'ok' | 'store_unavailable'; readonly version: string };
