/**
 * Queues for `project/*`: records all receivers, queues for each agent, and then records that the fan-out is done. After a crash
 * in between, the next process finishes the fan-out. The ids stay the same, so no agent gets a notification twice.
 */
import type { ConversationId, LogKey } from '../../core/address.ts';
import { EarpieceError } from '../../core/errors.ts';
import { fault } from '../../core/faults.ts';
import type { Notification } from '../../core/notification.ts';
import type { Policy } from '../../core/policy.ts';
import { fromRecord, isType, queuedRecord, recorded, type FanOutRecord } from '../../core/records.ts';
import type { Context, Queued } from '../context.ts';
import { audienceOf } from './audience.ts';
import { withdraw } from './withdraw.ts';
import { queueOne, type QueuedOne } from './queue-one.ts';
import { isProjectLog, joinProjectWide, projectLog, appliesLater } from './project-wide.ts';

export async function fanOut(context: Context, project: string, notification: Notification, policy: Policy): Promise<Queued> {
  await finishFanOuts(context, project);
  const there = await audienceOf(context, { project }, notification);
  const holds = appliesLater(notification);
  const lifts = notification.action === 'resume' && (await pausesIn(context, project)).length > 0;
  if (there.length === 0 && !holds && !lifts) throw await nobody(context, project);
  const targets = Object.values(Object.groupBy(there, (p) => p.log)).map((group) => ({
    log: group?.[0]?.log as LogKey,
    conversations: (group ?? []).map((p) => p.conversation),
  }));
  const known = (await intents(context, project)).all.find((intent) => intent.id === notification.id);
  const intent: FanOutRecord = known ?? {
    type: 'fan_out',
    id: notification.id,
    notification: recorded(notification),
    targets,
  };
  if (!known) {
    const projectWide = holds ? [queuedRecord(notification, {})] : [];
    await context.store.append(projectLog(project), [intent, ...projectWide]);
  }
  fault('fan_out.intent');
  const { done, to } = await carryOut(context, project, intent, policy);
  const { id } = notification;
  if (known && done.every(({ kind }) => kind === 'duplicate')) return { kind: 'duplicate', id, to };
  const folded = done.flatMap((each) => (each.kind === 'folded' ? [each.into] : []));
  const [into] = folded;
  return into !== undefined && folded.length === done.length ? { kind: 'folded', id, into, to } : { kind: 'queued', id, to };
}

/** Lifts each pause in the project, also of absent conversations, because their heirs would inherit the pauses. */
async function lift(context: Context, project: string, { id }: Pick<Notification, 'id'>): Promise<void> {
  const liftIn = async (isIn: (log: LogKey) => boolean): Promise<void> => {
    for (const { log, pause } of await pausesIn(context, project))
      if (isIn(log)) await withdraw(context, log, { id: pause }, { by: 'resume', reason: `resumed by ${id}` });
  };
  // The project's log is handled first, so that no conversation gets a pause from it after its agent's log was searched.
  await liftIn(isProjectLog);
  await liftIn((log) => !isProjectLog(log));
}

async function pausesIn(context: Context, project: string): Promise<readonly { readonly log: LogKey; readonly pause: string }[]> {
  const logs = await context.store.overview(project);
  const gates = await Promise.all(
    logs.map(async ({ log }) => (await context.store.items(log, { kind: 'gate' })).map((item) => ({ log, item }))),
  );
  return gates.flat().flatMap(({ log, item }) => (item.notification.action === 'pause' ? [{ log, pause: item.id }] : []));
}

async function nobody(context: Context, project: string): Promise<EarpieceError> {
  const last = (await context.store.presence({ project })).toSorted((a, b) => b.seenAt - a.seenAt)[0];
  const keeps =
    last === undefined
      ? `${project}/<agent> keeps the notification until that agent arrives`
      : `${last.log} keeps the notification until that agent returns`;
  return new EarpieceError(
    'nobody_there',
    `no conversation is active in project ${JSON.stringify(project)}; start an agent that is connected (earpiece install connects coding agents), or name one agent: ${keeps}`,
  );
}

/** Completes fan-outs that an earlier process began and did not finish. */
export async function finishFanOuts(context: Context, project: string): Promise<void> {
  const { unfinished } = await intents(context, project);
  for (const intent of unfinished) await carryOut(context, project, intent, context.policies.policy(project));
}

async function carryOut(
  context: Context,
  project: string,
  intent: FanOutRecord,
  policy: Policy,
): Promise<{ readonly done: readonly QueuedOne[]; readonly to: readonly string[] }> {
  const done: QueuedOne[] = [];
  const to = intent.targets.flatMap(({ log, conversations }) =>
    conversations.map((conversation: ConversationId) => `${log}#${conversation}`),
  );
  for (const { log, conversations } of intent.targets) {
    done.push(await queueOne(context, log, fromRecord(intent.notification), { policy, conversations }));
    fault('fan_out.queued');
  }
  const notification = fromRecord(intent.notification);
  if (notification.action === 'resume') await lift(context, project, intent);
  if (appliesLater(notification)) {
    // Conversations that began after the receivers were listed do not have the notification yet.
    const there = await audienceOf(context, { project }, notification);
    const late = there.filter(({ log, conversation }) => !to.includes(`${log}#${conversation}`));
    for (const { log, conversation, purpose } of late) await joinProjectWide(context, { log, id: conversation, purpose });
    to.push(...late.map(({ log, conversation }) => `${log}#${conversation}`), `${project}/*`);
  }
  await context.store.append(projectLog(project), [{ type: 'fan_out_done', id: intent.id }]);
  return { done, to };
}

async function intents(context: Context, project: string): Promise<{ all: FanOutRecord[]; unfinished: FanOutRecord[] }> {
  const records = await context.store.read({
    log: projectLog(project),
    types: ['fan_out', 'fan_out_done'],
    newestFirst: true,
    limit: 200,
  });
  const done = new Set<string>();
  const all: FanOutRecord[] = [];
  for (const { body } of records) {
    if (isType(body, 'fan_out_done')) done.add(body.id);
    else if (isType(body, 'fan_out')) all.push(body);
  }
  return { all, unfinished: all.filter((intent) => !done.has(intent.id)).toReversed() };
}
