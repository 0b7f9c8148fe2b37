import "@hono/zod-openapi";
import { z } from "zod";
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
  readonly origin?: Partial<Origin>;
  readonly count?: number;
  readonly firstAt?: number;
};
type LogKey = string & {
  readonly __brand: 'LogKey';
};
type ConversationId = string & {
  readonly __brand: 'ConversationId';
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
type GateLiftedRecord = Base & {
  readonly type: 'gate_lifted';
  readonly ids: readonly NotificationId[];
  readonly by: string;
  readonly reason: string;
};
type ClosedRecord = Base & {
  readonly type: 'notification_closed';
  readonly ids: readonly NotificationId[];
  readonly outcome: Outcome;
  readonly by: string;
  readonly reason: string;
};
type GateRefusedRecord = Base & {
  readonly type: 'gate_refused';
  readonly ids: readonly NotificationId[];
  readonly on: string;
  readonly text?: string;
  readonly clockAt?: number;
  readonly times?: number;
  readonly made?: boolean;
};
type FanOutRecord = Base & {
  readonly type: 'fan_out';
  readonly id: NotificationId;
  readonly notification: RecordedNotification;
  readonly targets: readonly {
    readonly log: LogKey;
    readonly conversations: readonly ConversationId[];
  }[];
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
type KnownDraft = QueuedRecord | FoldedRecord | OfferedRecord | ConfirmedRecord | ReleasedRecord | RedactedRecord | ObservedRecord | ReadRecord | ClosedRecord | GateRefusedRecord | GateLiftedRecord | FanOutRecord | FanOutDoneRecord | ForkedRecord | SucceededRecord | ExtendedRecord | TurnStartRecord | ChatRequestRecord | ChatResponseRecord | ToolCallRequestRecord | ToolCallResponseRecord;
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
  readonly kind: 'take';
  readonly id: NotificationId;
  readonly step: PlanStep;
  readonly reason: string;
} | {
  readonly kind: 'keep';
  readonly id: NotificationId;
  readonly step: PlanStep;
  readonly reason: string;
} | {
  readonly kind: 'summarize';
  readonly id: NotificationId;
  readonly step: 'coalesce' | 'budget';
  readonly reason: string;
} | {
  readonly kind: 'close';
  readonly id: NotificationId;
  readonly step: PlanStep;
  readonly outcome: Outcome;
  readonly reason: string;
};
type Absence = 'ended' | 'process_gone' | 'silent';
type RodeOn = {
  readonly point: ContactPoint | null;
  readonly name: string | null;
  readonly made?: true;
};
type Verdict = {
  readonly kind: 'never_carried';
  readonly log: string;
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
  readonly key: string;
  readonly setting: string;
  readonly file: string | null;
  readonly over: boolean;
  readonly holds: boolean;
} |
{
  readonly kind: 'budget';
  readonly how: 'waits' | 'will_summarize';
  readonly reason: string;
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
} |
{
  readonly kind: 'behind_gate';
  readonly id: NotificationId;
  readonly about: string;
  readonly log: string;
} | {
  readonly kind: 'moment';
  readonly deliver: Deliver;
  readonly reason: string;
} | {
  readonly kind: 'due';
  readonly address: string;
  readonly host: string | null;
  readonly wrappedOnly: boolean;
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
} | {
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
type Wire<S extends z.ZodType> = Read<z.output<S>>;
type Read<T> = T extends OfCore<infer U> ? U : T extends readonly (infer E)[] ? readonly Read<E>[] : T extends object ? { readonly [K in keyof T]: Read<Exclude<T[K], undefined>>; } : T;
type OfCore<T> = {
  readonly ofCore: T;
};
declare const problem: z.ZodObject<{
  type: z.ZodString;
  title: z.ZodString;
  status: z.ZodNumber;
  detail: z.ZodString;
  code: z.ZodString;
  instance: z.ZodString;
  field: z.ZodOptional<z.ZodString>;
  retryable: z.ZodOptional<z.ZodBoolean>;
}, z.core.$strip>;
type Problem = Wire<typeof problem>;
type Page<T> = {
  readonly items: readonly T[];
  readonly next: string | null;
};
declare const token: z.ZodObject<{
  id: z.ZodString;
  kind: z.ZodEnum<{
    admin: "admin";
    agent: "agent";
    project: "project";
    send: "send";
  }>;
  name: z.ZodString;
  project: z.ZodNullable<z.ZodString>;
  agent: z.ZodNullable<z.ZodString>;
  conversation: z.ZodNullable<z.ZodString>;
  session: z.ZodBoolean;
  createdAt: z.ZodNumber;
  lastUsedAt: z.ZodNullable<z.ZodNumber>;
  expiresAt: z.ZodNullable<z.ZodNumber>;
}, z.core.$strip>;
type TokenInfo = Wire<typeof token>;
declare const createdToken: z.ZodObject<{
  id: z.ZodString;
  kind: z.ZodEnum<{
    admin: "admin";
    agent: "agent";
    project: "project";
    send: "send";
  }>;
  name: z.ZodString;
  project: z.ZodNullable<z.ZodString>;
  agent: z.ZodNullable<z.ZodString>;
  conversation: z.ZodNullable<z.ZodString>;
  session: z.ZodBoolean;
  createdAt: z.ZodNumber;
  lastUsedAt: z.ZodNullable<z.ZodNumber>;
  expiresAt: z.ZodNullable<z.ZodNumber>;
  token: z.ZodString;
}, z.core.$strip>;
type CreatedToken = Wire<typeof createdToken>;
declare const tokenInput: z.ZodObject<{
  kind: z.ZodEnum<{
    admin: "admin";
    agent: "agent";
    project: "project";
    send: "send";
  }>;
  name: z.ZodString;
  project: z.ZodOptional<z.ZodString>;
  agent: z.ZodOptional<z.ZodString>;
  conversation: z.ZodOptional<z.ZodString>;
  expiresInMs: z.ZodOptional<z.ZodNumber>;
}, z.core.$strict>;
type TokenRequest = Wire<typeof tokenInput>;
declare const session: z.ZodObject<{
  who: z.ZodObject<{
    id: z.ZodString;
    kind: z.ZodEnum<{
      admin: "admin";
      agent: "agent";
      project: "project";
      send: "send";
    }>;
    name: z.ZodString;
    project: z.ZodNullable<z.ZodString>;
    agent: z.ZodNullable<z.ZodString>;
    conversation: z.ZodNullable<z.ZodString>;
    session: z.ZodBoolean;
    createdAt: z.ZodNumber;
    lastUsedAt: z.ZodNullable<z.ZodNumber>;
    expiresAt: z.ZodNullable<z.ZodNumber>;
  }, z.core.$strip>;
  project: z.ZodString;
  version: z.ZodString;
  store: z.ZodString;
  shell: z.ZodObject<{
    earpiece: z.ZodString;
    clients: z.ZodArray<z.ZodString>;
  }, z.core.$strip>;
  now: z.ZodNumber;
  head: z.ZodNumber;
}, z.core.$strip>;
type SessionReply = Wire<typeof session>;
declare const health: z.ZodObject<{
  status: z.ZodEnum<{
    ok: "ok";
    store_unavailable: "store_unavailable";
  }>;
  version: z.ZodString;
}, z.core.$strip>;
type Health = Wire<typeof health>;
declare const conversation: z.ZodObject<{
  conversation: z.ZodString;
  address: z.ZodString;
  purpose: z.ZodNullable<z.ZodString>;
  host: z.ZodNullable<z.ZodString>;
  hostVersion: z.ZodNullable<z.ZodString>;
  folder: z.ZodNullable<z.ZodString>;
  active: z.ZodBoolean;
  startedAt: z.ZodNumber;
  seenAt: z.ZodNumber;
  carriedAt: z.ZodNullable<z.ZodNumber>;
  endedAt: z.ZodNullable<z.ZodNumber>;
  passedTo: z.ZodNullable<z.ZodObject<{
    conversation: z.ZodString;
    at: z.ZodNumber;
  }, z.core.$strip>>;
  turns: z.ZodNumber;
  carriers: z.ZodArray<z.ZodObject<{
    name: z.ZodString;
    at: z.ZodNumber;
  }, z.core.$strip>>;
  pulls: z.ZodBoolean;
  force: z.ZodEnum<{
    aborts_stream: "aborts_stream";
    next_contact: "next_contact";
    refuses_next_call: "refuses_next_call";
    waits: "waits";
  }>;
}, z.core.$strip>;
type ConversationSummary = Wire<typeof conversation>;
declare const agent: z.ZodObject<{
  log: z.ZodString;
  project: z.ZodString;
  agent: z.ZodString;
  open: z.ZodObject<{
    info: z.ZodNumber;
    warning: z.ZodNumber;
    error: z.ZodNumber;
    critical: z.ZodNumber;
  }, z.core.$strip>;
  oldestOpenAt: z.ZodNullable<z.ZodNumber>;
  active: z.ZodBoolean;
  paused: z.ZodBoolean;
  doing: z.ZodObject<{
    kind: z.ZodEnum<{
      nothing: "nothing";
      thinking: "thinking";
      tool: "tool";
    }>;
    what: z.ZodNullable<z.ZodString>;
    since: z.ZodNullable<z.ZodNumber>;
    conversation: z.ZodNullable<z.ZodString>;
  }, z.core.$strip>;
  lastContactAt: z.ZodNullable<z.ZodNumber>;
  hosts: z.ZodArray<z.ZodString>;
  conversations: z.ZodArray<z.ZodObject<{
    conversation: z.ZodString;
    address: z.ZodString;
    purpose: z.ZodNullable<z.ZodString>;
    host: z.ZodNullable<z.ZodString>;
    hostVersion: z.ZodNullable<z.ZodString>;
    folder: z.ZodNullable<z.ZodString>;
    active: z.ZodBoolean;
    startedAt: z.ZodNumber;
    seenAt: z.ZodNumber;
    carriedAt: z.ZodNullable<z.ZodNumber>;
    endedAt: z.ZodNullable<z.ZodNumber>;
    passedTo: z.ZodNullable<z.ZodObject<{
      conversation: z.ZodString;
      at: z.ZodNumber;
    }, z.core.$strip>>;
    turns: z.ZodNumber;
    carriers: z.ZodArray<z.ZodObject<{
      name: z.ZodString;
      at: z.ZodNumber;
    }, z.core.$strip>>;
    pulls: z.ZodBoolean;
    force: z.ZodEnum<{
      aborts_stream: "aborts_stream";
      next_contact: "next_contact";
      refuses_next_call: "refuses_next_call";
      waits: "waits";
    }>;
  }, z.core.$strip>>;
}, z.core.$strip>;
type AgentSummary = Wire<typeof agent>;
declare const recordsPage: z.ZodObject<{
  items: z.ZodArray<z.ZodType<{
    readonly ofCore: Stored;
  }, unknown, z.core.$ZodTypeInternals<{
    readonly ofCore: Stored;
  }, unknown>>>;
  next: z.ZodNullable<z.ZodString>;
  head: z.ZodNumber;
}, z.core.$strip>;
type RecordsPage = Wire<typeof recordsPage>;
declare const forks: z.ZodObject<{
  origin: z.ZodNullable<z.ZodObject<{
    conversation: z.ZodString;
    upTo: z.ZodNumber;
  }, z.core.$strip>>;
  forks: z.ZodArray<z.ZodObject<{
    conversation: z.ZodString;
    upTo: z.ZodNumber;
    at: z.ZodNumber;
  }, z.core.$strip>>;
  more: z.ZodBoolean;
  turns: z.ZodNullable<z.ZodNumber>;
}, z.core.$strip>;
type ForksReply = Wire<typeof forks>;
declare const searchPage: z.ZodObject<{
  items: z.ZodArray<z.ZodObject<{
    seq: z.ZodNumber;
    at: z.ZodNumber;
    type: z.ZodString;
    conversation: z.ZodNullable<z.ZodString>;
    name: z.ZodNullable<z.ZodString>;
    id: z.ZodNullable<z.ZodString>;
    text: z.ZodString;
  }, z.core.$strip>>;
  looked: z.ZodNumber;
  lookedBackTo: z.ZodNullable<z.ZodNumber>;
  next: z.ZodNullable<z.ZodString>;
}, z.core.$strip>;
type SearchPage = Wire<typeof searchPage>;
declare const emitted: z.ZodObject<{
  events: z.ZodArray<z.ZodObject<{
    id: z.ZodString;
    source: z.ZodString;
    type: z.ZodString;
    heard: z.ZodArray<z.ZodObject<{
      subscriber: z.ZodString;
      kind: z.ZodString;
      ids: z.ZodArray<z.ZodString>;
      because: z.ZodNullable<z.ZodString>;
    }, z.core.$strip>>;
  }, z.core.$strip>>;
}, z.core.$strip>;
type EmittedReply = Wire<typeof emitted>;
declare const activity: z.ZodObject<{
  project: z.ZodNullable<z.ZodString>;
  from: z.ZodNumber;
  to: z.ZodNumber;
  bucketMs: z.ZodNumber;
  buckets: z.ZodArray<z.ZodObject<{
    at: z.ZodNumber;
    queued: z.ZodObject<{
      info: z.ZodNumber;
      warning: z.ZodNumber;
      error: z.ZodNumber;
      critical: z.ZodNumber;
    }, z.core.$strip>;
    delivered: z.ZodObject<{
      info: z.ZodNumber;
      warning: z.ZodNumber;
      error: z.ZodNumber;
      critical: z.ZodNumber;
    }, z.core.$strip>;
    waiting: z.ZodObject<{
      info: z.ZodNumber;
      warning: z.ZodNumber;
      error: z.ZodNumber;
      critical: z.ZodNumber;
    }, z.core.$strip>;
    tokens: z.ZodNumber;
    delivery: z.ZodObject<{
      count: z.ZodNumber;
      p50Ms: z.ZodNullable<z.ZodNumber>;
      p95Ms: z.ZodNullable<z.ZodNumber>;
    }, z.core.$strip>;
  }, z.core.$strip>>;
  delivery: z.ZodObject<{
    count: z.ZodNumber;
    p50Ms: z.ZodNullable<z.ZodNumber>;
    p95Ms: z.ZodNullable<z.ZodNumber>;
  }, z.core.$strip>;
  kinds: z.ZodArray<z.ZodObject<{
    kind: z.ZodString;
    queued: z.ZodNumber;
    delivered: z.ZodNumber;
    tokens: z.ZodNumber;
  }, z.core.$strip>>;
  tokens: z.ZodNumber;
  truncated: z.ZodBoolean;
}, z.core.$strip>;
type ActivityReply = Wire<typeof activity>;
declare const notificationsPage: z.ZodObject<{
  items: z.ZodArray<z.ZodObject<{
    log: z.ZodString;
    conversation: z.ZodNullable<z.ZodString>;
    id: z.ZodString;
    kind: z.ZodString;
    level: z.ZodEnum<{
      critical: "critical";
      error: "error";
      info: "info";
      warning: "warning";
    }>;
    message: z.ZodString;
    data: z.ZodType<{
      readonly ofCore: Json;
    }, unknown, z.core.$ZodTypeInternals<{
      readonly ofCore: Json;
    }, unknown>>;
    action: z.ZodNullable<z.ZodEnum<{
      cancel: "cancel";
      pause: "pause";
      resume: "resume";
    }>>;
    instruction: z.ZodNullable<z.ZodString>;
    key: z.ZodNullable<z.ZodString>;
    about: z.ZodNullable<z.ZodString>;
    purpose: z.ZodNullable<z.ZodString>;
    deliver: z.ZodType<{
      readonly ofCore: Json;
    }, unknown, z.core.$ZodTypeInternals<{
      readonly ofCore: Json;
    }, unknown>>;
    person: z.ZodNullable<z.ZodString>;
    sender: z.ZodNullable<z.ZodString>;
    subscriber: z.ZodNullable<z.ZodString>;
    requeues: z.ZodNullable<z.ZodString>;
    count: z.ZodNumber;
    seq: z.ZodNumber;
    at: z.ZodNumber;
    lastAt: z.ZodNumber;
    expiresAt: z.ZodNullable<z.ZodNumber>;
    state: z.ZodEnum<{
      closed: "closed";
      offered: "offered";
      open: "open";
    }>;
    receipt: z.ZodString;
    markedBy: z.ZodNullable<z.ZodString>;
    outcome: z.ZodNullable<z.ZodString>;
    closedAt: z.ZodNullable<z.ZodNumber>;
    gate: z.ZodBoolean;
    offers: z.ZodNumber;
    takenBy: z.ZodNullable<z.ZodString>;
    carrier: z.ZodNullable<z.ZodString>;
  }, z.core.$strip>>;
  next: z.ZodNullable<z.ZodString>;
  lookedBackTo: z.ZodOptional<z.ZodNumber>;
}, z.core.$strip>;
type NotificationsPage = Wire<typeof notificationsPage>;
declare const story: z.ZodObject<{
  log: z.ZodString;
  id: z.ZodString;
  items: z.ZodArray<z.ZodObject<{
    notification: z.ZodObject<{
      log: z.ZodString;
      conversation: z.ZodNullable<z.ZodString>;
      id: z.ZodString;
      kind: z.ZodString;
      level: z.ZodEnum<{
        critical: "critical";
        error: "error";
        info: "info";
        warning: "warning";
      }>;
      message: z.ZodString;
      data: z.ZodType<{
        readonly ofCore: Json;
      }, unknown, z.core.$ZodTypeInternals<{
        readonly ofCore: Json;
      }, unknown>>;
      action: z.ZodNullable<z.ZodEnum<{
        cancel: "cancel";
        pause: "pause";
        resume: "resume";
      }>>;
      instruction: z.ZodNullable<z.ZodString>;
      key: z.ZodNullable<z.ZodString>;
      about: z.ZodNullable<z.ZodString>;
      purpose: z.ZodNullable<z.ZodString>;
      deliver: z.ZodType<{
        readonly ofCore: Json;
      }, unknown, z.core.$ZodTypeInternals<{
        readonly ofCore: Json;
      }, unknown>>;
      person: z.ZodNullable<z.ZodString>;
      sender: z.ZodNullable<z.ZodString>;
      subscriber: z.ZodNullable<z.ZodString>;
      requeues: z.ZodNullable<z.ZodString>;
      count: z.ZodNumber;
      seq: z.ZodNumber;
      at: z.ZodNumber;
      lastAt: z.ZodNumber;
      expiresAt: z.ZodNullable<z.ZodNumber>;
      state: z.ZodEnum<{
        closed: "closed";
        offered: "offered";
        open: "open";
      }>;
      receipt: z.ZodString;
      markedBy: z.ZodNullable<z.ZodString>;
      outcome: z.ZodNullable<z.ZodString>;
      closedAt: z.ZodNullable<z.ZodNumber>;
      gate: z.ZodBoolean;
      offers: z.ZodNumber;
      takenBy: z.ZodNullable<z.ZodString>;
      carrier: z.ZodNullable<z.ZodString>;
    }, z.core.$strip>;
    verdict: z.ZodType<{
      readonly ofCore: Verdict;
    }, unknown, z.core.$ZodTypeInternals<{
      readonly ofCore: Verdict;
    }, unknown>>;
    steps: z.ZodArray<z.ZodObject<{
      at: z.ZodNumber;
      seq: z.ZodNumber;
      what: z.ZodString;
      detail: z.ZodNullable<z.ZodString>;
    }, z.core.$strip>>;
    ended: z.ZodNullable<z.ZodObject<{
      outcome: z.ZodString;
      by: z.ZodString;
      reason: z.ZodString;
      at: z.ZodNumber;
    }, z.core.$strip>>;
    now: z.ZodArray<z.ZodObject<{
      conversation: z.ZodString;
      decision: z.ZodType<{
        readonly ofCore: Decision;
      }, unknown, z.core.$ZodTypeInternals<{
        readonly ofCore: Decision;
      }, unknown>>;
    }, z.core.$strip>>;
    sent: z.ZodArray<z.ZodObject<{
      seq: z.ZodNumber;
      at: z.ZodNumber;
      record: z.ZodString;
      conversation: z.ZodNullable<z.ZodString>;
      point: z.ZodNullable<z.ZodString>;
      on: z.ZodNullable<z.ZodString>;
      format: z.ZodNullable<z.ZodString>;
      item: z.ZodString;
      text: z.ZodString;
      repeated: z.ZodBoolean;
    }, z.core.$strip>>;
  }, z.core.$strip>>;
}, z.core.$strip>;
type Story = Wire<typeof story>;
declare const queued: z.ZodObject<{
  kind: z.ZodEnum<{
    duplicate: "duplicate";
    folded: "folded";
    queued: "queued";
  }>;
  id: z.ZodString;
  into: z.ZodNullable<z.ZodString>;
  to: z.ZodArray<z.ZodString>;
}, z.core.$strip>;
type QueuedReply = Wire<typeof queued>;
declare const interrupted: z.ZodObject<{
  kind: z.ZodEnum<{
    duplicate: "duplicate";
    folded: "folded";
    queued: "queued";
  }>;
  id: z.ZodString;
  into: z.ZodNullable<z.ZodString>;
  to: z.ZodArray<z.ZodString>;
  effects: z.ZodArray<z.ZodObject<{
    address: z.ZodString;
    host: z.ZodNullable<z.ZodString>;
    force: z.ZodEnum<{
      aborts_stream: "aborts_stream";
      next_contact: "next_contact";
      refuses_next_call: "refuses_next_call";
      waits: "waits";
    }>;
    says: z.ZodString;
  }, z.core.$strip>>;
}, z.core.$strip>;
type InterruptReply = Wire<typeof interrupted>;
declare const resumed: z.ZodObject<{
  effects: z.ZodArray<z.ZodObject<{
    address: z.ZodString;
    host: z.ZodNullable<z.ZodString>;
    force: z.ZodEnum<{
      aborts_stream: "aborts_stream";
      next_contact: "next_contact";
      refuses_next_call: "refuses_next_call";
      waits: "waits";
    }>;
    says: z.ZodString;
  }, z.core.$strip>>;
  lifted: z.ZodArray<z.ZodObject<{
    log: z.ZodString;
    id: z.ZodString;
    conversation: z.ZodNullable<z.ZodString>;
    message: z.ZodString;
    person: z.ZodNullable<z.ZodString>;
    since: z.ZodNumber;
  }, z.core.$strip>>;
}, z.core.$strip>;
type ResumeReply = Wire<typeof resumed>;
declare const withdrawn: z.ZodObject<{
  id: z.ZodString;
  result: z.ZodEnum<{
    gate_lowered: "gate_lowered";
    maybe_seen: "maybe_seen";
    too_late: "too_late";
    unknown: "unknown";
    withdrawn: "withdrawn";
  }>;
}, z.core.$strip>;
type WithdrawReply = Wire<typeof withdrawn>;
declare const receipt: z.ZodObject<{
  id: z.ZodString;
  receipt: z.ZodString;
  reached: z.ZodBoolean;
  settled: z.ZodBoolean;
}, z.core.$strip>;
type ReceiptReply = Wire<typeof receipt>;
declare const settingChange: z.ZodObject<{
  label: z.ZodString;
  help: z.ZodString;
  form: z.ZodDiscriminatedUnion<[z.ZodObject<{
    kind: z.ZodLiteral<"switch">;
  }, z.core.$strip>, z.ZodObject<{
    kind: z.ZodLiteral<"number">;
    min: z.ZodNumber;
    max: z.ZodNumber;
  }, z.core.$strip>, z.ZodObject<{
    kind: z.ZodLiteral<"choice">;
    words: z.ZodArray<z.ZodString>;
  }, z.core.$strip>, z.ZodObject<{
    kind: z.ZodLiteral<"duration">;
    never: z.ZodBoolean;
  }, z.core.$strip>, z.ZodObject<{
    kind: z.ZodLiteral<"list">;
  }, z.core.$strip>], "kind">;
  addsUp: z.ZodBoolean;
  takesEffect: z.ZodString;
  in: z.ZodObject<{
    user: z.ZodObject<{
      decidedBy: z.ZodNullable<z.ZodString>;
      set: z.ZodBoolean;
      says: z.ZodType<{
        readonly ofCore: Json;
      }, unknown, z.core.$ZodTypeInternals<{
        readonly ofCore: Json;
      }, unknown>>;
    }, z.core.$strip>;
    project: z.ZodObject<{
      decidedBy: z.ZodNullable<z.ZodString>;
      set: z.ZodBoolean;
      says: z.ZodType<{
        readonly ofCore: Json;
      }, unknown, z.core.$ZodTypeInternals<{
        readonly ofCore: Json;
      }, unknown>>;
    }, z.core.$strip>;
  }, z.core.$strip>;
}, z.core.$strip>;
type SettingChange = Wire<typeof settingChange>;
type SettingScope = keyof SettingChange['in'];
declare const settings: z.ZodObject<{
  project: z.ZodString;
  files: z.ZodArray<z.ZodObject<{
    scope: z.ZodString;
    file: z.ZodString;
  }, z.core.$strip>>;
  places: z.ZodNullable<z.ZodObject<{
    user: z.ZodObject<{
      file: z.ZodString;
      exists: z.ZodBoolean;
    }, z.core.$strip>;
    project: z.ZodObject<{
      file: z.ZodString;
      exists: z.ZodBoolean;
    }, z.core.$strip>;
  }, z.core.$strip>>;
  problems: z.ZodArray<z.ZodString>;
  settings: z.ZodArray<z.ZodObject<{
    key: z.ZodString;
    value: z.ZodType<{
      readonly ofCore: Json;
    }, unknown, z.core.$ZodTypeInternals<{
      readonly ofCore: Json;
    }, unknown>>;
    text: z.ZodString;
    decidedBy: z.ZodString;
    expects: z.ZodString;
    env: z.ZodNullable<z.ZodString>;
    overridden: z.ZodArray<z.ZodObject<{
      text: z.ZodString;
      decidedBy: z.ZodString;
    }, z.core.$strip>>;
    change: z.ZodNullable<z.ZodObject<{
      label: z.ZodString;
      help: z.ZodString;
      form: z.ZodDiscriminatedUnion<[z.ZodObject<{
        kind: z.ZodLiteral<"switch">;
      }, z.core.$strip>, z.ZodObject<{
        kind: z.ZodLiteral<"number">;
        min: z.ZodNumber;
        max: z.ZodNumber;
      }, z.core.$strip>, z.ZodObject<{
        kind: z.ZodLiteral<"choice">;
        words: z.ZodArray<z.ZodString>;
      }, z.core.$strip>, z.ZodObject<{
        kind: z.ZodLiteral<"duration">;
        never: z.ZodBoolean;
      }, z.core.$strip>, z.ZodObject<{
        kind: z.ZodLiteral<"list">;
      }, z.core.$strip>], "kind">;
      addsUp: z.ZodBoolean;
      takesEffect: z.ZodString;
      in: z.ZodObject<{
        user: z.ZodObject<{
          decidedBy: z.ZodNullable<z.ZodString>;
          set: z.ZodBoolean;
          says: z.ZodType<{
            readonly ofCore: Json;
          }, unknown, z.core.$ZodTypeInternals<{
            readonly ofCore: Json;
          }, unknown>>;
        }, z.core.$strip>;
        project: z.ZodObject<{
          decidedBy: z.ZodNullable<z.ZodString>;
          set: z.ZodBoolean;
          says: z.ZodType<{
            readonly ofCore: Json;
          }, unknown, z.core.$ZodTypeInternals<{
            readonly ofCore: Json;
          }, unknown>>;
        }, z.core.$strip>;
      }, z.core.$strip>;
    }, z.core.$strip>>;
  }, z.core.$strip>>;
}, z.core.$strip>;
type SettingsReply = Wire<typeof settings>;
declare const subscriber: z.ZodObject<{
  id: z.ZodString;
  name: z.ZodString;
  description: z.ZodString;
  version: z.ZodString;
  event_types: z.ZodArray<z.ZodString>;
  priority: z.ZodString;
  inject_at: z.ZodString;
  core: z.ZodBoolean;
  locked: z.ZodNullable<z.ZodString>;
  enabled: z.ZodBoolean;
  from: z.ZodObject<{
    folder: z.ZodString;
    file: z.ZodString;
  }, z.core.$strip>;
  spoke_last_7_days: z.ZodNumber;
}, z.core.$strip>;
type SubscriberItem = Wire<typeof subscriber>;
declare const subscribers: z.ZodObject<{
  project: z.ZodString;
  subscribers: z.ZodArray<z.ZodObject<{
    id: z.ZodString;
    name: z.ZodString;
    description: z.ZodString;
    version: z.ZodString;
    event_types: z.ZodArray<z.ZodString>;
    priority: z.ZodString;
    inject_at: z.ZodString;
    core: z.ZodBoolean;
    locked: z.ZodNullable<z.ZodString>;
    enabled: z.ZodBoolean;
    from: z.ZodObject<{
      folder: z.ZodString;
      file: z.ZodString;
    }, z.core.$strip>;
    spoke_last_7_days: z.ZodNumber;
  }, z.core.$strip>>;
  problems: z.ZodArray<z.ZodObject<{
    file: z.ZodString;
    severity: z.ZodString;
    message: z.ZodString;
  }, z.core.$strip>>;
}, z.core.$strip>;
type SubscribersReply = Wire<typeof subscribers>;
declare const subscriberTest: z.ZodObject<{
  subscriber_id: z.ZodString;
  event_type: z.ZodString;
  inject_at: z.ZodString;
  kind: z.ZodString;
  level: z.ZodEnum<{
    critical: "critical";
    error: "error";
    info: "info";
    warning: "warning";
  }>;
  preview: z.ZodString;
  problem: z.ZodNullable<z.ZodString>;
  to: z.ZodNullable<z.ZodString>;
  notification: z.ZodNullable<z.ZodString>;
  message: z.ZodString;
  verdict: z.ZodNullable<z.ZodType<{
    readonly ofCore: Verdict;
  }, unknown, z.core.$ZodTypeInternals<{
    readonly ofCore: Verdict;
  }, unknown>>>;
}, z.core.$strip>;
type SubscriberTestReply = Wire<typeof subscriberTest>;
declare const mutes: z.ZodObject<{
  items: z.ZodArray<z.ZodObject<{
    log: z.ZodString;
    pattern: z.ZodString;
    until: z.ZodNullable<z.ZodNumber>;
    by: z.ZodString;
  }, z.core.$strip>>;
  more: z.ZodBoolean;
}, z.core.$strip>;
type MutesReply = Wire<typeof mutes>;
declare const task: z.ZodObject<{
  id: z.ZodString;
  project: z.ZodString;
  title: z.ZodString;
  description: z.ZodString;
  priority: z.ZodEnum<{
    high: "high";
    low: "low";
    normal: "normal";
    urgent: "urgent";
  }>;
  status: z.ZodEnum<{
    backlog: "backlog";
    blocked: "blocked";
    cancelled: "cancelled";
    done: "done";
    in_progress: "in_progress";
    todo: "todo";
  }>;
  assignee: z.ZodNullable<z.ZodString>;
  blockedReason: z.ZodNullable<z.ZodString>;
  version: z.ZodNumber;
  createdAt: z.ZodNumber;
  createdBy: z.ZodObject<{
    kind: z.ZodEnum<{
      agent: "agent";
      person: "person";
    }>;
    name: z.ZodString;
  }, z.core.$strip>;
  changedAt: z.ZodNumber;
  statusChangedAt: z.ZodNumber;
  statusChangedBy: z.ZodObject<{
    kind: z.ZodEnum<{
      agent: "agent";
      person: "person";
    }>;
    name: z.ZodString;
  }, z.core.$strip>;
  execution: z.ZodNullable<z.ZodObject<{
    id: z.ZodString;
    agent: z.ZodString;
    conversation: z.ZodNullable<z.ZodString>;
    startedAt: z.ZodNumber;
    interrupted: z.ZodNullable<z.ZodObject<{
      why: z.ZodEnum<{
        blocked: "blocked";
        cancelled: "cancelled";
        reassigned: "reassigned";
        stopped: "stopped";
      }>;
      by: z.ZodObject<{
        kind: z.ZodEnum<{
          agent: "agent";
          person: "person";
        }>;
        name: z.ZodString;
      }, z.core.$strip>;
      at: z.ZodNumber;
      reason: z.ZodNullable<z.ZodString>;
      notification: z.ZodString;
    }, z.core.$strip>>;
    recalled: z.ZodBoolean;
    endedAt: z.ZodNullable<z.ZodNumber>;
    result: z.ZodNullable<z.ZodEnum<{
      blocked: "blocked";
      failed: "failed";
      lost: "lost";
      success: "success";
    }>>;
    exitCode: z.ZodNullable<z.ZodNumber>;
    message: z.ZodNullable<z.ZodString>;
  }, z.core.$strip>>;
  mayBecome: z.ZodArray<z.ZodEnum<{
    backlog: "backlog";
    blocked: "blocked";
    cancelled: "cancelled";
    done: "done";
    in_progress: "in_progress";
    todo: "todo";
  }>>;
}, z.core.$strip>;
type TaskView = Wire<typeof task>;
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
  readonly types?: readonly string[];
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
    readonly until?: 'queued' | 'offered' | 'delivered' | 'observed' | 'read';
    readonly waitS?: number;
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
  type StreamOptions,
  type StreamQuery,
  type StreamState,
  createClient,
};
