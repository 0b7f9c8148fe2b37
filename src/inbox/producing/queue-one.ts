/**
 * Puts one notification into the log of one agent. If an open notification of the same key can count the notification, folds it
 * into that notification. Otherwise, queues it.
 */
import { isDeepStrictEqual } from 'node:util';
import type { ConversationId, LogKey } from '../../core/address.ts';
import { endOf } from '../../core/clocks.ts';
import { defined } from '../../core/defined.ts';
import { EarpieceError } from '../../core/errors.ts';
import type { Item } from '../../core/items.ts';
import { isInterrupt, type Notification, type NotificationId } from '../../core/notification.ts';
import type { Policy } from '../../core/policy.ts';
import { queuedRecord, type FoldedRecord } from '../../core/records.ts';
import type { Context } from '../context.ts';
import { audienceOf } from './audience.ts';
import { oneByOne } from './one-by-one.ts';
import { checkRepetition, isSameSender } from './same-id.ts';
import { pausesOf, resumeRecords } from './withdraw.ts';

export type QueuedOne =
  | { readonly kind: 'queued' | 'duplicate'; readonly id: NotificationId }
  | { readonly kind: 'folded'; readonly id: NotificationId; readonly into: NotificationId };

type How = {
  readonly policy: Policy;
  readonly conversations: readonly ConversationId[];
  /** True if this process has just made the id, and uses it only in this log. */
  readonly isNewId?: boolean;
};

/** Queues or folds one notification. `conversations`: the audiences. If this list is empty, `audienceOfAction` decides. */
export function queueOne(context: Context, log: LogKey, notification: Notification, how: How): Promise<QueuedOne> {
  const { key, supersede } = notification;
  const queue = (): Promise<QueuedOne> => queueOrFold(context, log, notification, how);
  return key === undefined || supersede ? queue() : oneByOne(context.store, `${log}\n${key}`, queue);
}

async function queueOrFold(
  context: Context,
  log: LogKey,
  notification: Notification,
  { policy, conversations, isNewId = false }: How,
): Promise<QueuedOne> {
  const { store } = context;
  const { id } = notification;
  const audience = conversations.length === 0 ? await audienceOfAction(context, log, notification) : conversations;
  const into = await foldable(context, log, notification, audience);
  if (into) {
    const differs = differsFrom(into, notification);
    const count = notification.count ?? 1;
    const folded = await store.append(log, [
      { type: 'system_notification_folded', id, into: into.id, count, ...defined({ differs }) },
    ]);
    if (folded.kind === 'appended') return { kind: 'folded', id, into: into.id };
    if (folded.kind === 'duplicate') return repetition(log, folded.item, notification);
    // On a conflict, the open notification was taken or closed since, so the new notification is queued separately.
  }
  const queued = queuedRecord(
    notification,
    audience.length === 1 ? { conversation: audience[0] } : { audience: audience.length > 0 ? audience : undefined },
  );
  for (;;) {
    // A resume of the whole agent also lifts the pauses of conversations that are not active, because their heirs would inherit
    // these pauses.
    const whose = notification.purpose === undefined ? conversations : audience;
    const lifted = notification.action === 'resume' ? await pausesOf(context, log, whose) : [];
    const appended = await store.append(log, [queued, ...resumeRecords(lifted, id)], { newIds: isNewId });
    if (appended.kind === 'duplicate') return repetition(log, appended.item, notification);
    if (appended.kind === 'appended') break;
    // The append conflicts if one of the pauses was delivered or has ended since, so the pauses are read again.
  }
  try {
    await context.limit.queued(log, policy);
  } catch (error) {
    // The notification is stored, so the call has succeeded. The next notification checks the limit again.
    if (!(error instanceof EarpieceError)) throw error;
  }
  return { kind: 'queued', id };
}

function repetition(log: LogKey, held: Item, notification: Notification): QueuedOne {
  checkRepetition(log, held.notification, notification);
  return { kind: 'duplicate', id: notification.id };
}

