import type { ConversationId, LogKey } from './address.ts';
import type { Explained } from './cause.ts';
import { defined } from './defined.ts';
import type { Json } from './json.ts';
import type { Notification, NotificationId } from './notification.ts';

/** The id of one carrier, made by the inbox and unique in its store. */
export type CarrierId = string & { readonly __brand: 'CarrierId' };

/** The points in the agent's loop at which a host composes a carrier. */
export const CONTACT_POINTS = [
  'turn_start',
  'cycle_start',
  'tool_result',
  'tool_batch_end',
  'turn_end',
  'idle',
  'forced',
] as const;
export type ContactPoint = (typeof CONTACT_POINTS)[number];

/** The ways in which a `notification_closed` record ends a notification. `Item.outcome` has further ways. */
export const OUTCOMES = ['withdrawn', 'expired', 'superseded', 'filtered', 'dropped', 'known', 'summarized'] as const;
export type Outcome = (typeof OUTCOMES)[number];

/** The holder of a lease: a process on a machine. `startedAt` (clock ticks or ms, opaque) detects a reused pid. */
export type Owner = { readonly machine: string; readonly pid: number; readonly startedAt: string };

export const VIEW_NAMES = ['default', 'markdown', 'xml', 'xml_batch', 'toon', 'json', 'signal_en', 'signal_ja'] as const;
export type ViewName = (typeof VIEW_NAMES)[number];

/**
 * The text for the model, as it was sent. `items` contains one text for each line of the plan, with the `ids` of its
 * notifications. A re-offer copies `items[].text` verbatim, unless one of the line's notifications has closed. `repeated` marks a
 * line that was sent before, and a view that contains such a line.
 */
export type SentView = {
  readonly format: ViewName;
  readonly items: readonly {
    readonly ids: readonly NotificationId[];
    readonly text: string;
    readonly repeated?: true;
  }[];
  readonly text: string;
  readonly repeated?: true;
};

type Base = { readonly conversation?: ConversationId; readonly metadata?: Json };

/** A notification in a record, where `level: info` is omitted. */
export type RecordedNotification = Omit<Notification, 'level'> & { readonly level?: Notification['level'] };

/** Queues a notification. The record contains the notification's fields. `audience`: see `Item`. */
export type QueuedRecord = Base &
  RecordedNotification & {
    readonly type: 'system_notification_queued';
    readonly audience?: readonly ConversationId[];
  };
/** Folds a notification into an open notification with the same key. */
export type FoldedRecord = Base & {
  readonly type: 'system_notification_folded';
  readonly id: NotificationId;
  readonly into: NotificationId;
  readonly count: number;
  /** The message and data of this notification, if they differ from those of the notification `into`. */
  readonly differs?: { readonly message?: string; readonly data?: Json };
};
/** Leases these notifications to a carrier in a transcript that another program owns. */
export type OfferedRecord = Base & {
  readonly type: 'carrier_offered';
  readonly carrier: CarrierId;
  readonly at_point: ContactPoint;
  readonly ids: readonly NotificationId[];
  /** The notifications that close as summarized when this carrier is confirmed. */
  readonly summarizes?: readonly NotificationId[];
  /**
   * The number of notifications that each item counted at the time of the plan, for `ids` and then for `summarizes`. If an item
   * counts more at the append, the append fails. Missing in records without a plan, and from before 0.1.0.
   */
  readonly counts?: readonly number[];
  readonly owner: Owner;
  /**
   * `hook`: the carrier is a hook's output. The hook's process exits after its output, so it cannot learn whether the host got
   * the output.
   */
  readonly through?: 'hook';
  /** Epoch ms. Any process may release a lease after this time. */
  readonly until: number;
  readonly view: SentView;
  /** The carrier's name: a tool or a hook event. */
  readonly on?: string;
  /** True if this carrier is the answer of `get_notifications`, whose confirmation also marks the notifications as read. */
  readonly reads?: true;
  /**
   * With `reads`: further notifications that the answer shows. Such a notification was closed before (summarized, cut, or holding
   * the gate up), or another carrier has offered it.
   */
  readonly shows?: readonly NotificationId[];
  /** With `reads`: the wall clock of the offering process, epoch ms. The store's `at` may be ahead of that clock. */
  readonly clockAt?: number;
  readonly facts?: Json;
};
export type ConfirmedRecord = Base & { readonly type: 'carrier_confirmed'; readonly carrier: CarrierId; readonly late?: true };
/**
 * `unproven`: the host got the carrier, but its model did not read the carrier. There are three cases: the host died and its
 * transcript lacks the carrier, the host stopped waiting for the hook, or the host ran the refused call. No other reason reopens
 * a closed item.
 */
export type ReleasedRecord = Base & {
  readonly type: 'carrier_released';
  readonly carrier: CarrierId;
  readonly reason:
    | 'cancelled'
    | 'write_error'
    | 'too_big'
    | 'late'
    | 'client_died'
    | 'owner_dead'
    | 'lease_expired'
    | 'shutdown'
    | 'unproven';
};
/**
 * The provider refused the request with these notifications and accepted it without them. One line replaces these notifications
 * in the prompt. `refusals` counts the refusals. Records from before 0.1.0 lack `refusals`. Such a record still changes the
 * prompt, but changes no item.
 */
