/**
 * Queues a notification for `project/*`: records the receivers, queues for each agent, and then records that the fan-out is done.
 * After a crash during these steps, another process finishes the fan-out. The notification's id stays the same, so no agent gets
 * the notification twice. The receivers of a large project are read in pages, and a record after each page says how far the
 * fan-out is.
 */
import type { LogKey } from '../../core/address.ts';
import { defined } from '../../core/defined.ts';
import { EarpieceError, keepConflict } from '../../core/errors.ts';
import { fault } from '../../core/faults.ts';
import type { Notification, NotificationId } from '../../core/notification.ts';
import type { Policy } from '../../core/policy.ts';
import type { Presence } from '../../core/ports.ts';
import { fromRecord, isType, queuedRecord, recorded, type FanOutRecord } from '../../core/records.ts';
import type { Context, Queued } from '../context.ts';
import { presenceIn, receiversIn, type Receivers } from './audience.ts';
import { resumedBy, withdraw } from './withdraw.ts';
import type { Intent } from './intents.ts';
import { queueOne, type QueuedOne } from './queue-one.ts';
import { checkRepetition } from './same-id.ts';
import { isProjectLog, joinProjectWide, projectLog, appliesLater, timesOfCopy } from './project-wide.ts';

export async function fanOut(context: Context, project: string, notification: Notification, policy: Policy): Promise<Queued> {
  await finishFanOuts(context, project);
  const { id } = notification;
  const known = await context.intents.find(projectLog(project), id);
  if (known) {
    const held = fromRecord(known.body.notification);
    checkRepetition(projectLog(project), held, notification);
    return { kind: 'duplicate', id, to: [...addressesOf(known.body), ...later(project, held)] };
  }
  const holds = appliesLater(notification);
  const lifts = notification.action === 'resume' && (await pausesIn(context, project)).length > 0;
  const first = await firstReceivers(context, project, notification);
  if (first.targets.length === 0 && !holds && !lifts) throw await nobody(context, project);
  const intent: FanOutRecord = {
    type: 'fan_out',
    id,
    notification: recorded(notification),
    targets: first.targets,
    ...defined({ upTo: first.isLast ? undefined : first.upTo }),
  };
  const projectWide = holds ? [queuedRecord(notification, {})] : [];
  await context.store.append(projectLog(project), [intent, ...projectWide]);
  fault('fan_out.intent');
  const { counts, into, to, refusals } = await carryOut(context, project, intent, policy);
  const [refusal] = refusals;
  if (refusal !== undefined) throw counts.all === 0 ? refusal : onlyFor(notification, refusals);
  if (into !== undefined && counts.folded === counts.all) return { kind: 'folded', id, into, to };
  return { kind: counts.all > 0 && counts.duplicate === counts.all ? 'duplicate' : 'queued', id, to };
}

/**
 * Returns the error for a notification that only some receivers got, because the logs of the other receivers already have its id.
 */
function onlyFor({ id, subscriber }: Notification, refusals: readonly EarpieceError[]): EarpieceError {
  const logs = refusals.map(({ data }) => data['log']).join(', ');
  const way = subscriber === undefined ? `queue it for ${logs} with another id` : 'give the next event another id';
  return new EarpieceError(
    'conflict',
    `id ${JSON.stringify(id)} belongs to another notification in ${logs}, so only the other receivers got this notification; ${way}`,
    { data: { ...refusals[0]?.data }, cause: refusals[0] },
  );
}

const later = (project: string, notification: Notification): string[] => (appliesLater(notification) ? [`${project}/*`] : []);

const addressesOf = ({ targets }: Pick<FanOutRecord, 'targets'>): string[] =>
  targets.flatMap(({ log, conversations }) => conversations.map((conversation) => `${log}#${conversation}`));

/** Returns the first page with a receiver, or the last page. */
async function firstReceivers(context: Context, project: string, notification: Notification): Promise<Receivers> {
  let page: Receivers = { presence: [], targets: [], upTo: projectLog(project), isLast: true };
  for await (page of receiversIn(context, project, notification)) if (page.targets.length > 0) break;
  return page;
}

/**
 * Lifts each pause in the project, including those of conversations that are not active, because heirs would inherit these
 * pauses.
 */
async function lift(context: Context, project: string, { id }: Pick<Notification, 'id'>): Promise<void> {
  const liftIn = async (isIn: (log: LogKey) => boolean): Promise<void> => {
    for (const { log, pause } of await pausesIn(context, project))
      if (isIn(log)) await withdraw(context, log, { id: pause }, resumedBy(id));
  };
  // The project's log is handled first, so that no conversation gets a pause from this log after its agent's log was searched.
  await liftIn(isProjectLog);
  await liftIn((log) => !isProjectLog(log));
}

