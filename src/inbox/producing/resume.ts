/** Lifts the pauses of a conversation, an agent or a whole project, at a person's command. */
import { logOf, type Address, type ConversationId, type LogKey } from '../../core/address.ts';
import { ANYONE, type Item } from '../../core/items.ts';
import type { NotificationId, NotificationInput } from '../../core/notification.ts';
import type { Context } from '../context.ts';
import { finishFanOuts } from './fan-out.ts';
import { notAPerson } from './inside.ts';
import { holding, pausesOf, resumeRecords } from './withdraw.ts';
import { queue } from './queue.ts';
import { isProjectLog, projectLog } from './project-wide.ts';

export type Lifted = {
  readonly log: LogKey;
  readonly id: NotificationId;
  /** The paused conversation. Null if no conversation has taken the pause. */
  readonly conversation: ConversationId | null;
  readonly message: string;
  /** The person who paused the agent. Null if no person did. */
  readonly person: string | null;
  /** Epoch ms. */
  readonly since: number;
  /**
   * Whether the conversation gets a notification. False if the conversation never saw the pause and the person wrote no message,
   * and for a pause in the project's own log.
   */
  readonly notified: boolean;
};

/**
 * Lifts every pause of a conversation, an agent or a project, and returns the lifted pauses. A conversation that has seen its
 * pause is notified that it may continue. A conversation that has not seen its pause gets only the person's message, if there is
 * one.
 */
export async function resume(
  context: Context,
  to: Address,
  { person, message }: { readonly person: string; readonly message?: string | undefined },
): Promise<readonly Lifted[]> {
  if (context.speaker !== undefined) throw notAPerson('to lift a pause', context.speaker);
  const lifted: Lifted[] = to.kind === 'project' ? [...(await liftProjectWide(context, to.project, person))] : [];
  const logs =
    to.kind === 'project'
      ? (await context.store.overview(to.project)).map(({ log }) => log).filter((log) => !isProjectLog(log))
      : [logOf(to)];
  for (const log of logs) {
    const pauses = await holdingOf(context, log, to.kind === 'conversation' ? [to.conversation] : []);
    const holders = [...new Set(pauses.map(holderOf))];
    const notified = new Set<string>();
    // A pause that no conversation has taken is lifted together with the other pauses of its agent.
    for (const holder of holders.length > 1 ? holders.filter((each) => each !== ANYONE) : holders) {
      const address = holder === ANYONE ? log : `${log}#${holder}`;
      const shown = pauses.some((item) => holderOf(item) === holder && wasShown(item));
      if (shown || !(await liftUnseen(context, log, holder, person))) {
        notified.add(holder);
        await queue(context, address, mayContinue(person, message));
      } else if (message !== undefined) {
        notified.add(holder);
        await queue(context, address, { level: 'info', message, origin: { person } });
      }
    }
    for (const item of pauses) lifted.push(liftedOf(log, item, notified.has(holderOf(item))));
  }
  return lifted;
}

/** Makes the notification that the agent may continue. A later notification of this kind supersedes this notification. */
export const mayContinue = (person: string, message = 'Go on.'): NotificationInput => ({
  kind: 'user.resume',
  level: 'info',
  key: 'user.resume',
  supersede: true,
  message,
  action: 'resume',
  origin: { person },
});

const wasShown = (item: Item): boolean => item.offers > 0 || item.state === 'closed';

/** Lifts the pauses that a conversation has never seen. Returns false if a pause was shown in the meantime. */
async function liftUnseen(context: Context, log: LogKey, holder: ConversationId, person: string): Promise<boolean> {
  for (;;) {
    const pauses = await pausesOf(context, log, holder === ANYONE ? [] : [holder]);
    if (pauses.length === 0) return true;
    // An expired pause does not count as shown: it has ended by itself, so its agent already continues.
    const held = new Set((await holding(context, pauses)).map(({ id }) => id));
    const appended = await context.store.append(log, resumeRecords(pauses, person));
    if (appended.kind === 'appended') return appended.items.every((item) => item.offers === 0 || !held.has(item.id));
  }
}

/**
 * Lifts the pauses for conversations that begin later. The caller calls this function first, so that no conversation gets such a
 * pause after its agent's log was searched. Notifies no conversation: each paused conversation also has the pause in its agent's
 * log, and is notified when that pause is lifted.
 */
async function liftProjectWide(context: Context, project: string, person: string): Promise<readonly Lifted[]> {
  await finishFanOuts(context, project);
  const log = projectLog(project);
  for (;;) {
    const pauses = await holdingOf(context, log);
    if (pauses.length === 0) return [];
    const appended = await context.store.append(log, resumeRecords(pauses, person));
    if (appended.kind === 'appended') return pauses.map((item) => liftedOf(log, item, false));
  }
}

function liftedOf(log: LogKey, item: Item, notified: boolean): Lifted {
  const holder = holderOf(item);
  return {
    log,
    id: item.id,
    conversation: holder === ANYONE ? null : holder,
    message: item.notification.message,
    person: item.notification.origin?.person ?? null,
    since: item.at,
    notified,
  };
}

const holdingOf = async (context: Context, log: LogKey, audience: readonly ConversationId[] = []): Promise<readonly Item[]> =>
  holding(context, await pausesOf(context, log, audience));

const holderOf = (item: Item): ConversationId => (item.audience === ANYONE ? (item.takenBy ?? ANYONE) : item.audience);