export type RedactedRecord = Base & {
  readonly type: 'carrier_redacted';
  readonly ids: readonly NotificationId[];
  readonly reason: string;
  readonly refusals?: number;
};
export type ObservedRecord = Base & {
  readonly type: 'notification_observed';
  readonly ids: readonly NotificationId[];
  readonly evidence: string;
};
export type ReadRecord = Base & {
  readonly type: 'notification_read';
  readonly ids: readonly NotificationId[];
  readonly by: string;
  /** True if the notifications are pauses, whose gate stays up until a person lifts the pauses. */
  readonly holds?: true;
};
/**
 * Whether the agent itself read the notification. A record of the agent's own reading names a conversation, the transcript, or a
 * call after a refusal. Other records, such as a person's mark, do not prove that the model has read anything.
 */
export const isByAgent = ({ by, conversation }: Pick<ReadRecord, 'by' | 'conversation'>): boolean =>
  by === 'transcript' || by.startsWith('asked again ') || (conversation !== undefined && !by.includes(': '));

/**
 * Lowers the gate of these notifications, because a person resumed the agent, or because the notifications were withdrawn or have
 * expired. The model may not have read these notifications.
 */
export type GateLiftedRecord = Base &
  Explained & {
    readonly type: 'gate_lifted';
    readonly ids: readonly NotificationId[];
    readonly by: string;
  };
export type ClosedRecord = Base &
  Explained & {
    readonly type: 'notification_closed';
    readonly ids: readonly NotificationId[];
    /** The counts of `ids` at the time of the plan. If an item counts more at the append, the append fails. */
    readonly counts?: readonly number[];
    /** True if the record also closes the summarized, unread notifications among `ids`. Missing in records from before 0.1.0. */
    readonly summarized?: true;
    readonly outcome: Outcome;
    readonly by: string;
  };
/** Records that the gate, and not the tool, answered a tool call. */
export type GateRefusedRecord = Base & {
  readonly type: 'gate_refused';
  readonly ids: readonly NotificationId[];
  readonly on: string;
  /** The host's id of the call. */
  readonly call?: string;
  /** The gate's text, stored with the first refusal that used it. */
  readonly text?: string;
  /**
   * The wall clock of the refusing process, epoch ms. The store's `at` may be ahead of that clock. Missing in records from before
   * 0.1.0.
   */
  readonly clockAt?: number;
  /** The number of refusals in this record. Default: 1. */
  readonly times?: number;
  /** True if the call was made and its result withheld. */
  readonly made?: boolean;
  /**
   * The interrupts that this refusal showed to the model without an offer: another carrier held them, or the refusal was sent
   * before the store answered. The model may have seen these interrupts, even if no offer of them is ever confirmed.
   */
  readonly shows?: readonly NotificationId[];
};
/**
 * Records the receivers of a fan-out, in the log `project/*`. The record is written before the first receiver's notification is
 * queued. `fan_out_done` is written after the last receiver's notification. If the receivers fill more than one page, `upTo` is
 * the last log of the first page, and `targets` has only this page.
 */
export type FanOutRecord = Base & {
  readonly type: 'fan_out';
  readonly id: NotificationId;
  readonly notification: RecordedNotification;
  readonly targets: readonly { readonly log: LogKey; readonly conversations: readonly ConversationId[] }[];
  readonly upTo?: LogKey;
};
/** Records that the notification is queued for all receivers up to the log `upTo`. */
export type FanOutPartRecord = Base & { readonly type: 'fan_out_part'; readonly id: NotificationId; readonly upTo: LogKey };
export type FanOutDoneRecord = Base & { readonly type: 'fan_out_done'; readonly id: NotificationId };

/**
 * A conversation begins as a copy of another conversation of the log, up to `upTo` (inclusive). `ids`: the original's open
 * notifications, which are open in the copy too. The log contains the shared records only once.
 */
export type ForkedRecord = Base & {
  readonly type: 'conversation_forked';
  readonly from: ConversationId;
  readonly upTo: number;
  readonly ids: readonly NotificationId[];
};

/**
 * `conversation` takes over the unread notifications of `from`, with their history. `merges`: true if both are one conversation
 * of one host process. In that case, `conversation` also takes over offered notifications.
 */
export type SucceededRecord = Base & {
  readonly type: 'conversation_succeeded';
  readonly from: ConversationId;
  readonly ids: readonly NotificationId[];
  /** `merged`: the host process of `from` shows `conversation` now. */
  readonly why: 'ended' | 'died' | 'silent' | 'merged';
  readonly merges?: true;
};
/** `conversation` is one more audience of these notifications. */
export type ExtendedRecord = Base & {
  readonly type: 'notification_extended';
  readonly ids: readonly NotificationId[];
  readonly reason: string;
};

