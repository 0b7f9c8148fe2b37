/** Provides short functions that make drafts for store tests. */
import type { ConversationId, LogKey } from '../../core/address.ts';
import { defined } from '../../core/defined.ts';
import type { Notification, NotificationId } from '../../core/notification.ts';
import type {
  CarrierId,
  ClosedRecord,
  ConfirmedRecord,
  Draft,
  ExtendedRecord,
  FoldedRecord,
  ForkedRecord,
  GateRefusedRecord,
  OfferedRecord,
  Outcome,
  Owner,
  QueuedRecord,
  ReadRecord,
  RedactedRecord,
  ReleasedRecord,
  SentView,
  SucceededRecord,
  ToolCallResponseRecord,
} from '../../core/records.ts';

export const LOG = 'shop/coder' as LogKey;
export const OTHER = 'shop/tester' as LogKey;
export const ELSEWHERE = 'farm/coder' as LogKey;
export const ids = (...raw: string[]): NotificationId[] => raw as NotificationId[];
export const conversation = (raw: string): ConversationId => raw as ConversationId;
export const carrierId = (raw: string): CarrierId => raw as CarrierId;
export const ME: Owner = { machine: 'm1', pid: 4711, startedAt: '99' };

export function queued(
  id: string,
  more: Partial<Omit<QueuedRecord, 'conversation'>> & { conversation?: string } = {},
): QueuedRecord {
  return {
    type: 'system_notification_queued',
    id: id as NotificationId,
    kind: { source: 'tool', name: 'finished' },
    message: `message of ${id}`,
    expiresAt: null,
    ...(more as Partial<QueuedRecord>),
  };
}

export const folded = (id: string, into: string, more: Partial<FoldedRecord> = {}): FoldedRecord => ({
  type: 'system_notification_folded',
  id: id as NotificationId,
  into: into as NotificationId,
  count: 1,
  ...more,
});

export const view = (...raw: string[]): SentView => ({
  format: 'default',
  items: raw.map((id) => ({ ids: ids(id), text: `text of ${id}` })),
  text: raw.map((id) => `text of ${id}`).join('\n'),
});

export const offered = (
  carrier: string,
  of: readonly string[],
  more: Partial<Omit<OfferedRecord, 'conversation'>> & { conversation?: string } = {},
): OfferedRecord => ({
  type: 'carrier_offered',
  carrier: carrierId(carrier),
  at_point: 'tool_result',
  ids: ids(...of),
  owner: ME,
  until: 30_000,
  // The view is always marked as repeated, because an unmarked offer conflicts if a notification was offered before.
  view: { ...view(...of), repeated: true },
  ...(more as Partial<OfferedRecord>),
});

export const confirmed = (carrier: string): ConfirmedRecord => ({ type: 'carrier_confirmed', carrier: carrierId(carrier) });
export const released = (carrier: string, reason: ReleasedRecord['reason'] = 'cancelled'): ReleasedRecord => ({
  type: 'carrier_released',
  carrier: carrierId(carrier),
  reason,
});
export const redacted = (of: readonly string[], refusals?: number): RedactedRecord => ({
  type: 'carrier_redacted',
  ids: ids(...of),
  reason: '400: bad request',
  ...defined({ refusals }),
});
export const closed = (of: readonly string[], outcome: Outcome, as?: string): ClosedRecord => ({
  type: 'notification_closed',
  ids: ids(...of),
  outcome,
  by: 'test',
  reason: 'because',
  ...(as === undefined ? {} : { conversation: conversation(as) }),
});
export const read = (of: readonly string[], as?: string): ReadRecord => ({
  type: 'notification_read',
  ids: ids(...of),
  by: 'get_notifications',
  ...(as === undefined ? {} : { conversation: conversation(as) }),
});
export const observed = (of: readonly string[]): Draft => ({
  type: 'notification_observed',
  ids: ids(...of),
  evidence: 'transcript',
});
export const refused = (of: readonly string[]): GateRefusedRecord => ({
  type: 'gate_refused',
  ids: ids(...of),
  on: 'write_file',
});

/** Makes a fork: `to` begins as a copy of `from`. Notifications that are open in `from` are open in `to` too. */
export const forked = (of: readonly string[], from: string, to: string, upTo = 0): ForkedRecord => ({
  type: 'conversation_forked',
  conversation: conversation(to),
  from: conversation(from),
  upTo,
  ids: ids(...of),
});

/** Makes a succession: `to` takes over the unread notifications of `from`. */
export const succeeded = (
  of: readonly string[],
  from: string,
  to: string,
  why: SucceededRecord['why'] = 'ended',
): SucceededRecord => ({
  type: 'conversation_succeeded',
  conversation: conversation(to),
  from: conversation(from),
  ids: ids(...of),
  why,
  ...(why === 'merged' ? { merges: true as const } : {}),
});
/** Makes an extension: `to` becomes an additional audience of the notifications. */
export const extended = (of: readonly string[], to: string): ExtendedRecord => ({
  type: 'notification_extended',
  conversation: conversation(to),
  ids: ids(...of),
  reason: 'the conversation began while the notification was open',
});

export const result = (
  of: readonly string[],
  as = 'main',
  more: Partial<ToolCallResponseRecord> = {},
): ToolCallResponseRecord => ({
  type: 'tool_call_response',
  conversation: conversation(as),
  id: 'call_1',
  content: 'done',
  is_error: false,
  ...(of.length === 0 ? {} : { notifications: of.map((id) => ({ id }) as Notification), view: view(...of) }),
  ...more,
});
export const said = (message: string, as = 'main'): Draft => ({ type: 'chat_response', conversation: conversation(as), message });
