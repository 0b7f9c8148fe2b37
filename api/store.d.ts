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
type LogKey = string & {
  readonly __brand: 'LogKey';
};
type ConversationId = string & {
  readonly __brand: 'ConversationId';
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
declare const isSignOfWork: ({ type }: Draft) => boolean;
declare const ANYONE: ConversationId;
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
interface Store {
  readonly name: string;
  now(): number;
  ordered(): number;
  readonly private?: true;
  append(log: LogKey, drafts: readonly Draft[], options?: AppendOptions): Promise<Appended>;
  read(query: ReadQuery, options?: Wait): Promise<readonly Stored[]>;
  head(options?: Wait): Promise<number>;
  items(log: LogKey, query: ItemQuery, options?: Wait): Promise<readonly Item[]>;
  quiet?(log: LogKey, conversation: ConversationId): boolean;
  countOpen(log: LogKey, options?: Wait): Promise<number>;
  overview(project?: string, options?: Wait): Promise<readonly LogOverview[]>;
  agents(query: {
    readonly project?: string;
    readonly after?: LogKey;
    readonly limit?: number;
  }, options?: Wait): Promise<readonly AgentOverview[]>;
  changed(after: number, options?: Wait): Promise<number>;
  touch(presence: PresenceUpdate, options?: Wait): Promise<Presence>;
  presence(query: PresenceQuery, options?: Wait): Promise<readonly Presence[]>;
  bind(host: Owner, to: {
    log: LogKey;
    conversation: ConversationId;
  }, options?: Wait): Promise<void>;
  binding(host: Owner, options?: Wait): Promise<{
    log: LogKey;
    conversation: ConversationId;
    at: number;
  } | undefined>;
  withhold(held: Withheld, options?: Wait): Promise<void>;
  withheld(log: LogKey, conversation: ConversationId, options?: Wait & {
    take?: boolean;
  }): Promise<readonly Withheld[]>;
  prune(before: number, options?: Wait): Promise<{
    readonly records: number;
    readonly items: number;
  }>;
  forget(seqs: readonly number[], options?: Wait & {
    readonly swaps?: readonly Swap[];
  }): Promise<boolean>;
  erase(log: LogKey, before: number, options?: Wait): Promise<Erased>;
  setting(key: string, options?: Wait): Promise<Json | undefined>;
  setSetting(key: string, value: Json | undefined, options?: Wait): Promise<void>;
  swapSetting(key: string, from: Json | undefined, to: Json | undefined, options?: Wait): Promise<boolean>;
  secret(options?: Wait): Promise<string>;
  verify(options?: Wait & Progress): Promise<readonly string[]>;
  close(): Promise<void>;
}
type Erased = {
  readonly records: number;
  readonly notifications: number;
  readonly conversations: number;
  readonly withheld: number;
  readonly settings: number;
};
type Swap = {
  readonly key: string;
  readonly from: Json | undefined;
  readonly to: Json | undefined;
};
type Wait = {
  readonly withinMs?: number;
  readonly signal?: AbortSignal;
};
type AppendOptions = Wait & {
  readonly swaps?: readonly Swap[];
  readonly newIds?: boolean;
};
type Appended = {
  readonly kind: 'appended';
  readonly records: readonly Stored[];
  readonly items: readonly Item[];
} |
{
  readonly kind: 'duplicate';
  readonly id: NotificationId;
  readonly item: Item;
} | {
  readonly kind: 'conflict';
  readonly ids: readonly {
    readonly id: NotificationId;
    readonly why: 'closed' | 'offered' | 'unknown' | 'counted';
  }[];
} |
{
  readonly kind: 'stale';
  readonly key: string;
};
type ReadQuery = {
  readonly log?: LogKey;
  readonly project?: string;
  readonly after?: number;
  readonly upTo?: number;
  readonly limit?: number;
  readonly conversation?: ConversationId;
  readonly types?: readonly string[];
  readonly newestFirst?: boolean;
  readonly seqs?: readonly number[];
};
type PresenceQuery = {
  readonly project?: string;
  readonly log?: LogKey;
  readonly conversation?: ConversationId;
  readonly after?: LogKey;
  readonly limit?: number;
};
type Progress = {
  readonly onProgress?: ((done: number, of: number) => void) | undefined;
};
type ItemQuery =
{
  readonly kind: 'open';
  readonly conversation?: ConversationId;
  readonly limit?: number;
} |
{
  readonly kind: 'held';
} |
{
  readonly kind: 'gate';
  readonly conversation?: ConversationId;
  readonly read?: true;
} |
{
  readonly kind: 'unread';
  readonly conversation?: ConversationId;
  readonly limit?: number;
  readonly before?: number;
} |
{
  readonly kind: 'key';
  readonly key: string;
} | {
  readonly kind: 'ids';
  readonly ids: readonly NotificationId[];
} | {
  readonly kind: 'carrier';
  readonly carrier: CarrierId;
} |
{
  readonly kind: 'latest';
  readonly limit: number;
  readonly before?: number;
  readonly state?: 'open' | 'closed';
} |
{
  readonly kind: 'closed';
  readonly limit: number;
  readonly from: number;
  readonly to: number;
  readonly before?: {
    readonly closedAt: number;
    readonly seq: number;
  };
};
type LogOverview = {
  readonly log: LogKey;
  readonly open: {
    readonly info: number;
    readonly warning: number;
    readonly error: number;
    readonly critical: number;
  };
  readonly oldestOpenAt?: number;
};
type AgentOverview = LogOverview & {
  readonly paused: boolean;
  readonly gated: boolean;
  readonly presence: readonly Presence[];
  readonly last?: {
    readonly type: string;
    readonly at: number;
    readonly conversation?: string;
    readonly what?: string;
  };
};
declare const MAX_CONVERSATIONS_OF_AN_OVERVIEW = 20;
type Presence = {
  readonly log: LogKey;
  readonly conversation: ConversationId;
  readonly purpose?: string;
  readonly host?: string;
  readonly hostVersion?: string;
  readonly process?: Owner;
  readonly shared?: boolean;
  readonly folder?: string;
  readonly pending?: true;
  readonly began?: {
    readonly run: string;
    readonly beside: readonly string[];
  };
  readonly passedTo?: {
    readonly conversation: ConversationId;
    readonly at: number;
  };
  readonly connections?: Readonly<Record<string, Owner>>;
  readonly carriers: Readonly<Record<string, number>>;
  readonly points?: Readonly<Record<string, readonly ContactPoint[]>>;
  readonly startedAt: number;
  readonly seenAt: number;
  readonly carriedAt?: number;
  readonly endedAt?: number;
  readonly told: boolean;
  readonly mark?: string;
  readonly pulls: boolean;
  readonly has?: readonly string[];
  readonly turns: number;
};
type PresenceUpdate = Pick<Presence, 'log' | 'conversation'> & {
  readonly purpose?: string;
  readonly host?: string;
  readonly hostVersion?: string;
  readonly process?: Owner;
  readonly shared?: boolean;
  readonly folder?: string;
  readonly pending?: boolean;
  readonly began?: Presence['began'];
  readonly passedTo?: ConversationId;
  readonly connect?: {
    readonly key: string;
    readonly process: Owner;
  };
  readonly disconnect?: readonly string[];
  readonly carrier?: string;
  readonly points?: readonly ContactPoint[];
  readonly carried?: true;
  readonly ended?: boolean | 'alone';
  readonly told?: true;
  readonly mark?: string;
  readonly pulls?: boolean;
  readonly has?: readonly string[];
  readonly turnStarted?: true;
};
type Withheld = {
  readonly log: LogKey;
  readonly conversation: ConversationId;
  readonly id: string;
  readonly at: number;
  readonly until: number;
  readonly tool: string;
  readonly body: string;
};
interface Clock {
  now(): number;
}
declare class EarpieceError extends Error {
  readonly name = "EarpieceError";
  readonly code: ErrorCode;
  readonly retryable: boolean;
  readonly data: Readonly<Record<string, unknown>>;
  constructor(code: ErrorCode, message: string, options?: {
    retryable?: boolean;
    data?: Record<string, unknown>;
    cause?: unknown;
  });
}
type ErrorCode = 'bad_address' | 'bad_notification' | 'bad_event' | 'bad_subscriber' | 'bad_config' | 'bad_argument' | 'not_found' | 'conflict' | 'nobody_there' | 'not_trusted' | 'store_unavailable' | 'store_refused' | 'store_corrupt' | 'store_full' | 'bad_frame' | 'upstream' | 'timeout';
declare function formerOf<T extends Pick<Item, 'id' | 'audience'>>(item: Item, found: readonly T[]): T | undefined;
type Touches = {
  readonly ids: readonly NotificationId[];
  readonly carrier?: CarrierId;
  readonly creates: readonly NotificationId[];
};
type Settled = {
  readonly kind: 'settled';
  readonly items: readonly Item[];
} |
{
  readonly kind: 'duplicate';
  readonly id: NotificationId;
} |
{
  readonly kind: 'conflict';
  readonly ids: readonly {
    readonly id: NotificationId;
    readonly why: Why;
  }[];
};
type Why = 'closed' | 'offered' | 'unknown' | 'counted';
declare const clockBeside: (at: number, clock: number) => {
  readonly clock?: number;
};
type Stamped = Pick<Item, 'at' | 'clock'>;
type Timed = Stamped & {
  readonly notification: Pick<Item['notification'], 'expiresAt'>;
};
declare function isExpired(item: Timed, now: number, sighted?: number): boolean;
type FileSystem = {
  readonly type: number;
  readonly name?: string;
  readonly mountedAt?: string;
};
type OpenOptions = {
  readonly path: string;
  readonly probe?: (path: string) => FileSystem;
  readonly sqliteVersion?: string;
};
type DatabaseOptions = OpenOptions & {
  readonly report?: (line: string) => void;
};
type Compacted = {
  readonly before: number;
  readonly after: number;
  readonly unused: number;
  readonly readable: readonly string[];
};
type SqliteOptions = DatabaseOptions & {
  readonly clock?: Clock;
  readonly busyMs?: number;
  readonly together?: boolean;
};
interface SqliteStore extends Store {
  readonly path: string;
  readonly lastAt: number;
  backup(to: string): Promise<void>;
  compact(options?: Wait): Promise<Compacted>;
}
declare const heldFor: (item: Pick<Item, 'takenBy' | 'audience'>, conversation: ConversationId | undefined) => boolean;
declare function presenceAfter(known: Presence | undefined, update: PresenceUpdate, now: number): Presence;
declare const isHousekeeping: (draft: Draft) => boolean;
declare function mustConcernNoItem({ seq, body }: {
  readonly seq: number;
  readonly body: Draft;
}): void;
declare const isPast: (item: Item, before: number) => boolean;
declare function removable(history: readonly {
  readonly seq: number;
  readonly body: Draft;
}[], stays: (id: NotificationId) => boolean): number[];
declare function removableLoose(loose: readonly {
  readonly seq: number;
  readonly body: Draft;
}[]): number[];
declare function unsound(log: LogKey, records: Iterable<Stored>, indexed: Iterable<Item>): string[];
declare const CAPABILITIES: readonly ['survives-restart', 'many-processes', 'overwrites-erased'];
type Capability = (typeof CAPABILITIES)[number];
type Producing = {
  stop(): Promise<readonly string[]>;
};
type StoreUnderTest<S extends Store = Store> = {
  readonly make: (options: {
    readonly clock: Clock;
  }) => S | Promise<S>;
  readonly again?: (store: S, options: {
    readonly clock: Clock;
  }) => S | Promise<S>;
  readonly contents?: (store: S) => Uint8Array | Promise<Uint8Array>;
  readonly producers?: (store: S, log: LogKey, count: number) => Promise<Producing>;
  readonly lacks?: Partial<Readonly<Record<Capability, string>>>;
};
type TestRunner = {
  readonly describe: (name: string, body: () => void) => unknown;
  readonly test: (name: string, options: {
    readonly skip: boolean;
    readonly timeout: number;
  }, body: () => Promise<void>) => unknown;
};
declare function runStoreContract<S extends Store>(name: string, backend: StoreUnderTest<S>, runner: TestRunner): void;
declare function memoryStore(options?: {
  readonly clock?: Clock;
}): Store;
declare function openSqliteStore(options: SqliteOptions): Promise<SqliteStore>;
declare function touches(draft: Draft): Touches;
declare function settle(draft: Draft, place: Pick<Stored, 'seq' | 'at' | 'clock'>, found: readonly Item[]): Settled;
declare function replay(records: Iterable<Pick<Stored, 'seq' | 'at' | 'clock' | 'body'>>): Map<string, Item>;
export {
  ANYONE,
  type AgentOverview,
  type Appended,
  type Capability,
  type Clock,
  type ConversationId,
  type Draft,
  EarpieceError,
  type Erased,
  type Item,
  type ItemQuery,
  type Json,
  type LogKey,
  type LogOverview,
  MAX_CONVERSATIONS_OF_AN_OVERVIEW,
  type NotificationId,
  type Owner,
  type Presence,
  type PresenceUpdate,
  type Producing,
  type Progress,
  type ReadQuery,
  type Settled,
  type SqliteOptions,
  type SqliteStore,
  type Store,
  type StoreUnderTest,
  type Stored,
  type Swap,
  type TestRunner,
  type Touches,
  type Wait,
  type Withheld,
  clockBeside,
  formerOf,
  heldFor,
  isExpired,
  isHousekeeping,
  isPast,
  isSignOfWork,
  memoryStore,
  mustConcernNoItem,
  openSqliteStore,
  presenceAfter,
  removable,
  removableLoose,
  replay,
  runStoreContract,
  settle,
  touches,
  unsound,
};