/**
 * Returns the audiences of a notification for an agent. An action is for each active conversation of its purpose. For any other
 * notification the list is empty: the first conversation of the agent that can deliver the notification takes it.
 */
export async function audienceOfAction(
  context: Context,
  log: LogKey,
  notification: Notification,
): Promise<readonly ConversationId[]> {
  if (notification.action === undefined) return [];
  return (await audienceOf(context, { log }, notification)).map((p) => p.conversation);
}

/**
 * Finds the open notification into which a new notification can be counted. The open notification has the same key, kind, level,
 * audience, sender, purpose, instruction, `needs`, subscriber, template and `about`, and was never offered. Both notifications
 * are due together and expire at about the same time. Neither notification has an action, supersedes others, or interrupts.
 */
export async function foldable(
  { store }: Context,
  log: LogKey,
  notification: Notification,
  audience: readonly ConversationId[],
): Promise<Item | undefined> {
  const { key, action, supersede } = notification;
  if (key === undefined || supersede || action !== undefined || isInterrupt(notification) || audience.length > 1)
    return undefined;
  const open = await store.items(log, { kind: 'key', key });
  const wanted = audience[0] ?? '';
  return open.findLast(
    (item) =>
      item.state === 'open' &&
      item.offers === 0 &&
      item.audience === wanted &&
      item.notification.action === undefined &&
      item.notification.level === notification.level &&
      item.notification.kind.source === notification.kind.source &&
      item.notification.kind.name === notification.kind.name &&
      !item.notification.supersede &&
      isOfSender(item.notification, notification) &&
      item.notification.purpose === notification.purpose &&
      item.notification.about === notification.about &&
      isDueWith(item.notification, notification) &&
      lastsLike(item, notification, store.now()) &&
      item.notification.instruction === notification.instruction &&
      isDeepStrictEqual(item.notification.needs, notification.needs) &&
      item.notification.subscriber?.id === notification.subscriber?.id &&
      item.notification.subscriber?.template === notification.subscriber?.template &&
      open.filter((other) => other.id === item.id).length === 1,
  );
}

/**
 * Whether the line of `into` names the sender of both notifications: a line names the person or the agent of its first
 * notification. The depth of the notification must also not exceed the depth of `into`, because the log keeps only the depth of
 * `into`.
 */
function isOfSender(into: Notification, notification: Notification): boolean {
  return isSameSender(into, notification) && (into.origin?.depth ?? 0) >= (notification.origin?.depth ?? 0);
}

/**
 * Whether a notification is due together with `into`. A repetition of an event (`repeats`) is delayed only so that no separate
 * line repeats a text. Therefore, a line that is due earlier may count the repetition.
 */
function isDueWith({ deliver: first }: Notification, { deliver, subscriber }: Notification): boolean {
  if (isDeepStrictEqual(first, deliver)) return true;
  if (!subscriber?.repeats || typeof deliver !== 'object' || !('at' in deliver)) return false;
  return typeof first !== 'object' || ('at' in first && first.at <= deliver.at);
}

/**
 * Whether the open item and the notification expire at about the same time. Repetitions of one event expire one after the other,
 * so it is enough if the shorter remaining time is at least half of the longer.
 */
function lastsLike(into: Item, { expiresAt }: Notification, now: number): boolean {
  const left = (end: number | null = null): number => (end === null ? Number.POSITIVE_INFINITY : end - now);
  const [a, b] = [left(endOf(into, now)), left(expiresAt)];
  return 2 * Math.min(a, b) >= Math.max(a, b);
}

function differsFrom(into: Item, notification: Notification): FoldedRecord['differs'] {
  const message = notification.message === into.notification.message ? undefined : notification.message;
  const data = JSON.stringify(notification.data) === JSON.stringify(into.notification.data) ? undefined : notification.data;
  if (message === undefined && data === undefined) return undefined;
  return { ...defined({ message, data }) };
}
