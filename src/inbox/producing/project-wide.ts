/**
 * Project-wide notifications. An interrupt to `project/*` also reaches the conversations that begin while the interrupt is open.
 * The project's own log keeps the interrupt until it expires or is withdrawn. A resume of the project withdraws the project's
 * pauses.
 */
import { splitLog, type ConversationId, type LogKey } from '../../core/address.ts';
import { agree, copiedTimes, isExpired, saidAt, type Stamped } from '../../core/clocks.ts';
import type { Item } from '../../core/items.ts';
import { isInterrupt, type Notification, type NotificationId } from '../../core/notification.ts';
import { queuedRecord } from '../../core/records.ts';
import type { Context } from '../context.ts';

/** Returns the log of a project. This log belongs to no agent. */
export const projectLog = (project: string): LogKey => `${project}/*` as LogKey;

export const isProjectLog = (log: LogKey): boolean => log.endsWith('/*');

/**
 * Whether the notification also applies to conversations that begin later. A resume does not: it has already lifted the pauses
 * that such conversations would get.
 */
export const appliesLater = (notification: Notification): boolean =>
  isInterrupt(notification) && notification.action !== 'resume';

type Beginning = { readonly log: LogKey; readonly id: ConversationId; readonly purpose?: string | undefined };

/**
 * Copies the open project-wide notifications to a conversation that begins. A notification that the conversation already has,
 * open or closed, is not copied again.
 */
export async function joinProjectWide(context: Context, beginning: Beginning): Promise<void> {
  const now = context.store.now();
  const open = await context.store.items(projectLog(splitLog(beginning.log).project), { kind: 'open' });
  for (const item of open) {
    const { purpose } = item.notification;
    if (item.state !== 'open' || isExpired(item, now)) continue;
    if (purpose === undefined || beginning.purpose === undefined || purpose === beginning.purpose)
      await join(context, beginning, item);
  }
}

/** Returns the times of a notification for a copy that this process queues. `from`: the stamp of the record that is copied. */
export async function timesOfCopy(context: Context, notification: Notification, from: Stamped): Promise<Times> {
  const now = context.store.now();
  const isTrusted = agree(saidAt(from), now) || (await context.witnesses.trusted());
  return copiedTimes(notification, from, { now, sighted: isTrusted ? undefined : now });
}

type Times = Pick<Notification, 'expiresAt' | 'deliver'>;

async function join(context: Context, { log, id }: Beginning, item: Item): Promise<void> {
  const notification = { ...item.notification, ...(await timesOfCopy(context, item.notification, item)) };
  const reason = 'the conversation began while the notification was open for the whole project';
  for (;;) {
    const known = await context.store.items(log, { kind: 'ids', ids: [notification.id] });
    if (known.some(({ audience }) => audience === id)) return;
    const appended = await context.store.append(log, [
      known.length === 0
        ? queuedRecord(notification, { conversation: id })
        : { type: 'notification_extended', conversation: id, ids: [notification.id], reason },
    ]);
    if (appended.kind !== 'duplicate') break;
  }
  await withdrawLateCopy(context, { log, id }, notification.id);
}

/**
 * Withdraws a copy whose original was withdrawn between the read and the copy. A withdrawal closes the original in the project's
 * log before it searches the agents' logs. Therefore, either the withdrawal finds the copy, or this check finds the closed
 * original.
 */
async function withdrawLateCopy(context: Context, { log, id }: Beginning, notification: NotificationId): Promise<void> {
  const [whole] = await context.store.items(projectLog(splitLog(log).project), { kind: 'ids', ids: [notification] });
  if (whole?.outcome !== 'withdrawn') return;
  const ending = {
    conversation: id,
    ids: [notification],
    by: 'project',
    reason: 'the notification was withdrawn when this conversation began',
  };
  const closed = await context.store.append(log, [{ type: 'notification_closed', outcome: 'withdrawn', ...ending }]);
  // If the append conflicts, a carrier of this conversation has already delivered the copy, so the copy's gate is lowered.
  if (closed.kind !== 'appended') await context.store.append(log, [{ type: 'gate_lifted', ...ending }]);
}
