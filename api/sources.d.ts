import { Writable } from "node:stream";
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
type Outcome$1 = (typeof OUTCOMES)[number];
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
  readonly outcome: Outcome$1;
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
type Item = {
  readonly id: NotificationId;
  readonly audience: ConversationId;
  readonly notification: Notification;
  readonly seq: number;
  readonly at: number;
  readonly clock?: number;
  readonly state: 'open' | 'offered' | 'closed';
  readonly outcome?: Outcome$1 | 'delivered' | 'folded' | 'left_out';
  readonly takenBy?: ConversationId;
  readonly passedFrom?: ConversationId;
  readonly merged?: true;
  readonly carrier?: CarrierId;
  readonly owner?: Owner;
  readonly until?: number;
  readonly inSummary?: true;
  readonly offers: number;
  readonly text?: string;
  readonly group?: readonly NotificationId[];
  readonly gate: boolean;
  readonly read: boolean;
  readonly markedBy?: string;
  readonly observed: boolean;
  readonly count: number;
  readonly lastAt: number;
  readonly differs: readonly {
    readonly message?: string;
    readonly data?: Json;
  }[];
  readonly closedAt?: number;
  readonly history: readonly number[];
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
  readonly outcome: Outcome$1;
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
type Task = {
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
  readonly createdBy: TaskActor;
  readonly changedAt: number;
  readonly statusChangedAt: number;
  readonly statusChangedBy: TaskActor;
  readonly executions: readonly TaskExecution[];
};
declare const SEVERITIES: readonly ["debug", "info", "warning", "error", "critical"];
type Severity = (typeof SEVERITIES)[number];
type Event = {
  readonly id: string;
  readonly type: string;
  readonly source: string;
  readonly subject: string;
  readonly time: number;
  readonly severity: Severity;
  readonly data: Readonly<Record<string, Json>>;
  readonly message?: string;
  readonly key?: string;
  readonly about?: string;
  readonly supersede?: boolean;
  readonly deliver?: Deliver;
  readonly ttlMs?: number;
  readonly purpose?: string;
  readonly origin?: Partial<Origin>;
};
type EventInput = Pick<Event, 'type' | 'source' | 'subject'> & Partial<Event>;
type Handled = {
  readonly subscriber: string;
  readonly kind: 'queued' | 'folded' | 'duplicate';
  readonly id: string;
} |
{
  readonly subscriber: string;
  readonly kind: 'withdrew';
  readonly ids: readonly string[];
} | {
  readonly subscriber: string;
  readonly kind: 'skipped';
  readonly because: string;
};
type Emitted = {
  readonly event: Event;
  readonly heard: readonly Handled[];
};
interface Emitter {
  emit(event: EventInput): Promise<Emitted>;
}
type Queued = {
  readonly kind: 'queued';
  readonly id: NotificationId;
  readonly to: readonly string[];
} |
{
  readonly kind: 'folded';
  readonly id: NotificationId;
  readonly into: NotificationId;
  readonly to: readonly string[];
} |
{
  readonly kind: 'duplicate';
  readonly id: NotificationId;
  readonly to: readonly string[];
};
type Withdrawn = {
  readonly id: NotificationId;
  readonly result: 'withdrawn' | 'maybe_seen' | 'gate_lowered' | 'too_late' | 'folded' | 'unknown';
  readonly into?: NotificationId;
};
type Offer$1 = {
  readonly carrier: CarrierId;
  readonly view: SentView;
  readonly ids: readonly NotificationId[];
  readonly states: ReadonlyMap<string, number>;
  confirm(): Promise<'confirmed' | 'late'>;
  release(reason: ReleasedRecord['reason']): Promise<void>;
  reopen(): Promise<void>;
};
type PulledNotification = {
  readonly id: string;
  readonly type: string;
  readonly agent?: string;
  readonly action: string | null;
  readonly level: string;
  readonly message: string;
  readonly instruction: string | null;
  readonly created_at: string;
  readonly task_id?: string;
  readonly data?: Json;
  readonly count?: number;
  readonly from?: string;
  readonly repeated?: true;
  readonly holds?: string;
  readonly all_of_it?: string;
};
type Contents = {
  readonly notifications: readonly PulledNotification[];
  readonly withheld: readonly {
    readonly tool: string;
    readonly at: string;
    readonly result: string;
  }[];
};
type Pulled = Contents & {
  readonly more: number;
  readonly offer?: Offer$1;
  readonly states?: Offer$1['states'];
};
type Lifted = {
  readonly log: LogKey;
  readonly id: NotificationId;
  readonly conversation: ConversationId | null;
  readonly message: string;
  readonly person: string | null;
  readonly since: number;
  readonly notified: boolean;
};
type Step = {
  readonly at: number;
  readonly seq: number;
  readonly what: string;
  readonly detail?: string;
  readonly call?: string;
};
type Why = {
  readonly log: LogKey;
  readonly id: NotificationId;
  readonly items: readonly {
    readonly item: Item;
    readonly receipt: Receipt;
    readonly steps: readonly Step[];
    readonly verdict: Verdict;
    readonly now: readonly {
      readonly conversation: ConversationId;
      readonly decision: Decision;
    }[];
  }[];
};
type ReceiptState = {
  readonly receipt: Receipt;
  readonly reached: boolean;
  readonly settled: boolean;
};
declare const PRIORITIES: readonly ['critical', 'high', 'normal', 'low'];
type Priority = (typeof PRIORITIES)[number];
declare const INJECTION_POINTS: readonly ['immediate', 'turn_start', 'after_tool', 'turn_end'];
type InjectAt = (typeof INJECTION_POINTS)[number];
type Subscriber = {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly version: string;
  readonly events: {
    readonly types: readonly string[];
    readonly severityFilter: Severity;
    readonly sources?: readonly string[];
  };
  readonly batching: {
    readonly windowMs: number;
    readonly maxSize: number;
    readonly dedupeKey?: readonly string[];
    readonly dedupeWindowMs: number;
  };
  readonly output: {
    readonly priority: Priority;
    readonly injectAt: InjectAt;
    readonly template?: Template;
    readonly core: boolean;
    readonly kind?: string;
    readonly supersede: boolean;
  };
  readonly withdraw?: {
    readonly types: readonly string[];
  };
  readonly condition?: {
    readonly expression: string;
  };
  readonly from: {
    readonly folder: FolderName;
    readonly file: string;
  };
};
type Template = {
  readonly name: string;
  readonly text: string;
  readonly hash: string;
};
declare const FOLDERS: readonly ['shipped', 'user', 'project', 'program'];
type FolderName = (typeof FOLDERS)[number];
type SubscriberProblem = {
  readonly file: string;
  readonly line?: number;
  readonly column?: number;
  readonly severity: 'error' | 'warning';
  readonly message: string;
};
type SubscriberSet = {
  readonly subscribers: readonly Subscriber[];
  readonly held?: readonly Subscriber[];
  readonly problems: readonly SubscriberProblem[];
};
interface SubscriberSource {
  of(project: string): SubscriberSet;
}
type ConversationOptions = {
  readonly points?: readonly ContactPoint[];
  readonly view?: ViewName;
  readonly purpose?: string;
  readonly host?: string;
  readonly hostVersion?: string;
  readonly pulls?: boolean;
  readonly shared?: boolean;
  readonly folder?: string;
};
type Message = {
  readonly text: string;
  readonly view: string | undefined;
  readonly ids: readonly string[];
  readonly seq: number;
};
type ToolResult = {
  readonly id: string;
  readonly content: string;
  readonly isError?: boolean;
  readonly name?: string;
  readonly known?: Readonly<Record<string, number>>;
};
type Refusal$1 = {
  readonly text: string;
  readonly ids: readonly string[];
  readonly repeated: boolean;
};
declare const RELEASE_REASONS: readonly ["cancelled", "write_error", "too_big", "client_died", "shutdown"];
type ReleaseReason = (typeof RELEASE_REASONS)[number];
type OfferOptions = {
  readonly at?: ContactPoint;
  readonly on?: string;
  readonly maxChars?: number;
};
type Offer = {
  readonly id: string;
  readonly text: string;
  readonly ids: readonly string[];
  readonly repeated: boolean;
  confirm(): Promise<'confirmed' | 'late'>;
  release(reason?: ReleaseReason): Promise<void>;
};
type Notifications = Pick<Pulled, 'notifications' | 'more' | 'withheld'> & {
  confirm(): Promise<void>;
  release(reason?: ReleaseReason): Promise<void>;
};
type Preview = {
  readonly text: string | undefined;
  readonly ids: readonly string[];
  readonly decisions: readonly Decision[];
};
declare class Conversation {
  #private;
  readonly address: string;
  constructor(inner: {
    readonly address: string;
  });
  userMessage(text: string, options?: {
    readonly author?: string;
  }): Promise<Message>;
  toolResult(result: ToolResult): Promise<Message>;
  batchEnded(): Promise<void>;
  refuse(tool: string): Promise<Refusal$1 | undefined>;
  offer(options?: OfferOptions): Promise<Offer | undefined>;
  notifications(options?: {
    readonly mark?: boolean;
    readonly limit?: number;
  }): Promise<Notifications>;
  preview(options?: {
    readonly at?: ContactPoint;
  }): Promise<Preview>;
  transcript(): AsyncIterable<Stored>;
  end(): Promise<void>;
}
type Subscribers = {
  readonly subscribers: readonly Pick<Subscriber, 'id' | 'name' | 'description' | 'events' | 'from'>[];
  readonly problems: readonly SubscriberProblem[];
};
declare class Events {
  #private;
  constructor(inbox: object);
  emit(event: EventInput): Promise<Emitted>;
  subscribers(): Subscribers;
  toggle(id: string, options: {
    readonly on: boolean;
    readonly by: string;
  }): Promise<boolean>;
}
type TaskInput = {
  readonly title: string;
  readonly description?: string | undefined;
  readonly priority?: TaskPriority | undefined;
  readonly assignee?: string | null | undefined;
  readonly status?: 'backlog' | 'todo' | undefined;
};
type TaskEdit = {
  readonly title?: string | undefined;
} & Pick<TaskInput, 'description' | 'priority' | 'assignee'>;
type TaskQuery = {
  readonly statuses?: readonly TaskStatus[];
  readonly assignee?: string;
  readonly before?: string;
  readonly limit?: number;
};
type TaskChange = {
  readonly by: TaskActor;
  readonly expected?: TaskStatus | number;
};
declare class Tasks {
  #private;
  constructor(inbox: object);
  create(task: TaskInput, options: {
    readonly by: TaskActor;
    readonly once?: string;
  }): Promise<Task>;
  get(id: string): Promise<Task>;
  list(query?: TaskQuery): Promise<{
    readonly tasks: readonly Task[];
    readonly next: string | null;
  }>;
  edit(id: string, edit: TaskEdit, change: TaskChange): Promise<Task>;
  assign(id: string, assignee: string | null, change: TaskChange): Promise<Task>;
  move(id: string, to: TaskStatus, change: TaskChange & {
    readonly reason?: string;
  }): Promise<Task>;
}
type ReceiptOptions = {
  readonly until?: ReceiptName;
  readonly withinMs?: number;
  readonly signal?: AbortSignal;
  readonly of?: string;
};
type Active = {
  readonly address: string;
  readonly host: string | undefined;
  readonly purpose: string | undefined;
  readonly startedAt: number;
  readonly seenAt: number;
};
declare class Earpiece implements AsyncDisposable {
  #private;
  readonly project: string;
  readonly events: Events;
  readonly tasks: Tasks;
  constructor(inbox: object);
  queue(to: string, notification: NotificationInput): Promise<Queued>;
  conversation(name: string, options?: ConversationOptions): Conversation;
  receipt(id: string, options?: ReceiptOptions): Promise<ReceiptState>;
  waiting(of: string): Promise<readonly Item[]>;
  withdraw(from: string, what: {
    readonly id: string;
  } | {
    readonly key: string;
  }, why: {
    readonly by: string;
    readonly reason: string;
  }): Promise<readonly Withdrawn[]>;
  requeue(of: string, id: string, options: {
    readonly by: string;
  }): Promise<Queued>;
  resume(of: string, options: {
    readonly person: string;
    readonly message?: string;
  }): Promise<readonly Lifted[]>;
  mute(of: string, kind: string, options: {
    readonly by: string;
    readonly forMs?: number;
    readonly off?: boolean;
  }): Promise<void>;
  why(id: string, options?: {
    readonly of?: string;
  }): Promise<Why | undefined>;
  watch(query?: {
    readonly of?: string;
    readonly types?: readonly RecordType[];
    readonly after?: number;
    readonly signal?: AbortSignal;
  }): AsyncIterable<Stored>;
  active(): Promise<readonly Active[]>;
  sweep(): Promise<void>;
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}
type Hash = `sha256:${string}` | `stat:${string}`;
type Source = {
  readonly name: string;
  start(): Promise<void>;
  stop(): Promise<void>;
};
type FilesOptions$1 = {
  readonly emitter: Emitter;
  readonly subject: string;
  readonly root: string;
  readonly globs?: readonly string[];
  readonly debounceMs?: number;
  readonly maxFiles?: number;
  readonly known?: Readonly<Record<string, string>>;
  readonly onTrouble?: (line: string) => void;
};
type FileContent = string | Uint8Array | {
  readonly hash: string;
};
type FilesSource = Source & {
  noteRead(path: string, content?: FileContent): Promise<void>;
  noteWrite(path: string, content?: FileContent): Promise<void>;
  withOwnWrite<T>(paths: string | readonly string[], write: () => T | Promise<T>): Promise<T>;
  known(): Readonly<Record<string, Hash>>;
  about(path: string): string;
};
declare const WEBHOOK_KINDS: readonly ['cloudevents', 'github', 'standard', 'alertmanager', 'json'];
type WebhookKind = (typeof WEBHOOK_KINDS)[number];
type WebhookMap = {
  readonly type?: string;
  readonly id?: string;
  readonly severity?: string;
  readonly message?: string;
  readonly subject?: string;
  readonly time?: string;
  readonly data?: string;
};
type WebhookSettings = {
  readonly kind: WebhookKind;
  readonly to: string;
  readonly secretEnv: string;
  readonly signatureHeader?: string;
  readonly map?: WebhookMap;
};
type WebhookReceiver = Omit<WebhookSettings, 'secretEnv'> & {
  readonly name: string;
  readonly secret: Buffer;
};
type Refusal = {
  readonly kind: 'refused';
  readonly status: 200 | 400 | 401 | 413 | 415 | 422;
  readonly code: 'unsigned' | 'wrong_signature' | 'too_old' | 'replayed' | 'too_big' | 'wrong_content_type' | 'malformed' | 'too_deep' | 'bad_event';
  readonly reason: string;
};
type Headers = Readonly<Record<string, string | undefined>>;
type WebhookRequest = {
  readonly headers: Headers;
  readonly body: Buffer;
  readonly receiver: WebhookReceiver;
  readonly now: number;
  readonly clock?: number;
  readonly seen?: (delivery: string) => boolean;
};
type Received =
{
  readonly kind: 'events';
  readonly events: readonly EventInput[];
  readonly deliveries: readonly string[];
} | Refusal;
type GitOptions$1 = {
  readonly emitter: Emitter;
  readonly subject: string;
  readonly root: string;
  readonly debounceMs?: number;
  readonly pollMs?: number;
  readonly fetchEveryMs?: number;
  readonly onTrouble?: (line: string) => void;
  readonly program?: string;
};
type GitSource = Source & {
  withOwnCommand<T>(command: () => T | Promise<T>): Promise<T>;
  noteOwnChange(): Promise<void>;
};
type Outcome = {
  readonly kind: 'exited';
  readonly code: number;
  readonly timedOut: boolean;
  readonly readerClosed?: true;
} | {
  readonly kind: 'killed';
  readonly signal: string;
  readonly timedOut: boolean;
  readonly readerClosed?: true;
} |
{
  readonly kind: 'not_started';
  readonly code: 126 | 127;
  readonly reason: string;
};
type RunAndTellOptions$1 = {
  readonly command: string;
  readonly args?: readonly string[];
  readonly emitter: Emitter;
  readonly subject: string;
  readonly cwd?: string;
  readonly env?: NodeJS.ProcessEnv;
  readonly name?: string | undefined;
  readonly lines?: number;
  readonly levelOnFailure?: Level;
  readonly timeoutMs?: number | undefined;
  readonly forwardSignals?: boolean;
  readonly stdout?: Writable;
  readonly stderr?: Writable;
  readonly withoutTerminal?: () => void;
  readonly tellWithinMs?: number;
};
type RanAndTold = {
  readonly exitCode: number;
  readonly outcome: Outcome;
  readonly event: Event;
  readonly telling: {
    readonly kind: 'told';
    readonly emitted: Emitted;
  } | {
    readonly kind: 'untold';
    readonly error: unknown;
  };
};
declare const REMINDER_LEVELS: readonly ["info", "warning", "error"];
type ReminderLevel = (typeof REMINDER_LEVELS)[number];
type When = {
  readonly at: number;
} | {
  readonly afterTurns: number;
};
type Reminder = {
  readonly subject: string;
  readonly message: string;
  readonly when: When | {
    readonly inMs: number;
  };
  readonly key?: string | undefined;
  readonly level?: ReminderLevel;
  readonly ttlMs?: number | undefined;
};
type Timers = {
  remind(reminder: Reminder): Promise<Emitted>;
};
type Of<Options> = Omit<Options, 'emitter'> & {
  readonly earpiece: Earpiece;
};
type FilesOptions = Of<FilesOptions$1>;
type GitOptions = Of<GitOptions$1>;
type RunAndTellOptions = Of<RunAndTellOptions$1>;
declare const filesSource: (options: FilesOptions) => FilesSource;
declare const gitSource: (options: GitOptions) => GitSource;
declare const runAndTell: (options: RunAndTellOptions) => Promise<RanAndTold>;
declare const timersSource: (options: {
  readonly earpiece: Earpiece;
}) => Timers;
declare function parseWhen(text: string, here: {
  readonly now: number;
  readonly timeZone: string;
}): Promise<When>;
declare function receiverFrom(name: string, settings: WebhookSettings, env: Readonly<Record<string, string | undefined>>): {
  readonly kind: 'ready';
  readonly receiver: WebhookReceiver;
} | {
  readonly kind: 'problem';
  readonly problem: string;
};
declare function receive(request: WebhookRequest): Received;
declare const subscriberFolders: (options: {
  readonly root: string;
  readonly shipped?: boolean;
}) => SubscriberSource;
export {
  FilesOptions,
  type FilesSource,
  GitOptions,
  type GitSource,
  type RanAndTold,
  type Received,
  type Reminder,
  RunAndTellOptions,
  type Source,
  type Subscriber,
  type SubscriberProblem,
  type SubscriberSource,
  type Timers,
  type WebhookReceiver,
  type WebhookRequest,
  type WebhookSettings,
  type When,
  filesSource,
  gitSource,
  parseWhen,
  receive,
  receiverFrom,
  runAndTell,
  subscriberFolders,
  timersSource,
};
