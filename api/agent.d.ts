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
type Action$1 = (typeof ACTIONS)[number];
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
  readonly action?: Action$1;
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
  readonly action?: Action$1;
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
type Item = {
  readonly id: NotificationId;
  readonly audience: ConversationId;
  readonly notification: Notification;
  readonly seq: number;
  readonly at: number;
  readonly clock?: number;
  readonly state: 'open' | 'offered' | 'closed';
  readonly outcome?: Outcome | 'delivered' | 'folded' | 'left_out';
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
  readonly action: Action$1 | null;
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
type ToolResult$1 = {
  readonly id: string;
  readonly content: string;
  readonly isError?: boolean;
  readonly name?: string;
  readonly known?: Readonly<Record<string, number>>;
};
type Refusal = {
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
  toolResult(result: ToolResult$1): Promise<Message>;
  batchEnded(): Promise<void>;
  refuse(tool: string): Promise<Refusal | undefined>;
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
// oxlint-disable-next-line typescript/no-explicit-any -- an interface is assignable only to an index signature of this type
type JSONSchema7 = {
  [keyword: string]: any;
};
type SharedV4ProviderReference = Record<string, string> & {
  type?: never;
};
interface SharedV4FileDataData {
  type: 'data';
  data: Uint8Array | string;
}
interface SharedV4FileDataUrl {
  type: 'url';
  url: URL;
  originalUrl?: string;
}
interface SharedV4FileDataReference {
  type: 'reference';
  reference: SharedV4ProviderReference;
}
interface SharedV4FileDataText {
  type: 'text';
  text: string;
}
type SharedV4FileData = SharedV4FileDataData | SharedV4FileDataUrl | SharedV4FileDataReference | SharedV4FileDataText;
type SharedV4Headers = Record<string, string>;
type JSONValue = null | string | number | boolean | Readonly<JSONObject> | readonly JSONValue[];
type JSONObject = {
  [key: string]: JSONValue | undefined;
};
type SharedV4ProviderMetadata = Record<string, JSONObject>;
type SharedV4ProviderOptions = Record<string, JSONObject>;
type SharedV4Warning = {
  type: 'unsupported';
  feature: string;
  details?: string;
} | {
  type: 'compatibility';
  feature: string;
  details?: string;
} | {
  type: 'deprecated';
  setting: string;
  message: string;
} | {
  type: 'other';
  message: string;
};
type LanguageModelV4CustomContent = {
  type: 'custom';
  kind: `${string}.${string}`;
  providerMetadata?: SharedV4ProviderMetadata;
};
type LanguageModelV4File = {
  type: 'file';
  mediaType: string;
  data: SharedV4FileDataData | SharedV4FileDataUrl;
  providerMetadata?: SharedV4ProviderMetadata;
};
type LanguageModelV4Reasoning = {
  type: 'reasoning';
  text: string;
  providerMetadata?: SharedV4ProviderMetadata;
};
type LanguageModelV4ReasoningFile = {
  type: 'reasoning-file';
  mediaType: string;
  data: SharedV4FileDataData | SharedV4FileDataUrl;
  providerMetadata?: SharedV4ProviderMetadata;
};
type LanguageModelV4Source = {
  type: 'source';
  sourceType: 'url';
  id: string;
  url: string;
  title?: string;
  providerMetadata?: SharedV4ProviderMetadata;
} | {
  type: 'source';
  sourceType: 'document';
  id: string;
  mediaType: string;
  title: string;
  filename?: string;
  providerMetadata?: SharedV4ProviderMetadata;
};
type LanguageModelV4Citation = {
  source: LanguageModelV4Source;
  startIndex?: number;
  endIndex?: number;
  citedText?: string;
};
type LanguageModelV4Text = {
  type: 'text';
  text: string;
  citations?: Array<LanguageModelV4Citation>;
  providerMetadata?: SharedV4ProviderMetadata;
};
type LanguageModelV4ToolApprovalRequest = {
  type: 'tool-approval-request';
  approvalId: string;
  toolCallId: string;
  providerMetadata?: SharedV4ProviderMetadata;
};
type LanguageModelV4ToolCall = {
  type: 'tool-call';
  toolCallId: string;
  toolName: string;
  input: string;
  providerExecuted?: boolean;
  dynamic?: boolean;
  providerMetadata?: SharedV4ProviderMetadata;
};
type LanguageModelV4ToolResult = {
  type: 'tool-result';
  toolCallId: string;
  toolName: string;
  result: NonNullable<JSONValue>;
  isError?: boolean;
  preliminary?: boolean;
  dynamic?: boolean;
  providerMetadata?: SharedV4ProviderMetadata;
};
type LanguageModelV4Content = LanguageModelV4Text | LanguageModelV4Reasoning | LanguageModelV4CustomContent | LanguageModelV4ReasoningFile | LanguageModelV4File | LanguageModelV4ToolApprovalRequest | LanguageModelV4Source | LanguageModelV4ToolCall | LanguageModelV4ToolResult;
type LanguageModelV4FinishReason = {
  unified: 'stop' | 'length' | 'content-filter' | 'tool-calls' | 'error' | 'interrupted' | 'other';
  raw: string | undefined;
};
interface LanguageModelV4ResponseMetadata {
  id?: string;
  timestamp?: Date;
  modelId?: string;
}
type LanguageModelV4Usage = {
  inputTokens: {
    total: number | undefined;
    noCache: number | undefined;
    cacheRead: number | undefined;
    cacheWrite: number | undefined;
  };
  outputTokens: {
    total: number | undefined;
    text: number | undefined;
    reasoning: number | undefined;
  };
  raw?: JSONObject;
};
type LanguageModelV4GenerateResult = {
  content: Array<LanguageModelV4Content>;
  structuredOutputText?: string;
  finishReason: LanguageModelV4FinishReason;
  usage: LanguageModelV4Usage;
  providerMetadata?: SharedV4ProviderMetadata;
  request?: {
    url?: string;
    body?: unknown;
  };
  response?: LanguageModelV4ResponseMetadata & {
    headers?: SharedV4Headers;
    body?: unknown;
  };
  warnings: Array<SharedV4Warning>;
};
type LanguageModelV4FunctionTool = {
  type: 'function';
  name: string;
  description?: string;
  inputSchema: JSONSchema7;
  inputExamples?: Array<{
    input: JSONObject;
  }>;
  strict?: boolean;
  providerOptions?: SharedV4ProviderOptions;
};
type LanguageModelV4Prompt = Array<LanguageModelV4Message>;
type LanguageModelV4Message = ({
  role: 'system';
  content: string;
} | {
  role: 'user';
  content: Array<LanguageModelV4TextPart | LanguageModelV4FilePart>;
} | {
  role: 'assistant';
  content: Array<LanguageModelV4TextPart | LanguageModelV4FilePart | LanguageModelV4CustomPart | LanguageModelV4ReasoningPart | LanguageModelV4ReasoningFilePart | LanguageModelV4ToolCallPart | LanguageModelV4ToolResultPart>;
} | {
  role: 'tool';
  content: Array<LanguageModelV4ToolResultPart | LanguageModelV4ToolApprovalResponsePart>;
}) & {
  providerOptions?: SharedV4ProviderOptions;
};
interface LanguageModelV4TextPart {
  type: 'text';
  text: string;
  providerOptions?: SharedV4ProviderOptions;
}
interface LanguageModelV4ReasoningPart {
  type: 'reasoning';
  text: string;
  providerOptions?: SharedV4ProviderOptions;
}
interface LanguageModelV4ReasoningFilePart {
  type: 'reasoning-file';
  data: SharedV4FileDataData | SharedV4FileDataUrl;
  mediaType: string;
  providerOptions?: SharedV4ProviderOptions;
}
interface LanguageModelV4CustomPart {
  type: 'custom';
  kind: `${string}.${string}`;
  providerOptions?: SharedV4ProviderOptions;
}
interface LanguageModelV4FilePart {
  type: 'file';
  filename?: string;
  data: SharedV4FileData;
  mediaType: string;
  providerOptions?: SharedV4ProviderOptions;
}
interface LanguageModelV4ToolCallPart {
  type: 'tool-call';
  toolCallId: string;
  toolName: string;
  input: unknown;
  providerExecuted?: boolean;
  providerOptions?: SharedV4ProviderOptions;
}
interface LanguageModelV4ToolResultPart {
  type: 'tool-result';
  toolCallId: string;
  toolName: string;
  output: LanguageModelV4ToolResultOutput;
  providerOptions?: SharedV4ProviderOptions;
}
interface LanguageModelV4ToolApprovalResponsePart {
  type: 'tool-approval-response';
  approvalId: string;
  approved: boolean;
  reason?: string;
  providerOptions?: SharedV4ProviderOptions;
}
type LanguageModelV4ToolResultOutput = {
  type: 'text';
  value: string;
  providerOptions?: SharedV4ProviderOptions;
} | {
  type: 'json';
  value: JSONValue;
  providerOptions?: SharedV4ProviderOptions;
} | {
  type: 'execution-denied';
  reason?: string;
  providerOptions?: SharedV4ProviderOptions;
} | {
  type: 'error-text';
  value: string;
  providerOptions?: SharedV4ProviderOptions;
} | {
  type: 'error-json';
  value: JSONValue;
  providerOptions?: SharedV4ProviderOptions;
} | {
  type: 'content';
  value: Array<{
    type: 'text';
    text: string;
    providerOptions?: SharedV4ProviderOptions;
  } | {
    type: 'file';
    data: SharedV4FileData;
    mediaType: string;
    filename?: string;
    providerOptions?: SharedV4ProviderOptions;
  } | {
    type: 'custom';
    providerOptions?: SharedV4ProviderOptions;
  }>;
};
type LanguageModelV4ProviderTool = {
  type: 'provider';
  id: `${string}.${string}`;
  name: string;
  args: Record<string, unknown>;
};
type LanguageModelV4ToolChoice = {
  type: 'auto';
} | {
  type: 'none';
} | {
  type: 'required';
} | {
  type: 'tool';
  toolName: string;
};
type LanguageModelV4CallOptions = {
  prompt: LanguageModelV4Prompt;
  maxOutputTokens?: number;
  temperature?: number;
  stopSequences?: string[];
  topP?: number;
  topK?: number;
  presencePenalty?: number;
  frequencyPenalty?: number;
  responseFormat?: {
    type: 'text';
  } | {
    type: 'json';
    schema?: JSONSchema7;
    name?: string;
    description?: string;
  };
  seed?: number;
  tools?: Array<LanguageModelV4FunctionTool | LanguageModelV4ProviderTool>;
  toolChoice?: LanguageModelV4ToolChoice;
  includeRawChunks?: boolean;
  abortSignal?: AbortSignal;
  headers?: Record<string, string | undefined>;
  reasoning?: 'provider-default' | 'none' | 'minimal' | 'low' | 'medium' | 'high' | 'xhigh' | 'max';
  providerOptions?: SharedV4ProviderOptions;
};
type LanguageModelV4StreamPart = {
  type: 'text-start';
  providerMetadata?: SharedV4ProviderMetadata;
  id: string;
} | {
  type: 'text-delta';
  id: string;
  providerMetadata?: SharedV4ProviderMetadata;
  delta: string;
} | {
  type: 'text-end';
  citations?: Array<LanguageModelV4Citation>;
  providerMetadata?: SharedV4ProviderMetadata;
  id: string;
} | {
  type: 'reasoning-start';
  providerMetadata?: SharedV4ProviderMetadata;
  id: string;
} | {
  type: 'reasoning-delta';
  id: string;
  providerMetadata?: SharedV4ProviderMetadata;
  delta: string;
} | {
  type: 'reasoning-end';
  id: string;
  providerMetadata?: SharedV4ProviderMetadata;
} | {
  type: 'tool-input-start';
  id: string;
  toolName: string;
  inputEncoding?: 'json' | 'text';
  providerMetadata?: SharedV4ProviderMetadata;
  providerExecuted?: boolean;
  dynamic?: boolean;
  title?: string;
} | {
  type: 'tool-input-delta';
  id: string;
  delta: string;
  providerMetadata?: SharedV4ProviderMetadata;
} | {
  type: 'tool-input-end';
  id: string;
  providerMetadata?: SharedV4ProviderMetadata;
} | LanguageModelV4ToolApprovalRequest | LanguageModelV4ToolCall | LanguageModelV4ToolResult | LanguageModelV4CustomContent | LanguageModelV4File | LanguageModelV4ReasoningFile | LanguageModelV4Source | {
  type: 'stream-start';
  warnings: Array<SharedV4Warning>;
} | ({
  type: 'response-metadata';
} & LanguageModelV4ResponseMetadata) | {
  type: 'finish';
  usage: LanguageModelV4Usage;
  finishReason: LanguageModelV4FinishReason;
  providerMetadata?: SharedV4ProviderMetadata;
} | {
  type: 'ping';
} | {
  type: 'raw';
  rawValue: unknown;
} | {
  type: 'error';
  error: unknown;
};
type LanguageModelV4StreamResult = {
  stream: ReadableStream<LanguageModelV4StreamPart>;
  request?: {
    url?: string;
    body?: unknown;
  };
  response?: {
    headers?: SharedV4Headers;
  };
};
type LanguageModelV4 = {
  readonly specificationVersion: 'v4';
  readonly provider: string;
  readonly modelId: string;
  supportedUrls: PromiseLike<Record<string, RegExp[]>> | Record<string, RegExp[]>;
  doGenerate(options: LanguageModelV4CallOptions): PromiseLike<LanguageModelV4GenerateResult>;
  doStream(options: LanguageModelV4CallOptions): PromiseLike<LanguageModelV4StreamResult>;
};
type Mode = 'idle' | 'streaming' | 'executing' | 'continuing' | 'interrupted' | 'replying' | 'complete' | 'aborted';
type AgentEvent = {
  readonly type: 'turn_started';
  readonly by: 'person' | 'notification';
  readonly content: string;
} | {
  readonly type: 'mode';
  readonly mode: Mode;
} |
{
  readonly type: 'request';
  readonly cycle: number;
} | {
  readonly type: 'text';
  readonly delta: string;
} | {
  readonly type: 'reasoning';
  readonly delta: string;
} | {
  readonly type: 'tool_input';
  readonly id: string;
  readonly name: string;
  readonly delta: string;
} | {
  readonly type: 'tool_started';
  readonly id: string;
  readonly name: string;
  readonly args: Json;
} | {
  readonly type: 'tool_progress';
  readonly id: string;
  readonly text: string;
} | {
  readonly type: 'tool_ended';
  readonly id: string;
  readonly name: string;
  readonly content: string;
  readonly isError: boolean;
} |
{
  readonly type: 'delivered';
  readonly at: string;
  readonly ids: readonly NotificationId[];
  readonly text: string;
} |
{
  readonly type: 'waiting';
  readonly id: NotificationId;
  readonly level: Level;
  readonly kind: string;
  readonly message: string;
} |
{
  readonly type: 'aborted';
  readonly what: 'answer' | 'tools';
  readonly why: string;
} | {
  readonly type: 'retry';
  readonly inMs: number;
  readonly why: string;
} |
{
  readonly type: 'left_out';
  readonly ids: readonly NotificationId[];
  readonly why: string;
} | {
  readonly type: 'usage';
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cachedTokens: number;
} |
{
  readonly type: 'wake_asked';
  readonly ids: readonly NotificationId[];
  readonly text: string;
} | {
  readonly type: 'turn_ended';
  readonly how: 'complete' | 'truncated' | 'refused' | 'stopped' | 'failed';
  readonly cycles: number;
  readonly error?: string;
};
type Tool = {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: {
    readonly [key: string]: Json;
  };
  readonly timeoutMs?: number;
  execute(args: Json, call: ToolCall): Promise<ToolOutcome>;
};
type ToolCall = {
  readonly id: string;
  readonly signal: AbortSignal;
  readonly batch: readonly {
    readonly id: string;
    readonly name: string;
    readonly args: Json;
  }[];
  progress(text: string): void;
};
type ToolOutcome = {
  readonly content: string;
  readonly isError?: boolean;
  readonly failure?: {
    readonly type: string;
    readonly message?: string;
    readonly timeoutMs?: number;
  };
  readonly knows?: readonly string[];
};
interface Placement {
  afterTools(view: string, n: number): readonly LanguageModelV4Message[];
  request(content: readonly LanguageModelV4TextPart[], view: string | undefined): readonly LanguageModelV4Message[];
  readonly alternates?: true;
}
type BudgetOptions = {
  readonly tokens?: number;
  readonly contextTokens?: number;
  readonly timeoutMs?: number;
  readonly warnAt?: {
    readonly tokens?: number;
    readonly iterations?: number;
    readonly context?: number;
    readonly time?: number;
  };
};
type AgentSettings = {
  readonly model: LanguageModelV4;
  readonly address: string;
  readonly tools?: readonly Tool[];
  readonly system?: string;
  readonly purpose?: string;
  readonly maxCycles?: number;
  readonly maxRetries?: number;
  readonly maxRetryAfterMs?: number;
  readonly maxOutputTokens?: number;
  readonly budget?: BudgetOptions;
  readonly providerOptions?: SharedV4ProviderOptions;
  readonly placement?: Placement;
  readonly onTurnEnd?: (turn: TurnEnding) => Promise<{
    readonly again?: boolean;
  } | void>;
  readonly chance?: () => number;
  readonly onTrouble?: (error: unknown) => void;
};
type TurnEnding = {
  readonly signal: AbortSignal;
  readonly ask: (question: string) => Promise<string>;
};
type TurnResult = {
  readonly how: 'complete' | 'truncated' | 'refused' | 'stopped' | 'failed';
  readonly text: string;
  readonly cycles: number;
  readonly error?: string;
  readonly handedBack: readonly NotificationId[];
};
type FileToolsOptions = {
  readonly root: string;
  readonly files?: Followed | undefined;
};
type Followed = Pick<FilesSource, 'noteRead' | 'withOwnWrite' | 'about'>;
type ToolError = {
  readonly message: string;
  readonly trace: readonly string[];
  readonly transient: boolean;
  readonly timeoutMs?: number;
};
type ToolResult = {
  readonly ok: string;
} | {
  readonly error: ToolError;
};
type ToolState = {
  readonly type: 'running';
  readonly content?: string;
} | {
  readonly type: 'waiting';
  readonly content?: string;
  readonly question: string;
} | {
  readonly type: 'stopped';
  readonly content?: string;
  readonly result: ToolResult;
};
declare class ToolFailure extends Error {
  readonly name = "ToolFailure";
  readonly trace: readonly string[];
  readonly transient: boolean;
  readonly timeoutMs: number | undefined;
  readonly ending: Ending;
  constructor(message: string, more?: {
    readonly trace?: readonly string[];
    readonly transient?: boolean;
    readonly timeoutMs?: number;
    readonly cause?: unknown;
  } & Partial<Ending>);
}
type Ending = {
  readonly text: string;
  readonly exitCode?: number;
  readonly lastLine?: string;
  readonly more?: boolean;
};
type Args = {
  readonly [key: string]: Json;
};
type Action = 'spawn' | 'fetch' | 'apply' | 'abort';
type OnTurnEnd = 'inquire' | 'await' | 'abort';
type Range = {
  readonly from: number;
  readonly lines?: number;
} | {
  readonly fromByte: number;
  readonly bytes?: number;
};
type Input = {
  readonly text: string;
  readonly keys: readonly string[];
  readonly answers: boolean;
};
type StatefulTool = {
  readonly name: string;
  readonly description: string;
  readonly parameters: {
    readonly properties: Readonly<Record<string, Json>>;
    readonly required?: readonly string[];
  };
  readonly actions?: readonly Exclude<Action, 'spawn'>[];
  readonly oneShot?: boolean;
  readonly onTurnEnd?: OnTurnEnd;
  readonly turnEndSecs?: number;
  readonly isAgent?: boolean;
  readonly notifyContent?: boolean;
  check?(args: Args): string | undefined;
  spawns?(args: Args): boolean;
  run(args: Args, handle: HandleSide): Promise<string | Ending>;
};
interface HandleSide {
  readonly id: string;
  readonly uid: string;
  readonly address: string;
  readonly signal: AbortSignal;
  readonly background: boolean;
  readonly folder: string;
  show(content: string): void;
  progress(text: string): void;
  produced(lastLine?: () => string | undefined): void;
  ask(question: string): Promise<string>;
  waiting(question: string): void;
  resumed(): void;
  serve(serves: Serves): void;
  owns(process: {
    readonly pid: number;
  }): void;
}
type Serves = {
  readonly read?: (range?: Range) => Reading | Promise<Reading>;
  readonly input?: (input: Input) => void | Promise<void>;
  readonly settle?: () => Promise<void>;
};
type Reading = {
  readonly content: string;
  readonly range?: string;
};
type HandleView = {
  readonly id: string;
  readonly uid: string;
  readonly tool: string;
  readonly state: ToolState['type'];
  readonly background: boolean;
  readonly elapsedMs: number;
  readonly question?: string;
  readonly exitCode?: number;
  readonly error?: string;
  readonly lastLine?: string;
};
type Recovered = {
  readonly uid: string;
  readonly id: string;
  readonly tool: string;
  readonly ended: boolean;
};
type HandleSettings = {
  readonly tools: readonly StatefulTool[];
  readonly address: string;
  readonly folder: string;
  readonly onChange?: (view: HandleView) => void;
  readonly onTrouble?: (error: unknown) => void;
  readonly withdrawAtOnce?: boolean;
};
type TurnEnd = {
  readonly waited: readonly string[];
  readonly aborted: readonly string[];
  readonly left: readonly string[];
  readonly again: boolean;
};
type CommandLine = {
  readonly command: string;
  readonly cwd: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly passEnv?: readonly string[];
  readonly shell?: string;
  readonly pty?: boolean;
  readonly stdin?: boolean;
  readonly timeoutMs?: number;
  readonly callTimeoutMs?: number;
};
type ProcessToolOptions = Omit<StatefulTool, 'run'> & {
  commandOf(args: Args): CommandLine;
  readonly maxChars?: number;
  readonly maxOutputBytes?: number;
  readonly graceMs?: number;
  readonly settleMs?: number;
  readonly promptMs?: number;
};
type RunOptions = Pick<ProcessToolOptions, 'maxChars' | 'maxOutputBytes' | 'graceMs' | 'settleMs' | 'promptMs'> & {
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly passEnv?: readonly string[];
  readonly shell?: string;
  readonly timeoutSecs?: number;
  readonly onTurnEnd?: OnTurnEnd;
  readonly turnEndSecs?: number;
};
type AgentOptions = AgentSettings & {
  readonly earpiece: Earpiece;
};
type AgentEvents = AsyncIterable<AgentEvent> & {
  close(): void;
};
interface Agent extends AsyncDisposable {
  readonly address: string;
  readonly mode: Mode;
  readonly cutOff: boolean;
  send(text: string, options?: {
    readonly author?: string;
    readonly signal?: AbortSignal;
  }): Promise<TurnResult>;
  resume(options?: {
    readonly signal?: AbortSignal;
  }): Promise<TurnResult | undefined>;
  reply(text: string): boolean;
  stop(): void;
  events(): AgentEvents;
  paused(): Promise<boolean>;
  close(options?: {
    readonly over?: boolean;
  }): Promise<void>;
}
declare function createAgent(options: AgentOptions): Promise<Agent>;
declare const ownTools: (options: {
  readonly agent: () => Agent;
  readonly tellUser?: (message: string) => void;
}) => readonly Tool$1[];
declare const taskTools: (agent: () => Agent) => readonly Tool$1[];
type HandleOptions = HandleSettings & {
  readonly earpiece: Earpiece;
};
interface HandleRegistry extends AsyncDisposable {
  readonly tools: readonly Tool$1[];
  readonly active: number;
  list(): readonly HandleView[];
  endOfTurn(turn: TurnEnding): Promise<TurnEnd>;
  recover(): Promise<readonly Recovered[]>;
  close(): Promise<void>;
}
declare function handleRegistry(options: HandleOptions): HandleRegistry;
type Tool$1 = Tool;
declare function fileTools(options: FileToolsOptions): readonly Tool$1[];
declare function runTool(options?: RunOptions): StatefulTool;
declare function processTool(options: ProcessToolOptions): StatefulTool;
declare function openModel(name: string, env: Readonly<Record<string, string | undefined>>): Promise<LanguageModelV4>;
export {
  Agent,
  type AgentEvent,
  AgentEvents,
  AgentOptions,
  type BudgetOptions,
  type FileToolsOptions,
  HandleOptions,
  HandleRegistry,
  type HandleSide,
  type HandleView,
  type Mode,
  type ProcessToolOptions,
  type RunOptions,
  type StatefulTool,
  type Tool,
  type ToolCall,
  ToolFailure,
  type ToolOutcome,
  type TurnEnding,
  type TurnResult,
  createAgent,
  fileTools,
  handleRegistry,
  openModel,
  ownTools,
  processTool,
  runTool,
  taskTools,
};