async function pausesIn(context: Context, project: string): Promise<readonly { readonly log: LogKey; readonly pause: string }[]> {
  const pauses: { readonly log: LogKey; readonly pause: string }[] = [];
  for (const { log } of await context.store.overview(project))
    for (const item of await context.store.items(log, { kind: 'gate' }))
      if (item.notification.action === 'pause') pauses.push({ log, pause: item.id });
  return pauses;
}

async function nobody(context: Context, project: string): Promise<EarpieceError> {
  let last: Presence | undefined;
  for await (const { presence } of presenceIn(context, project))
    for (const one of presence) if (last === undefined || one.seenAt > last.seenAt) last = one;
  const keeps =
    last === undefined
      ? `${project}/<agent> keeps the notification until that agent arrives`
      : `${last.log} keeps the notification until that agent returns`;
  return new EarpieceError(
    'nobody_there',
    `no conversation is active in project ${JSON.stringify(project)}; start an agent that is connected (earpiece install connects coding agents), or name one agent: ${keeps}`,
  );
}

/** Completes the fan-outs that no process has finished yet. */
export async function finishFanOuts(context: Context, project: string): Promise<void> {
  for await (const intent of context.intents.unfinished(projectLog(project)))
    await carryOut(context, project, await onOwnClock(context, intent), context.policies.policy(project));
}

/** Returns the record of another process's fan-out, with the notification's times on this process's clock. */
async function onOwnClock(context: Context, { body, ...stamp }: Intent): Promise<FanOutRecord> {
  const times = await timesOfCopy(context, fromRecord(body.notification), stamp);
  return { ...body, notification: { ...body.notification, ...times } };
}

/**
 * The maximum number of agents for which a notification is queued at the same time. The logs of agents do not depend on each
 * other.
 */
const AT_ONCE = 32;

async function carryOut(context: Context, project: string, intent: FanOutRecord, policy: Policy): Promise<CarriedOut> {
  const notification = fromRecord(intent.notification);
  const counts = { all: 0, queued: 0, folded: 0, duplicate: 0 };
  let into: NotificationId | undefined;
  const refusals: EarpieceError[] = [];
  const to: string[] = [];
  const queueIn = async ({ log, conversations }: FanOutRecord['targets'][number]): Promise<void> => {
    // Another sender may have used the id in this log since the fan-out was recorded. The other receivers still get the
    // notification.
    const queued = await queueOne(context, log, notification, { policy, conversations }).catch(keepConflict(refusals));
    if (queued === undefined) return;
    counts.all++;
    counts[queued.kind]++;
    if (queued.kind === 'folded') into ??= queued.into;
    fault('fan_out.queued');
  };
  const queueFor = async (targets: FanOutRecord['targets']): Promise<void> => {
    for (let from = 0; from < targets.length; from += AT_ONCE)
      await Promise.all(targets.slice(from, from + AT_ONCE).map(queueIn));
    to.push(...addressesOf({ targets }));
  };
  const isDone = (upTo: LogKey): Promise<unknown> =>
    context.store.append(projectLog(project), [{ type: 'fan_out_part', id: intent.id, upTo }]);
  let after = intent.upTo === undefined ? undefined : await lastPart(context, project, intent);
  if (after === undefined) {
    await queueFor(intent.targets);
    if (intent.upTo !== undefined) await isDone((after = intent.upTo));
  }
  if (after !== undefined)
    for await (const { targets, upTo } of receiversIn(context, project, notification, after)) {
      await queueFor(targets);
      await isDone(upTo);
    }
  if (notification.action === 'resume') await lift(context, project, intent);
  if (appliesLater(notification)) {
    // Conversations that began after the receivers were listed do not have the notification yet.
    const reached = new Set(to);
    for await (const { presence } of receiversIn(context, project, notification))
      for (const { log, conversation, purpose } of presence) {
        if (reached.has(`${log}#${conversation}`)) continue;
        await joinProjectWide(context, { log, id: conversation, purpose });
        to.push(`${log}#${conversation}`);
      }
    to.push(`${project}/*`);
  }
  await context.store.append(projectLog(project), [{ type: 'fan_out_done', id: intent.id }]);
  return { counts, into, to, refusals };
}

/** `refusals`: the errors for the receivers in whose logs another sender has used the id. */
type CarriedOut = {
  readonly counts: Counts;
  readonly into: NotificationId | undefined;
  readonly to: readonly string[];
  readonly refusals: readonly EarpieceError[];
};

type Counts = Readonly<Record<QueuedOne['kind'] | 'all', number>>;

/** Returns the last log of the last page that an earlier process has completed. */
async function lastPart(context: Context, project: string, { id }: FanOutRecord): Promise<LogKey | undefined> {
  const parts = await context.store.read({ log: projectLog(project), types: ['fan_out_part'], newestFirst: true, limit: 1_000 });
  for (const { body } of parts) if (isType(body, 'fan_out_part') && body.id === id) return body.upTo;
  return undefined;
}
