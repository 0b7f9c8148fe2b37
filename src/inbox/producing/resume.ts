/** A person's command that lifts pauses: of a conversation, of an agent, or of a whole project. */
import { logOf, type Address, type ConversationId, type LogKey } from '../../core/address.ts';
import { ANYONE, type Item } from '../../core/items.ts';
import type { NotificationId } from '../../core/notification.ts';
import type { Context } from '../context.ts';
import { finishFanOuts } from './fan-out.ts';
import { notAPerson } from './inside.ts';
import { holding, pausesOf, resumeRecords } from './withdraw.ts';
import { queue } from './queue.ts';
import { isProjectLog, projectLog } from './standing.ts';

/** A pause that was lifted. */
export type Lifted = {
  readonly log: LogKey;
  readonly id: NotificationId;
  /** Null: a pause of the agent that no conversation has taken. */
  readonly conversation: ConversationId | null;
  readonly message: string;
  /** The person who paused. Null if no person did. */
  readonly person: string | null;
  /** Epoch ms. */
  readonly since: number;
};

/**
 * Lifts every pause of a conversation, an agent or a project, and notifies each conversation that it may go on. Returns the
 * lifted pauses. Queues nothing if nothing is paused.
 */
export async function resume(
  context: Context,
  to: Address,
  { person, message = 'Go on.' }: { readonly person: string; readonly message?: string | undefined },
): Promise<readonly Lifted[]> {
  if (context.speaker !== undefined) throw notAPerson('to lift a pause', context.speaker);
  const lifted: Lifted[] = to.kind === 'project' ? [...(await liftStanding(context, to.project, person))] : [];
  const logs =
    to.kind === 'project'
      ? (await context.store.overview(to.project)).map(({ log }) => log).filter((log) => !isProjectLog(log))
      : [logOf(to)];
  for (const log of logs) {
    const pauses = await holdingOf(context, log, to.kind === 'conversation' ? [to.conversation] : []);
    const holders = [...new Set(pauses.map(holderOf))];
    // A pause that no conversation has taken is lifted together with any other pause of its agent.
    for (const holder of holders.length > 1 ? holders.filter((each) => each !== ANYONE) : holders)
      await queue(context, holder === ANYONE ? log : `${log}#${holder}`, {
        kind: 'user.resume',
        level: 'info',
        message,
        action: 'resume',
        origin: { person },
      });
    for (const item of pauses) lifted.push(liftedOf(log, item));
  }
  return lifted;
}

/**
 * Lifts the pauses for conversations that begin later. This comes first, so that no conversation gets one after its agent's log
 * was searched. It notifies nobody: each paused conversation has the pause in its agent's log, and the others are not paused.
 */
async function liftStanding(context: Context, project: string, person: string): Promise<readonly Lifted[]> {
  await finishFanOuts(context, project);
  const log = projectLog(project);
  for (;;) {
    const pauses = await holdingOf(context, log);
    if (pauses.length === 0) return [];
    const appended = await context.store.append(log, resumeRecords(pauses, `resumed by ${person}`));
    if (appended.kind === 'appended') return pauses.map((item) => liftedOf(log, item));
  }
}

function liftedOf(log: LogKey, item: Item): Lifted {
  const holder = holderOf(item);
  return {
    log,
    id: item.id,
    conversation: holder === ANYONE ? null : holder,
    message: item.notification.message,
    person: item.notification.origin?.person ?? null,
    since: item.at,
  };
}

const holdingOf = async (context: Context, log: LogKey, audience: readonly ConversationId[] = []): Promise<readonly Item[]> =>
  holding(context, await pausesOf(context, log, audience));

const holderOf = (item: Item): ConversationId => (item.audience === ANYONE ? (item.takenBy ?? ANYONE) : item.audience);
