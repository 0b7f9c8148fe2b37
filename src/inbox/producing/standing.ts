/**
 * Standing notifications of a whole project: a critical or an action to `project/*` also reaches the conversations that begin
 * while it is open. The project's own log keeps it until it is withdrawn, resumed or expires there.
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

/** A resume has done its work once it has lifted the pauses: a conversation that begins later does not need it. */
export const stands = (notification: Notification): boolean => isInterrupt(notification) && notification.action !== 'resume';

type Comer = { readonly log: LogKey; readonly id: ConversationId; readonly purpose?: string | undefined };

/** Copies each of them once: a conversation that has it, open or closed, gets no second copy. */
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
 * It was withdrawn between the read and the copy. A withdrawal closes it in the project's log before it searches the agents'
 * logs, so one of the two processes sees the other.
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
  // Another carrier of this conversation has delivered it meanwhile.
  if (closed.kind !== 'appended') await context.store.append(log, [{ type: 'gate_lifted', ...ending }]);
}