type Carrying = {
  readonly notifications?: readonly RecordedNotification[];
  readonly view?: SentView;
  readonly summarizes?: readonly NotificationId[];
  /** The counts in the view, of `notifications` and then of `summarizes`. See `OfferedRecord`. */
  readonly counts?: readonly number[];
};
export type TurnStartRecord = Base & { readonly type: 'turn_start' };
export type ChatRequestRecord = Base &
  Carrying & {
    readonly type: 'chat_request';
    readonly content: string;
    readonly source?: 'user' | 'system';
    readonly schema?: Json;
    readonly author?: string;
  };
export type ChatResponseRecord = Base & {
  readonly type: 'chat_response';
  readonly message?: string;
  readonly reasoning?: string;
  readonly data?: Json;
  readonly truncated?: true;
};
export type ToolCallRequestRecord = Base & {
  readonly type: 'tool_call_request';
  readonly id: string;
  readonly name: string;
  readonly arguments: Json;
};
export type ToolCallResponseRecord = Base &
  Carrying & { readonly type: 'tool_call_response'; readonly id: string; readonly content: string; readonly is_error: boolean };

/** A record of a type that this version does not know. Such a record is kept and passed on unchanged, and has no effect. */
export type UnknownRecord = Base & { readonly type: string; readonly [key: string]: unknown };

export type KnownDraft =
  | QueuedRecord
  | FoldedRecord
  | OfferedRecord
  | ConfirmedRecord
  | ReleasedRecord
  | RedactedRecord
  | ObservedRecord
  | ReadRecord
  | ClosedRecord
  | GateRefusedRecord
  | GateLiftedRecord
  | FanOutRecord
  | FanOutPartRecord
  | FanOutDoneRecord
  | ForkedRecord
  | SucceededRecord
  | ExtendedRecord
  | TurnStartRecord
  | ChatRequestRecord
  | ChatResponseRecord
  | ToolCallRequestRecord
  | ToolCallResponseRecord;

/** A record before the store has assigned its place and time. */
export type Draft = KnownDraft | UnknownRecord;

/**
 * One stored fact. `seq` is unique in the store and grows along each log. `at` is epoch ms and never runs backwards in a log.
 * `clock` is the time on the writer's own clock, if that clock is at least 60 s behind `at`. `body` is the appended draft.
 */
export type Stored = {
  readonly seq: number;
  readonly log: LogKey;
  readonly at: number;
  readonly clock?: number;
  readonly body: Draft;
};

/** Returns a record as `earpiece log --json` prints it and as an archive keeps it. */
export function inPrintedForm({ seq, log, at, body }: Stored): Record<string, unknown> {
  const place = { seq, log, at: new Date(at).toISOString() };
  // A record of an unknown type may have fields with the names in `place`, so `place` is spread again after the body.
  return { ...place, ...body, ...place };
}

/** The only record types that may reach a provider. A new internal type is therefore invisible by default. */
export const PROVIDER_VISIBLE: ReadonlySet<string> = new Set([
  'chat_request',
  'chat_response',
  'tool_call_request',
  'tool_call_response',
]);

/**
 * Whether only Earpiece itself may write records of this type. A foreign record of such a type could change items or tasks. Any
 * program may write records of the transcript types.
 */
export const isOurs = (type: string): boolean =>
  /^(?:agent|carrier|conversation|gate|handle|notifications?|task|template)_|^fan_out|^system_notification_/u.test(type);

/**
 * The record types that show an agent's activity. The newest of these records shows the current or last activity. Record types
 * that other processes write into the agent's log are not included.
 */
export const SIGNS_OF_WORK = [
  'turn_start',
  'chat_request',
  'chat_response',
  'tool_call_request',
  'tool_call_response',
  'agent_stopped',
  'agent_failed',
  'carrier_offered',
  'carrier_confirmed',
] as const;
const SIGNS: ReadonlySet<string> = new Set(SIGNS_OF_WORK);
export const isSignOfWork = ({ type }: Draft): boolean => SIGNS.has(type);

export const isType = <T extends KnownDraft['type']>(draft: Draft, type: T): draft is Extract<KnownDraft, { type: T }> =>
  draft.type === type;

export function queuedRecord(
  notification: Notification,
  to: { conversation?: ConversationId | undefined; audience?: readonly ConversationId[] | undefined },
): QueuedRecord {
  return {
    type: 'system_notification_queued',
    ...defined({ conversation: to.conversation }),
    ...(to.audience === undefined || to.audience.length === 0 ? {} : { audience: to.audience }),
    ...recorded(notification),
  };
}

export function notificationOf(record: QueuedRecord): Notification {
  const { type: _type, conversation: _conversation, audience: _audience, metadata: _metadata, ...rest } = record;
  return fromRecord(rest);
}

export function recorded(notification: Notification): RecordedNotification {
  const { level, ...rest } = notification;
  return level === 'info' ? rest : notification;
}

export const fromRecord = (notification: RecordedNotification): Notification => ({ level: 'info', ...notification });
