/**
 * Standing notifications of a whole project. A critical notification or an action to `project/*` also reaches the conversations
 * that begin while it is open. The project's own log keeps the notification until it is withdrawn, resumed or expires there.
 */
import { splitLog, type ConversationId, type LogKey } from '../../core/address.ts';
import { isExpired } from '../../core/clocks.ts';
import type { Item } from '../../core/items.ts';
import { isInterrupt, type Notification, type NotificationId } from '../../core/notification.ts';
import { queuedRecord } from '../../core/records.ts';
import type { Context } from '../context.ts';

/** The log of a project. It belongs to no agent. */
export const projectLog = (project: string): LogKey => `${project}/*` as LogKey;

export const isProjectLog = (log: LogKey): boolean => log.endsWith('/*');

/**
 * Whether the notification also applies to conversations that begin later. A resume does not: it has lifted the pauses already.
 */
export const stands = (notification: Notification): boolean => isInterrupt(notification) && notification.action !== 'resume';

type Comer = { readonly log: LogKey; readonly id: ConversationId; readonly purpose?: string | undefined };

/**
 * Copies the project's standing notifications to a conversation. A notification that it already has, open or closed, is not
 * copied again.
 */
export async function joinStanding(context: Context, comer: Comer): Promise<void> {
  const now = context.store.now();
  const open = await context.store.items(projectLog(splitLog(comer.log).project), { kind: 'open' });
  for (const item of open) {
    const { purpose } = item.notification;
    if (item.state !== 'open' || isExpired(item, now)) continue;
    if (purpose === undefined || comer.purpose === undefined || purpose === comer.purpose) await join(context, comer, item);
  }
}

async function join(context: Context, { log, id }: Comer, { notification }: Item): Promise<void> {
  const reason = 'it began while this was open for the whole project';
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
  await letGo(context, { log, id }, notification.id);
}

/**
 * Withdraws a copy whose original was withdrawn between the read and the copy. A withdrawal closes the original in the project's
 * log before it searches the agents' logs, so one of the two processes sees the other.
 */
async function letGo(context: Context, { log, id }: Comer, notification: NotificationId): Promise<void> {
  const [whole] = await context.store.items(projectLog(splitLog(log).project), { kind: 'ids', ids: [notification] });
  if (whole?.outcome !== 'withdrawn') return;
  const ending = {
    conversation: id,
    ids: [notification],
    by: 'project',
    reason: 'it was withdrawn when this conversation began',
  };
  const closed = await context.store.append(log, [{ type: 'notification_closed', outcome: 'withdrawn', ...ending }]);
  // Another carrier of this conversation has delivered it in the meantime, so its gate is lifted.
  if (closed.kind !== 'appended') await context.store.append(log, [{ type: 'gate_lifted', ...ending }]);
}
