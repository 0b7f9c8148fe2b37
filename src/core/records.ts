import type { ConversationId, LogKey } from './address.ts';
import type { Json } from './json.ts';
import type { Notification, NotificationId } from './notification.ts';

/** Names one carrier; made by the inbox, unique per store. */
export type CarrierId = string & { readonly __brand: 'CarrierId' };

/** When a host composes a carrier. */
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

/** How a notification ended without being delivered. */
export const OUTCOMES = ['withdrawn', 'expired', 'superseded', 'filtered', 'dropped', 'known', 'summarized'] as const;
export type Outcome = (typeof OUTCOMES)[number];

/** Who holds a lease: a process of a machine. `startedAt` (clock ticks or ms, opaque) tells a reused pid apart. */
export type Owner = { readonly machine: string; readonly pid: number; readonly startedAt: string };

export const VIEW_NAMES = ['default', 'markdown', 'xml', 'xml_batch', 'toon', 'json', 'signal_en', 'signal_ja'] as const;
export type ViewName = (typeof VIEW_NAMES)[number];

/**
 * What the model reads, kept as it was sent. `items` holds one text a line of the plan; `ids` are the notifications in it
 * (several when they were coalesced). Re-offers copy `items[].text` verbatim.
 */
export type SentView = {
  readonly format: ViewName;
  readonly items: readonly { readonly ids: readonly NotificationId[]; readonly text: string }[];
  readonly text: string;
  readonly repeated?: true;
};

type Base = { readonly conversation?: ConversationId; readonly metadata?: Json };

/** A notification as records hold it: `level: info` is left out. */
export type RecordedNotification = Omit<Notification, 'level'> & { readonly level?: Notification['level'] };

/** The notification itself, flattened. `audience`: see `Item`. */
export type QueuedRecord = Base &
  RecordedNotification & {
    readonly type: 'system_notification_queued';
    readonly audience?: readonly ConversationId[];
  };
/** A notification that was counted into an open one of its key instead of standing alone. */
export type FoldedRecord = Base & {
  readonly type: 'system_notification_folded';
  readonly id: NotificationId;
  readonly into: NotificationId;
  readonly count: number;
  /** What is different from those counted before: message and data, nothing where all is the same. */
  readonly differs?: { readonly message?: string; readonly data?: Json };
};
/** A lease: these ids are on their way to the model in a carrier whose transcript another program owns. */
export type OfferedRecord = Base & {
  readonly type: 'carrier_offered';
  readonly carrier: CarrierId;
  readonly at_point: ContactPoint;
  readonly ids: readonly NotificationId[];
  /** Closed as summarized when this carrier is confirmed. */
  readonly summarizes?: readonly NotificationId[];
  readonly owner: Owner;
  /** Epoch ms; a lease that is older may be released by anyone. */
  readonly until: number;
  readonly view: SentView;
  /** What is carried it: the tool's name, the hook's event. */
  readonly on?: string;
  /** This carrier is the answer of `get_notifications`: its confirm also reads. */
  readonly reads?: true;
  readonly facts?: Json;
};
export type ConfirmedRecord = Base & { readonly type: 'carrier_confirmed'; readonly carrier: CarrierId; readonly late?: true };
export type ReleasedRecord = Base & {
  readonly type: 'carrier_released';
  readonly carrier: CarrierId;
  readonly reason: 'cancelled' | 'write_error' | 'too_big' | 'late' | 'owner_dead' | 'lease_expired' | 'shutdown';
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
};
export type ClosedRecord = Base & {
  readonly type: 'notification_closed';
  readonly ids: readonly NotificationId[];
  readonly outcome: Outcome;
  readonly by: string;
  readonly reason: string;
};
/** An upstream tool call was answered with the gate's text instead of being passed on. `text`: what was said, where it was said first. */
export type GateRefusedRecord = Base & {
  readonly type: 'gate_refused';
  readonly ids: readonly NotificationId[];
  readonly on: string;
  /** What was said, where it was said first. */
  readonly text?: string;
};
/** In the log `project/*`: who gets a fan-out, written before the first queue, and that all were queued. */
export type FanOutRecord = Base & {
  readonly type: 'fan_out';
  readonly id: NotificationId;
  readonly notification: RecordedNotification;
  readonly targets: readonly { readonly log: LogKey; readonly conversations: readonly ConversationId[] }[];
};
export type FanOutDoneRecord = Base & { readonly type: 'fan_out_done'; readonly id: NotificationId };

/**
 * A conversation that begins with what another one of its log was up to `upTo` (inclusive). `ids`: what was open there for
 * that other one; the same ids are open in this one. The log holds the shared part once.
 */
export type ForkedRecord = Base & {
  readonly type: 'conversation_forked';
  readonly from: ConversationId;
  readonly upTo: number;
  readonly ids: readonly NotificationId[];
};

type Carrying = {
  readonly notifications?: readonly RecordedNotification[];
  readonly view?: SentView;
  readonly summarizes?: readonly NotificationId[];
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

/** A type that this version does not know: kept and handed on untouched, without effect. */
export type UnknownRecord = Base & { readonly type: string; readonly [key: string]: unknown };

export type KnownDraft =
  | QueuedRecord
  | FoldedRecord
  | OfferedRecord
  | ConfirmedRecord
  | ReleasedRecord
  | ObservedRecord
  | ReadRecord
  | ClosedRecord
  | GateRefusedRecord
  | FanOutRecord
  | FanOutDoneRecord
  | ForkedRecord
  | TurnStartRecord
  | ChatRequestRecord
  | ChatResponseRecord
  | ToolCallRequestRecord
  | ToolCallResponseRecord;

/** A record before the store has given it its place and time. */
export type Draft = KnownDraft | UnknownRecord;

/**
 * One stored fact. `seq` is unique in the store and grows along each log; `at` is epoch ms and never runs backwards in a
 * log. `body` is the draft as it was given.
 */
export type Stored = { readonly seq: number; readonly log: LogKey; readonly at: number; readonly body: Draft };

/** The types that may reach a provider, and no others: a new internal type is invisible by default. */
export const PROVIDER_VISIBLE: ReadonlySet<string> = new Set([
  'chat_request',
  'chat_response',
  'tool_call_request',
  'tool_call_response',
]);

/** By the newest of these it is told what an agent does, or did last; what others do to its log is no sign of that. */
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
    ...(to.conversation === undefined ? {} : { conversation: to.conversation }),
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
