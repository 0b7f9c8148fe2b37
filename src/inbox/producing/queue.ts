/**
 * Queues a producer's notification for one agent, one conversation or a whole project. Also queues a closed notification again.
 */
import {
  formatAddress,
  logOf,
  parseAddress,
  splitLog,
  type Address,
  type ConversationId,
  type LogKey,
} from '../../core/address.ts';
import { asListed } from '../../core/clocks.ts';
import { EarpieceError } from '../../core/errors.ts';
import { fault } from '../../core/faults.ts';
import { ANYONE } from '../../core/items.ts';
import { endOfLifetime } from '../../core/lifetime.ts';
import {
  waitsUntil,
  type Notification,
  type NotificationId,
  type NotificationInput,
  type Subscribed,
} from '../../core/notification.ts';
import { queuedRecord, type QueuedRecord } from '../../core/records.ts';
import type { Context, Queued } from '../context.ts';
import { checked } from './checked.ts';
import { fanOut } from './fan-out.ts';
import { actorOf, mayReplace, mayRequeue, notAPerson, type InsideAgent } from './inside.ts';
import { audienceOfAction, queueOne } from './queue-one.ts';
import { checkCallersId, checkProjectsId } from './same-id.ts';
import { countedInto } from './withdraw.ts';

export async function queue(
  context: Context,
  to: string | Address,
  input: NotificationInput,
  subscribed?: Subscribed,
): Promise<Queued> {
  const address = typeof to === 'string' ? parseAddress(to) : to;
  const policy = context.policies.policy(address.project);
  if (context.speaker !== undefined && subscribed === undefined && input.action !== undefined)
    throw notAPerson(`to ask for ${input.action}`, context.speaker);
  const made = checked(context, input, policy);
  const notification = subscribed ? { ...made, subscriber: subscribed } : made;
  if (context.speaker !== undefined) await checkReplaced(context, context.speaker, { address, notification });
  checkCallersId(notification);
  if (input.id !== undefined) await checkProjectsId(context, address, notification);
  fault('queue.checked');
  if (address.kind === 'project')
    return fanOut(context, address.project, notification, policy).catch((error: unknown) => refuse(error, notification));
  const conversations = address.kind === 'conversation' ? [address.conversation] : [];
  const how = { policy, conversations, isNewId: input.id === undefined };
  const queued = await queueOne(context, logOf(address), notification, how).catch((error: unknown) =>
    isUnwritten(error) ? Promise.reject(error as Error) : refuse(error, notification),
  );
  fault('queue.acknowledged');
  return { ...queued, to: [formatAddress(address)] };
}

/** Throws `not_trusted` if an agent's notification would replace a reminder of another sender in one of its logs. */
async function checkReplaced(
  { store }: Context,
  inside: InsideAgent,
  { address, notification }: { readonly address: Address; readonly notification: Notification },
): Promise<void> {
  const { key, supersede } = notification;
  if (key === undefined || !supersede) return;
  const logs = address.kind === 'project' ? (await store.overview(address.project)).map(({ log }) => log) : [logOf(address)];
  const only = address.kind === 'conversation' ? address.conversation : undefined;
  for (const log of logs) {
    const open = await store.items(log, { kind: 'key', key });
    // A notification for one conversation also replaces a notification for any conversation of the agent.
    const same = open.filter(({ audience }) => only === undefined || audience === ANYONE || audience === only);
    mayReplace(
      notification,
      same.map((item) => item.notification),
      inside,
    );
  }
}

/** Whether the store certainly wrote nothing, for example because another process held the lock until the time limit. */
const isUnwritten = (error: unknown): boolean => error instanceof EarpieceError && error.data['written'] === false;

/**
 * Throws the error. A `store_unavailable` gets the id, because a repeated call without this id could queue the notification
 * twice.
 */
function refuse(error: unknown, { id }: Notification): never {
  if (!(error instanceof EarpieceError) || error.code !== 'store_unavailable' || !error.retryable) throw error;
  const what = error.message.replace(/[;:] try again$/u, '');
  throw new EarpieceError(
    error.code,
    `${what}; the notification may be stored nevertheless: queue again with the same id (${id})`,
    {
      retryable: true,
      data: { ...error.data, id },
      cause: error,
    },
  );
}

/** Makes the record that `queue` would append for one agent, for a caller that appends it together with other records. */
export async function prepare(
  context: Context,
  log: LogKey,
  input: NotificationInput,
  only?: ConversationId,
): Promise<QueuedRecord> {
  const notification = checked(context, input, context.policies.policy(splitLog(log).project));
  if (only !== undefined) return queuedRecord(notification, { conversation: only });
  const audience = await audienceOfAction(context, log, notification);
  return queuedRecord(notification, audience.length === 1 ? { conversation: audience[0] } : { audience });
}

/** Queues the closed copies of a notification again, under a new id. Open copies stay as they are. */
export async function requeue(context: Context, log: LogKey, id: string, by: string): Promise<Queued> {
  const { store, ids, speaker } = context;
  const found = await store.items(log, { kind: 'ids', ids: [id as NotificationId] });
  const copies = found.map((item) => asListed(item, store.now()));
  const closed = copies.filter(({ state }) => state === 'closed');
  const item = closed[0] ?? copies[0];
  if (item === undefined)
    throw new EarpieceError(
      'not_found',
      `no notification ${JSON.stringify(id)} in ${log}; earpiece log lists the existing notifications`,
    );
  if (item.state !== 'closed')
    throw new EarpieceError('bad_argument', `${id} is ${item.state}; only a closed notification can be queued again`);
  const into = countedInto(copies);
  const [counting] = into === undefined ? [] : await store.items(log, { kind: 'ids', ids: [into] });
  if (counting !== undefined && asListed(counting, store.now()).state !== 'closed')
    throw new EarpieceError(
      'bad_argument',
      `${id} was counted into ${counting.id}, which is ${counting.state}; queue ${id} again after ${counting.id} is closed`,
    );
  if (speaker !== undefined) mayRequeue(item.notification, speaker);
  const policy = context.policies.policy(splitLog(log).project);
  const { count: _count, firstAt: _firstAt, requeues: _requeues, ...old } = item.notification;
  const again: Notification = {
    ...old,
    id: ids.make('n') as NotificationId,
    expiresAt: endOfLifetime(policy.ttlMs[old.level], store.now(), waitsUntil(old)),
    requeues: item.id,
    origin: { depth: 0, ...old.origin, cause: `requeued by ${actorOf(by, speaker)}` },
  };
  const conversations = closed.flatMap(({ audience }) => (audience === '' ? [] : [audience]));
  const queued = await queueOne(context, log, again, { policy, conversations });
  return { ...queued, to: closed.map(({ audience }) => (audience === '' ? log : `${log}#${audience}`)) };
}
