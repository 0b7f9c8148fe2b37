type Json = null | boolean | number | string | readonly Json[] | {
  readonly [key: string]: Json;
};
type NotificationId = string & {
  readonly __brand: 'NotificationId';
};
declare const LEVELS: readonly ['info', 'warning', 'error', 'critical'];
type Level = (typeof LEVELS)[number];
type Kind = {
  readonly source: string;
  readonly name: string;
};
declare const ACTIONS: readonly ['cancel', 'pause', 'resume'];
type Action = (typeof ACTIONS)[number];
declare const MOMENTS: readonly ['next', 'after_tool', 'next_cycle', 'cycle_end', 'turn_start', 'turn_end', 'now'];
type Deliver = (typeof MOMENTS)[number] | {
  readonly at: number;
} | {
  readonly afterTurns: number;
} | {
  readonly afterTool: string;
};
type Origin = {
  readonly agent?: string;
  readonly tool?: string;
  readonly person?: string;
  readonly cause?: string;
  readonly token?: string;
  readonly words?: true;
  readonly depth: number;
};
type Subscribed = {
  readonly id: string;
  readonly event: {
    readonly type: string;
    readonly source: string;
    readonly severity: string;
    readonly time: number;
  };
  readonly template?: string;
  readonly group: number;
  readonly rest?: true;
  readonly repeats?: true;
  readonly core?: true;
  readonly wakeAfterMs?: number;
};
type Notification = {
  readonly id: NotificationId;
  readonly kind: Kind;
  readonly level: Level;
  readonly message: string;
  readonly data?: Json;
  readonly key?: string;
  readonly supersede?: true;
  readonly about?: string;
  readonly count?: number;
  readonly firstAt?: number;
  readonly expiresAt?: number | null;
  readonly deliver?: Deliver;
  readonly action?: Action;
  readonly instruction?: string;
  readonly needs?: Needs;
  readonly purpose?: string;
  readonly subscriber?: Subscribed;
  readonly requeues?: NotificationId;
  readonly origin?: Origin;
};
type Needs = {
  readonly tool: string;
  readonly otherwise: string;
};
type NotificationInput = {
  readonly id?: string;
  readonly kind?: string | Kind;
  readonly level?: Level;
  readonly message: string;
  readonly data?: Json;
  readonly key?: string;
  readonly supersede?: boolean;
  readonly about?: string;
  readonly expiresAt?: number | null;
  readonly ttlMs?: number;
  readonly deliver?: Deliver | {
    readonly inMs: number;
  };
  readonly action?: Action;
  readonly instruction?: string;
  readonly needs?: Needs;
  readonly purpose?: string;
  readonly origin?: Partial<Omit<Origin, 'token' | 'words'>>;
  readonly count?: number;
  readonly firstAt?: number;
};
type LogKey = string & {
  readonly __brand: 'LogKey';
};
type ConversationId = string & {
  readonly __brand: 'ConversationId';
};
type WaitCause = {
  readonly kind: 'time';
  readonly until: number;
} | {
  readonly kind: 'tool';
  readonly tool: string;
} |
{
  readonly kind: 'turns';
  readonly of: number;
  readonly begun: number;
} | {
  readonly kind: 'moment';
  readonly moment: Extract<Deliver, string>;
} |
{
  readonly kind: 'wrong_clock';
  readonly expiresAt: number;
};
type LimitCause = {
  readonly kind: 'max_items' | 'max_tokens' | 'line_messages' | 'line_events';
  readonly limit: number;
};
type FilterCause = {
  readonly kind: 'mute';
  readonly pattern: string;
  readonly by: string;
  readonly until?: number | null;
} | {
  readonly kind: 'setting';
  readonly key: string;
  readonly value: false | Level;
  readonly file?: string;
  readonly scope?: FileScope;
};
type FileScope = 'user' | 'project';
type EndCause = FilterCause | {
  readonly kind: 'expired';
  readonly at: number;
} | {
  readonly kind: 'known';
  readonly about: string;
  readonly since: number;
} |
{
  readonly kind: 'superseded';
  readonly by: NotificationId;
  readonly key: string;
} |
{
  readonly kind: 'resumed';
  readonly by: string;
};
type Explained = {
  readonly cause?: EndCause;
  readonly reason: string;
};
type CarrierId = string & {
  readonly __brand: 'CarrierId';
};
declare const CONTACT_POINTS: readonly ['turn_start', 'cycle_start', 'tool_result', 'tool_batch_end', 'turn_end', 'idle', 'forced'];
type ContactPoint = (typeof CONTACT_POINTS)[number];
declare const OUTCOMES: readonly ['withdrawn', 'expired', 'superseded', 'filtered', 'dropped', 'known', 'summarized'];
type Outcome = (typeof OUTCOMES)[number];
type Owner = {
  readonly machine: string;
  readonly pid: number;
  readonly startedAt: string;
};
declare const VIEW_NAMES: readonly ['default', 'markdown', 'xml', 'xml_batch', 'toon', 'json', 'signal_en', 'signal_ja'];
type ViewName = (typeof VIEW_NAMES)[number];
type SentView = {
  readonly format: ViewName;
  readonly items: readonly {
    readonly ids: readonly NotificationId[];
    readonly text: string;
    readonly repeated?: true;
  }[];
  readonly text: string;
  readonly repeated?: true;
};
type Base = {
  readonly conversation?: ConversationId;
  readonly metadata?: Json;
};
type RecordedNotification = Omit<Notification, 'level'> & {
  readonly level?: Notification['level'];
};
type QueuedRecord = Base & RecordedNotification & {
  readonly type: 'system_notification_queued';
  readonly audience?: readonly ConversationId[];
};
type FoldedRecord = Base & {
  readonly type: 'system_notification_folded';
  readonly id: NotificationId;
  readonly into: NotificationId;
  readonly count: number;
  readonly differs?: {
    readonly message?: string;
    readonly data?: Json;
  };
};
type OfferedRecord = Base & {
  readonly type: 'carrier_offered';
  readonly carrier: CarrierId;
  readonly at_point: ContactPoint;
  readonly ids: readonly NotificationId[];
  readonly summarizes?: readonly NotificationId[];
  readonly counts?: readonly number[];
  readonly owner: Owner;
  readonly through?: 'hook';
  readonly until: number;
  readonly view: SentView;
  readonly on?: string;
  readonly reads?: true;
  readonly shows?: readonly NotificationId[];
  readonly clockAt?: number;
  readonly facts?: Json;
};
type ConfirmedRecord = Base & {
  readonly type: 'carrier_confirmed';
  readonly carrier: CarrierId;
  readonly late?: true;
};
type ReleasedRecord = Base & {
  readonly type: 'carrier_released';
  readonly carrier: CarrierId;
  readonly reason: 'cancelled' | 'write_error' | 'too_big' | 'late' | 'client_died' | 'owner_dead' | 'lease_expired' | 'shutdown' | 'unproven';
};
type RedactedRecord = Base & {
  readonly type: 'carrier_redacted';
  readonly ids: readonly NotificationId[];
  readonly reason: string;
  readonly refusals?: number;
};
type ObservedRecord = Base & {
  readonly type: 'notification_observed';
  readonly ids: readonly NotificationId[];
  readonly evidence: string;
};
type ReadRecord = Base & {
  readonly type: 'notification_read';
  readonly ids: readonly NotificationId[];
  readonly by: string;
  readonly holds?: true;
};
type GateLiftedRecord = Base & Explained & {
  readonly type: 'gate_lifted';
  readonly ids: readonly NotificationId[];
  readonly by: string;
};
type ClosedRecord = Base & Explained & {
  readonly type: 'notification_closed';
  readonly ids: readonly NotificationId[];
  readonly counts?: readonly number[];
  readonly summarized?: true;
  readonly outcome: Outcome;
  readonly by: string;
};
type GateRefusedRecord = Base & {
  readonly type: 'gate_refused';
  readonly ids: readonly NotificationId[];
  readonly on: string;
  readonly call?: string;
  readonly text?: string;
  readonly clockAt?: number;
  readonly times?: number;
  readonly made?: boolean;
  readonly shows?: readonly NotificationId[];
};
type FanOutRecord = Base & {
  readonly type: 'fan_out';
  readonly id: NotificationId;
  readonly notification: RecordedNotification;
  readonly targets: readonly {
    readonly log: LogKey;
    readonly conversations: readonly ConversationId[];
  }[];
  readonly upTo?: LogKey;
};
type FanOutPartRecord = Base & {
  readonly type: 'fan_out_part';
  readonly id: NotificationId;
  readonly upTo: LogKey;
};
type FanOutDoneRecord = Base & {
  readonly type: 'fan_out_done';
  readonly id: NotificationId;
};
type ForkedRecord = Base & {
  readonly type: 'conversation_forked';
  readonly from: ConversationId;
  readonly upTo: number;
  readonly ids: readonly NotificationId[];
};
type SucceededRecord = Base & {
  readonly type: 'conversation_succeeded';
  readonly from: ConversationId;
  readonly ids: readonly NotificationId[];
  readonly why: 'ended' | 'died' | 'silent' | 'merged';
  readonly merges?: true;
};
type ExtendedRecord = Base & {
  readonly type: 'notification_extended';
  readonly ids: readonly NotificationId[];
  readonly reason: string;
};
type Carrying = {
  readonly notifications?: readonly RecordedNotification[];
  readonly view?: SentView;
  readonly summarizes?: readonly NotificationId[];
  readonly counts?: readonly number[];
};
type TurnStartRecord = Base & {
  readonly type: 'turn_start';
};
type ChatRequestRecord = Base & Carrying & {
  readonly type: 'chat_request';
  readonly content: string;
  readonly source?: 'user' | 'system';
  readonly schema?: Json;
  readonly author?: string;
};
type ChatResponseRecord = Base & {
  readonly type: 'chat_response';
  readonly message?: string;
  readonly reasoning?: string;
  readonly data?: Json;
  readonly truncated?: true;
};
type ToolCallRequestRecord = Base & {
  readonly type: 'tool_call_request';
  readonly id: string;
  readonly name: string;
  readonly arguments: Json;
};
type ToolCallResponseRecord = Base & Carrying & {
  readonly type: 'tool_call_response';
  readonly id: string;
  readonly content: string;
  readonly is_error: boolean;
};
type UnknownRecord = Base & {
  readonly type: string;
  readonly [key: string]: unknown;
};
type KnownDraft = QueuedRecord | FoldedRecord | OfferedRecord | ConfirmedRecord | ReleasedRecord | RedactedRecord | ObservedRecord | ReadRecord | ClosedRecord | GateRefusedRecord | GateLiftedRecord | FanOutRecord | FanOutPartRecord | FanOutDoneRecord | ForkedRecord | SucceededRecord | ExtendedRecord | TurnStartRecord | ChatRequestRecord | ChatResponseRecord | ToolCallRequestRecord | ToolCallResponseRecord;
type Draft = KnownDraft | UnknownRecord;
type Stored = {
  readonly seq: number;
  readonly log: LogKey;
  readonly at: number;
  readonly clock?: number;
  readonly body: Draft;
};
declare const PLAN_STEPS: readonly ['filter', 'relevance', 'supersede', 'moment', 'coalesce', 'order', 'budget'];
type PlanStep = (typeof PLAN_STEPS)[number];
type Decision = {
  readonly id: NotificationId;
  readonly reason: string;
} & ({
  readonly kind: 'take';
  readonly step: PlanStep;
} | {
  readonly kind: 'keep';
  readonly step: 'relevance' | 'moment';
  readonly cause: WaitCause;
} | {
  readonly kind: 'keep';
  readonly step: 'budget';
  readonly cause: LimitCause;
} | {
  readonly kind: 'summarize';
  readonly step: 'coalesce' | 'budget';
  readonly cause: LimitCause;
} | {
  readonly kind: 'close';
  readonly step: PlanStep;
  readonly outcome: Outcome;
  readonly cause: EndCause;
});
type Absence = 'ended' | 'process_gone' | 'silent';
type RodeOn = {
  readonly point: ContactPoint | null;
  readonly name: string | null;
  readonly made?: true;
};
type Rides = {
  readonly at: readonly ContactPoint[];
  readonly wrapped?: true;
};
type Verdict =
{
  readonly kind: 'never_carried';
  readonly log: string;
  readonly deliver?: Deliver;
} | {
  readonly kind: 'away';
  readonly address: string;
  readonly absence: Absence;
  readonly lastContactAt: number;
  readonly wrappedOnly: boolean;
  readonly goesOn?: string;
} |
{
  readonly kind: 'other_purpose';
  readonly log: string;
  readonly purpose: string;
} | {
  readonly kind: 'paused';
  readonly log: string;
  readonly id: NotificationId;
  readonly by: string | null;
  readonly since: number;
  readonly until: number | null;
} | {
  readonly kind: 'muted';
  readonly log: string;
  readonly pattern: string;
  readonly by: string;
  readonly until?: number | null;
  readonly over: boolean;
  readonly holds: boolean;
} | {
  readonly kind: 'filtered';
  readonly key: string | null;
  readonly setting: string;
  readonly file: string | null;
  readonly scope?: FileScope;
  readonly over: boolean;
  readonly holds: boolean;
} |
{
  readonly kind: 'budget';
  readonly how: 'waits' | 'will_summarize';
  readonly cause: LimitCause;
} | {
  readonly kind: 'summarized';
  readonly at: number;
  readonly conversation: string | null;
  readonly read: boolean;
  readonly readBy: string | null;
  readonly markedRead?: true;
} |
{
  readonly kind: 'gate';
  readonly log: string;
  readonly action: Action | null;
  readonly refusals: number;
  readonly withheld?: number;
  readonly deliveredAt: number | null;
  readonly until: number | null;
  readonly wrappedOnly?: true;
} |
{
  readonly kind: 'behind_gate';
  readonly id: NotificationId;
  readonly about: string;
  readonly log: string;
} |
{
  readonly kind: 'moment';
  readonly deliver: Deliver;
  readonly cause: WaitCause;
  readonly rides?: Rides;
} | {
  readonly kind: 'due';
  readonly address: string;
  readonly host: string | null;
  readonly wrappedOnly: boolean;
  readonly terminalUnknown?: true;
  readonly unseenSince: number | null;
  readonly offered: boolean;
  readonly hiddenBy?: {
    readonly pid: number;
    readonly machine: string;
    readonly offByMs: number;
  };
} | {
  readonly kind: 'offered';
  readonly rodeOn: RodeOn | null;
  readonly address: string;
  readonly until: number | null;
} | {
  readonly kind: 'delivered';
  readonly at: number;
  readonly afterMs: number;
  readonly rodeOn: RodeOn | null;
  readonly conversation: string | null;
  readonly evidence: 'none' | 'observed' | 'read' | 'marked';
  readonly readBy: string | null;
  readonly offers: number;
} |
{
  readonly kind: 'superseded';
  readonly by: NotificationId | null;
  readonly reason: string;
  readonly over: boolean;
} |
{
  readonly kind: 'expired';
  readonly at: number;
  readonly over: boolean;
  readonly offByMs?: number;
  readonly forProject?: true;
  readonly held?: {
    readonly log: string;
    readonly refusals: number;
    readonly withheld?: number;
    readonly deliveredAt: number | null;
  };
} | {
  readonly kind: 'withdrawn';
  readonly by: string;
  readonly reason: string;
  readonly at: number;
  readonly maybeSeen: boolean;
  readonly forProject?: true;
} | {
  readonly kind: 'known';
  readonly about: string | null;
  readonly reason: string;
  readonly over: boolean;
} | {
  readonly kind: 'dropped';
  readonly reason: string;
  readonly at: number;
} |
{
  readonly kind: 'left_out';
  readonly reason: string;
  readonly at: number;
} | {
  readonly kind: 'folded';
  readonly into: NotificationId | null;
} | {
  readonly kind: 'passed_on';
  readonly to: string;
  readonly at: number;
};
declare const RECEIPTS: readonly ['queued', 'offered', 'delivered', 'observed', 'read'];
type ReceiptName = (typeof RECEIPTS)[number];
declare const ALL_RECEIPTS: readonly ["queued", "offered", "delivered", "observed", "read", "withdrawn", "expired", "superseded", "filtered", "dropped", "known", "summarized", "folded", "left_out", "maybe_seen"];
type Receipt = (typeof ALL_RECEIPTS)[number];
declare const RECORD_TYPES: readonly ['system_notification_queued', 'system_notification_folded', 'carrier_offered', 'carrier_confirmed', 'carrier_released', 'carrier_redacted', 'notification_observed', 'notification_read', 'notification_closed', 'notification_extended', 'gate_refused', 'gate_lifted', 'fan_out', 'fan_out_part', 'fan_out_done', 'conversation_forked', 'conversation_succeeded', 'conversation_imported', 'turn_start', 'chat_request', 'chat_response', 'tool_call_request', 'tool_call_response', 'compaction', 'config_delta', 'files_known', 'inquiry_request', 'inquiry_response', 'handle_spawned', 'handle_state', 'handle_ended', 'agent_woken', 'agent_stopped', 'agent_failed', 'agent_forgotten', 'task_created', 'task_edited', 'task_assigned', 'task_received', 'task_status_changed', 'task_execution_started', 'task_execution_taken', 'task_execution_interrupted', 'task_execution_recalled', 'task_execution_continued', 'task_execution_ended', 'notifications_muted', 'notifications_unmuted', 'subscriber_disabled', 'subscriber_enabled', 'template_failed', 'positions_skipped'];
type RecordType = (typeof RECORD_TYPES)[number];
declare const TASK_STATUSES: readonly ['backlog', 'todo', 'in_progress', 'blocked', 'done', 'cancelled'];
type TaskStatus = (typeof TASK_STATUSES)[number];
declare const TASK_PRIORITIES: readonly ['low', 'normal', 'high', 'urgent'];
type TaskPriority = (typeof TASK_PRIORITIES)[number];
declare const TASK_RESULTS: readonly ['success', 'failed', 'blocked'];
type TaskResult = (typeof TASK_RESULTS)[number];
type TaskActor = {
  readonly kind: 'person' | 'agent';
  readonly name: string;
};
declare const INTERRUPTIONS: readonly ['blocked', 'cancelled', 'stopped', 'reassigned'];
type Interruption = {
  readonly why: (typeof INTERRUPTIONS)[number];
  readonly by: TaskActor;
  readonly at: number;
  readonly reason: string | null;
  readonly notification: string;
};
type TaskExecution = {
  readonly id: string;
  readonly agent: string;
  readonly conversation: string | null;
  readonly startedAt: number;
  readonly interrupted: Interruption | null;
  readonly recalled: boolean;
  readonly endedAt: number | null;
  readonly result: TaskResult | 'lost' | null;
  readonly exitCode: number | null;
  readonly message: string | null;
};
declare const FORCES: readonly ['aborts_stream', 'refuses_next_call', 'refuses_wrapped_call', 'next_contact', 'waits'];
type Force = (typeof FORCES)[number];
declare const TOKEN_KINDS: readonly ['admin', 'project', 'agent', 'send'];
type TokenKind = (typeof TOKEN_KINDS)[number];
type TokenInfo = {
  readonly id: string;
  readonly kind: TokenKind;
  readonly name: string;
  readonly project: string | null;
  readonly agent: string | null;
  readonly conversation: string | null;
  readonly session: boolean;
  readonly createdAt: number;
  readonly lastUsedAt: number | null;
  readonly expiresAt: number | null;
};
type CreatedToken = {
  readonly id: string;
  readonly kind: TokenKind;
  readonly name: string;
  readonly project: string | null;
  readonly agent: string | null;
  readonly conversation: string | null;
  readonly session: boolean;
  readonly createdAt: number;
  readonly lastUsedAt: number | null;
  readonly expiresAt: number | null;
  readonly token: string;
};
type TokenRequest = {
  readonly kind: TokenKind;
  readonly name: string;
  readonly project?: string;
  readonly agent?: string;
  readonly conversation?: string;
  readonly expiresInMs?: number;
};
type ShellInfo = {
  readonly earpiece: string;
  readonly clients: readonly string[];
};
type SessionReply = {
  readonly who: TokenInfo;
  readonly project: string;
  readonly version: string;
  readonly store: string;
  readonly shell: ShellInfo;
  readonly now: number;
  readonly head: number;
};
type Health = {
  readonly status: 'ok' | 'store_unavailable';
  readonly version: string;
};
type NotificationView = {
  readonly log: string;
  readonly conversation: string | null;
  readonly id: string;
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
  readonly person: string | null;
  readonly sender: string | null;
  readonly subscriber: string | null;
  readonly requeues: string | null;
  readonly count: number;
  readonly seq: number;
  readonly at: number;
  readonly lastAt: number;
  readonly expiresAt: number | null;
  readonly state: 'open' | 'offered' | 'closed';
  readonly receipt: Receipt;
  readonly markedBy: string | null;
  readonly outcome: string | null;
  readonly closedAt: number | null;
  readonly gate: boolean;
  readonly offers: number;
  readonly takenBy: string | null;
  readonly carrier: string | null;
};
type NotificationsPage = {
  readonly items: readonly NotificationView[];
  readonly next: string | null;
  readonly lookedBackTo?: number;
};
type Sent = {
  readonly seq: number;
  readonly at: number;
  readonly record: string;
  readonly conversation: string | null;
  readonly point: string | null;
  readonly on: string | null;
  readonly format: string | null;
  readonly item: string;
  readonly text: string;
  readonly repeated: boolean;
};
type StoryItem = {
  readonly notification: NotificationView;
  readonly verdict: Verdict;
  readonly steps: readonly {
    readonly at: number;
    readonly seq: number;
    readonly what: string;
    readonly detail: string | null;
    readonly call: string | null;
  }[];
  readonly ended: {
    readonly outcome: string;
    readonly by: string;
    readonly cause?: EndCause;
    readonly reason: string;
    readonly at: number;
  } | null;
  readonly now: readonly {
    readonly conversation: string;
    readonly decision: Decision;
  }[];
  readonly sent: readonly Sent[];
};
type Story = {
  readonly log: string;
  readonly id: string;
  readonly items: readonly StoryItem[];
};
type QueuedReply = {
  readonly kind: 'queued' | 'folded' | 'duplicate';
  readonly id: string;
  readonly into: string | null;
  readonly to: readonly string[];
  readonly loweredTo: Level | null;
};
type Effect = {
  readonly address: string;
  readonly host: string | null;
  readonly force: Force;
  readonly says: string;
};
type InterruptReply = {
  readonly kind: 'queued' | 'folded' | 'duplicate';
  readonly id: string;
  readonly into: string | null;
  readonly to: readonly string[];
  readonly loweredTo: Level | null;
  readonly effects: readonly Effect[];
};
type LiftedPause = {
  readonly log: string;
  readonly id: string;
  readonly conversation: string | null;
  readonly message: string;
  readonly person: string | null;
  readonly since: number;
  readonly notified: boolean;
};
type ResumeReply = {
  readonly effects: readonly Effect[];
  readonly lifted: readonly LiftedPause[];
};
type WithdrawReply = {
  readonly id: string;
  readonly result: 'withdrawn' | 'maybe_seen' | 'gate_lowered' | 'too_late' | 'folded' | 'unknown';
  readonly into?: string;
};
type ReceiptReply = {
  readonly id: string;
  readonly receipt: Receipt;
  readonly reached: boolean;
  readonly settled: boolean;
};
type SettingChange = {
  readonly label: string;
  readonly help: string;
  readonly form: {
    readonly kind: 'switch';
  } | {
    readonly kind: 'number';
    readonly min: number;
    readonly max: number;
  } | {
    readonly kind: 'choice';
    readonly words: readonly string[];
  } |
  {
    readonly kind: 'duration';
    readonly never: boolean;
  } | {
    readonly kind: 'list';
  };
  readonly addsUp: boolean;
  readonly takesEffect: string;
  readonly in: {
    readonly user: {
      readonly decidedBy: string | null;
      readonly set: boolean;
      readonly says: Json;
    };
    readonly project: {
      readonly decidedBy: string | null;
      readonly set: boolean;
      readonly says: Json;
    };
  };
};
type SettingReply = {
  readonly key: string;
  readonly value: Json;
  readonly text: string;
  readonly decidedBy: string;
  readonly expects: string;
  readonly env: string | null;
  readonly overridden: readonly {
    readonly text: string;
    readonly decidedBy: string;
  }[];
  readonly change: SettingChange | null;
};
type SettingsReply = {
  readonly project: string;
  readonly files: readonly {
    readonly scope: string;
    readonly file: string;
  }[];
  readonly places: {
    readonly user: {
      readonly file: string;
      readonly exists: boolean;
    };
    readonly project: {
      readonly file: string;
      readonly exists: boolean;
    };
  } | null;
  readonly problems: readonly string[];
  readonly settings: readonly SettingReply[];
};
type SubscriberItem = {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly version: string;
  readonly event_types: readonly string[];
  readonly priority: string;
  readonly inject_at: string;
  readonly core: boolean;
  readonly locked: string | null;
  readonly enabled: boolean;
  readonly from: {
    readonly folder: string;
    readonly file: string;
  };
  readonly spoke_last_7_days: number;
};
type SubscribersReply = {
  readonly project: string;
  readonly subscribers: readonly SubscriberItem[];
  readonly problems: readonly {
    readonly file: string;
    readonly severity: string;
    readonly message: string;
  }[];
};
type SubscriberTestReply = {
  readonly subscriber_id: string;
  readonly event_type: string;
  readonly inject_at: string;
  readonly enabled: boolean;
  readonly kind: string;
  readonly level: Level;
  readonly preview: string;
  readonly problem: string | null;
  readonly about: string | null;
  readonly real: Verdict | null;
  readonly to: string | null;
  readonly notification: string | null;
  readonly message: string;
  readonly verdict: Verdict | null;
};
type MuteView = {
  readonly log: string;
  readonly pattern: string;
  readonly until: number | null;
  readonly by: string;
};
type MutesReply = {
  readonly items: readonly MuteView[];
  readonly more: boolean;
};
type Problem = {
  readonly type: string;
  readonly title: string;
  readonly status: number;
  readonly detail: string;
  readonly code: string;
  readonly instance: string;
  readonly field?: string;
  readonly retryable?: boolean;
};
type Counts = {
  readonly info: number;
  readonly warning: number;
  readonly error: number;
  readonly critical: number;
};
type Doing = {
  readonly kind: 'tool' | 'thinking' | 'nothing';
  readonly what: string | null;
  readonly since: number | null;
  readonly conversation: string | null;
};
type ConversationSummary = {
  readonly conversation: string;
  readonly address: string;
  readonly purpose: string | null;
  readonly host: string | null;
  readonly hostVersion: string | null;
  readonly folder: string | null;
  readonly active: boolean;
  readonly paused: boolean;
  readonly startedAt: number;
  readonly seenAt: number;
  readonly carriedAt: number | null;
  readonly endedAt: number | null;
  readonly passedTo: {
    readonly conversation: string;
    readonly at: number;
  } | null;
  readonly turns: number;
  readonly carriers: readonly {
    readonly name: string;
    readonly at: number;
  }[];
  readonly points: readonly ContactPoint[];
  readonly pulls: boolean;
  readonly force: Force;
};
type Held = {
  readonly id: string;
  readonly kind: string;
  readonly action: string | null;
  readonly about: string;
  readonly by: string | null;
  readonly since: number;
  readonly until: number | null;
  readonly conversation: string | null;
  readonly refused: number;
};
type AgentSummary = {
  readonly log: string;
  readonly project: string;
  readonly agent: string;
  readonly open: Counts;
  readonly oldestOpenAt: number | null;
  readonly active: boolean;
  readonly paused: boolean;
  readonly held: Held | null;
  readonly asksSince: number | null;
  readonly failedAt: number | null;
  readonly doing: Doing;
  readonly lastContactAt: number | null;
  readonly hosts: readonly string[];
  readonly conversations: readonly ConversationSummary[];
};
type RecordsPage = {
  readonly items: readonly Stored[];
  readonly next: string | null;
  readonly head: number;
};
type Fork = {
  readonly conversation: string;
  readonly upTo: number;
  readonly at: number;
};
type ForksReply = {
  readonly origin: {
    readonly conversation: string;
    readonly upTo: number;
  } | null;
  readonly forks: readonly Fork[];
  readonly more: boolean;
  readonly turns: number | null;
};
type Hit = {
  readonly seq: number;
  readonly at: number;
  readonly type: string;
  readonly conversation: string | null;
  readonly name: string | null;
  readonly id: string | null;
  readonly text: string;
};
type SearchPage = {
  readonly items: readonly Hit[];
  readonly looked: number;
  readonly lookedBackTo: number | null;
  readonly next: string | null;
};
type EmittedReply = {
  readonly events: readonly {
    readonly id: string;
    readonly source: string;
    readonly type: string;
    readonly loweredTo: 'debug' | 'info' | 'warning' | 'error' | 'critical' | null;
    readonly heard: readonly {
      readonly subscriber: string;
      readonly kind: string;
      readonly ids: readonly string[];
      readonly because: string | null;
    }[];
  }[];
};
type Delivery = {
  readonly count: number;
  readonly p50Ms: number | null;
  readonly p95Ms: number | null;
};
type ActivityReply = {
  readonly project: string | null;
  readonly from: number;
  readonly to: number;
  readonly bucketMs: number;
  readonly buckets: readonly {
    readonly at: number;
    readonly queued: Counts;
    readonly delivered: Counts;
    readonly waiting: Counts;
    readonly tokens: number;
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
  readonly truncated: boolean;
};
type TaskView = {
  readonly id: string;
  readonly project: string;
  readonly title: string;
  readonly description: string;
  readonly priority: TaskPriority;
  readonly status: TaskStatus;
  readonly assignee: string | null;
  readonly blockedReason: string | null;
  readonly version: number;
  readonly createdAt: number;
  readonly createdBy: {
    readonly kind: 'person' | 'agent';
    readonly name: string;
  };
  readonly changedAt: number;
  readonly statusChangedAt: number;
  readonly statusChangedBy: {
    readonly kind: 'person' | 'agent';
    readonly name: string;
  };
  readonly execution: TaskExecution | null;
  readonly mayBecome: readonly TaskStatus[];
};
type Page<T> = {
  readonly items: readonly T[];
  readonly next: string | null;
};
type SettingScope = keyof SettingChange['in'];
declare class ApiError extends Error {
  readonly name = "ApiError";
  readonly status: number;
  readonly code: string;
  readonly retryable: boolean;
  readonly field: string | undefined;
  readonly instance: string | undefined;
  readonly retryAfterMs: number | undefined;
  constructor(status: number, problem: Pick<Problem, 'code' | 'detail'> & Partial<Problem>, more?: {
    retryAfterMs?: number | undefined;
    cause?: unknown;
  });
}
type StreamQuery = {
  readonly log?: string;
  readonly project?: string;
  readonly conversation?: string;
  readonly types?: readonly RecordType[];
  readonly after?: number;
};
type StreamOptions = StreamQuery & {
  readonly signal?: AbortSignal;
  readonly onState?: (state: StreamState) => void;
  readonly maxBackoffMs?: number;
};
type StreamState = {
  readonly kind: 'live';
  readonly after: number;
} | {
  readonly kind: 'away';
  readonly error: ApiError;
  readonly againInMs: number;
  readonly silentMs: number;
};
type Call = {
  readonly signal?: AbortSignal;
};
type InProject = Call & {
  readonly project?: string;
};
type Paged = Call & {
  readonly limit?: number;
};
type AddressText = string;
interface Client {
  readonly url: string;
  health(options?: Call): Promise<Health>;
  logIn(by: {
    readonly code: string;
  } | {
    readonly token: string;
  }): Promise<SessionReply>;
  session(options?: Call): Promise<SessionReply>;
  logOut(): Promise<void>;
  agents(query?: Paged & {
    readonly project?: string;
    readonly after?: string;
  }): Promise<Page<AgentSummary>>;
  conversations(agent: AddressText, query?: Paged & {
    readonly after?: string;
    readonly conversation?: string;
  }): Promise<Page<ConversationSummary>>;
  records(conversation: AddressText, query?: Paged & {
    readonly after?: number;
    readonly before?: number;
    readonly newest?: boolean;
  }): Promise<RecordsPage>;
  search(conversation: AddressText, query: Paged & {
    readonly q?: string;
    readonly from?: number;
    readonly to?: number;
    readonly before?: string;
  }): Promise<SearchPage>;
  forks(conversation: AddressText, query?: Call & {
    readonly at?: number;
  }): Promise<ForksReply>;
  log(query?: Paged & {
    readonly log?: string;
    readonly project?: string;
    readonly after?: number;
    readonly before?: number;
    readonly newest?: boolean;
  }): Promise<RecordsPage>;
  stream(options?: StreamOptions): AsyncGenerator<Stored, void, undefined>;
  say(conversation: AddressText, message: {
    readonly content: string;
    readonly author?: string;
    readonly level?: Level;
    readonly deliver?: Deliver;
  }, options?: Call & {
    readonly idempotencyKey?: string;
  }): Promise<QueuedReply>;
  interrupt(address: AddressText, asked: {
    readonly action: Exclude<Action, 'resume'>;
    readonly message?: string;
    readonly instruction?: string;
    readonly author?: string;
  }, options?: Call & {
    readonly idempotencyKey?: string;
  }): Promise<InterruptReply>;
  resume(address: AddressText, asked?: {
    readonly message?: string;
    readonly author?: string;
  }, options?: Call): Promise<ResumeReply>;
  queue(notification: NotificationInput & {
    readonly to: string;
  }, options?: Call & {
    readonly idempotencyKey?: string;
  }): Promise<QueuedReply>;
  notifications(query?: Paged & {
    readonly log?: string;
    readonly project?: string;
    readonly conversation?: string;
    readonly state?: 'open' | 'closed' | 'all';
    readonly source?: string;
    readonly level?: Level;
    readonly kind?: string;
    readonly from?: number;
    readonly to?: number;
    readonly by?: 'queued' | 'delivered' | 'waiting';
    readonly q?: string;
    readonly before?: string | number;
  }): Promise<NotificationsPage>;
  why(id: string, log?: string, options?: Call): Promise<Story>;
  withdraw(id: string, options?: Call & {
    readonly log?: string;
    readonly reason?: string;
  }): Promise<WithdrawReply>;
  read(id: string, options?: Call & {
    readonly log?: string;
  }): Promise<ReceiptReply>;
  requeue(id: string, options?: Call & {
    readonly log?: string;
  }): Promise<QueuedReply>;
  receipt(id: string, options?: Call & {
    readonly log?: string;
    readonly until?: ReceiptName;
    readonly withinMs?: number;
  }): Promise<ReceiptReply>;
  emit(events: CloudEventInput | readonly CloudEventInput[], options?: Call): Promise<EmittedReply>;
  subscribers(query?: Call & {
    readonly project?: string;
  }): Promise<SubscribersReply>;
  toggleSubscriber(id: string, enabled: boolean, query?: Call & {
    readonly project?: string;
  }): Promise<SubscriberItem>;
  testSubscriber(id: string, query?: Call & {
    readonly project?: string;
    readonly to?: AddressText;
    readonly for?: AddressText;
  }): Promise<SubscriberTestReply>;
  disabledSubscribers(query?: Call & {
    readonly project?: string;
  }): Promise<readonly string[]>;
  setDisabledSubscribers(ids: readonly string[], query?: Call & {
    readonly project?: string;
  }): Promise<readonly string[]>;
  mutes(query?: Call & {
    readonly log?: string;
    readonly project?: string;
  }): Promise<MutesReply>;
  mute(log: string, pattern: string, options?: Call & {
    readonly until?: number | null;
  }): Promise<MutesReply>;
  unmute(log: string, pattern: string, options?: Call): Promise<MutesReply>;
  settings(options?: Call): Promise<SettingsReply>;
  changeSettings(settings: Readonly<Record<string, boolean | number | string | readonly string[] | null>>, options?: Call & {
    readonly scope?: SettingScope;
  }): Promise<SettingsReply>;
  activity(query?: Call & {
    readonly project?: string;
    readonly from?: number;
    readonly to?: number;
    readonly bucketMs?: number;
  }): Promise<ActivityReply>;
  tasks(query?: Paged & {
    readonly project?: string;
    readonly status?: TaskStatus | readonly TaskStatus[];
    readonly assignee?: string;
    readonly open?: boolean;
    readonly before?: string;
  }): Promise<Page<TaskView>>;
  task(id: string, options?: InProject): Promise<TaskView>;
  createTask(task: {
    readonly title: string;
    readonly project?: string;
    readonly description?: string;
    readonly priority?: TaskPriority;
    readonly assignee?: string | null;
    readonly status?: 'backlog' | 'todo';
    readonly author?: string;
  }, options?: Call & {
    readonly idempotencyKey?: string;
  }): Promise<TaskView>;
  editTask(id: string, edit: {
    readonly title?: string;
    readonly description?: string;
    readonly priority?: TaskPriority;
    readonly assignee?: string | null;
    readonly expected?: TaskStatus | number;
    readonly author?: string;
  }, options?: InProject): Promise<TaskView>;
  moveTask(id: string, to: {
    readonly status: TaskStatus;
    readonly expected?: TaskStatus | number;
    readonly reason?: string;
    readonly author?: string;
  }, options?: InProject): Promise<TaskView>;
  taskExecutions(id: string, options?: InProject): Promise<Page<TaskExecution>>;
  tokens(options?: Call): Promise<Page<TokenInfo>>;
  createToken(token: TokenRequest, options?: Call): Promise<CreatedToken>;
  revokeToken(id: string, options?: Call): Promise<void>;
  call<T>(method: string, path: string, options?: CallOptions): Promise<T>;
}
type CloudEventInput = {
  readonly specversion?: '1.0';
  readonly id: string;
  readonly source: string;
  readonly type: string;
  readonly subject?: string;
  readonly time?: string;
  readonly datacontenttype?: string;
  readonly data?: Json;
  readonly [extension: string]: Json | undefined;
};
type Query = Readonly<Record<string, string | number | boolean | undefined>>;
type CallOptions = Call & {
  readonly query?: Query;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  readonly forMs?: number;
  readonly alsoStatus?: number;
};
type ClientOptions = {
  readonly url?: string;
  readonly token?: string;
  readonly fetch?: typeof fetch;
  readonly timeoutMs?: number;
};
declare function createClient(options?: ClientOptions): Client;
export {
  ApiError,
  type Client,
  type ClientOptions,
  type RecordType,
  type StreamOptions,
  type StreamQuery,
  type StreamState,
  createClient,
};
