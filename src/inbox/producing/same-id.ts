/**
 * Decides whether a notification with a known id is a repetition. A repetition changes nothing. Any other notification with the
 * id is refused, so that no sender can suppress another sender's notification by using its id first.
 */
import type { Address, LogKey } from '../../core/address.ts';
import { EarpieceError } from '../../core/errors.ts';
import { isInterrupt, type Notification } from '../../core/notification.ts';
import { tellerOf } from '../../core/teller.ts';
import type { Context } from '../context.ts';
import { projectLog } from './project-wide.ts';

/** Throws `bad_notification` for a caller's id that contains "~" like an id of the bus, such as `ci/42~cli_event`. */
export function checkCallersId({ id, subscriber }: Notification): void {
  if (subscriber !== undefined || !id.includes('~')) return;
  throw new EarpieceError(
    'bad_notification',
    `id ${JSON.stringify(id.slice(0, 80))}: must not contain "~", which only ids of subscribers' notifications contain; choose another id`,
    { data: { field: 'id' } },
  );
}

/**
 * Throws `conflict` if another notification has the id (see `checkRepetition`). For a notification to the whole project, all logs
 * of the project are checked. For any other notification, only the project's own log is checked.
 */
export async function checkProjectsId({ store }: Context, { kind, project }: Address, notification: Notification): Promise<void> {
  const logs = kind === 'project' ? (await store.overview(project)).map(({ log }) => log) : [projectLog(project)];
  for (let from = 0; from < logs.length; from += AT_ONCE)
    await Promise.all(
      logs.slice(from, from + AT_ONCE).map(async (log) => {
        const [held] = await store.items(log, { kind: 'ids', ids: [notification.id] });
        if (held !== undefined) checkRepetition(log, held.notification, notification);
      }),
    );
}

/** The maximum number of logs that are read at the same time. */
const AT_ONCE = 32;

/** Throws `conflict` unless `again` repeats `held`, which has the same id in the log. */
export function checkRepetition(log: LogKey, held: Notification, again: Notification): void {
  const other = otherIn(held, again);
  if (other === undefined) return;
  const { id, action } = held;
  const what = action === undefined ? 'a notification' : `a notification with the action ${action}`;
  const way = again.subscriber === undefined ? 'choose another id' : 'give the event another id';
  throw new EarpieceError(
    'conflict',
    `id ${JSON.stringify(id)} belongs to ${what} from ${senderOf(held)} in ${log}; this notification has ${other}, so it was not queued; ${way}`,
    { data: { field: 'id', id, log } },
  );
}

function otherIn(held: Notification, again: Notification): string | undefined {
  if (held.subscriber?.id !== again.subscriber?.id) return 'another subscriber';
  if (!isSameSender(held, again) || held.origin?.token !== again.origin?.token) return 'another sender';
  if (held.action !== again.action) return again.action === undefined ? 'no action' : `the action ${again.action}`;
  // For a subscriber's notification the level is not compared, because the bus lowers the level of an event that repeats a recent
  // event.
  const isRaised = again.subscriber === undefined && isInterrupt(again) && !isInterrupt(held);
  return isRaised ? `the level ${again.level}` : undefined;
}

/** Whether a line names the same sender for both notifications. */
export const isSameSender = (a: Notification, b: Notification): boolean =>
  a.origin?.person === b.origin?.person && a.origin?.agent === b.origin?.agent && tellerOf(a) === tellerOf(b);

function senderOf({ origin, subscriber }: Notification): string {
  if (origin?.person !== undefined) return JSON.stringify(origin.person);
  if (origin?.agent !== undefined) return `the agent ${origin.agent}`;
  if (subscriber !== undefined) return `the subscriber ${subscriber.id}`;
  return origin?.token === undefined ? 'an unnamed sender' : 'a sender with a send-only token';
}
