/** What lowers a gate without the model reading: a resume, or a notification that is taken back. */
import { logOf, type Address, type ConversationId, type LogKey } from '../core/address.ts';
import { isExpired } from '../core/clocks.ts';
import { ANYONE, type Item } from '../core/items.ts';
import type { NotificationId } from '../core/notification.ts';
import type { ClosedRecord, Draft, GateLiftedRecord } from '../core/records.ts';
import { finishFanOuts } from './fan-out.ts';
import type { Inbox } from './inbox.ts';
import { notAPerson } from './inside.ts';
import { isProjectLog, projectLog } from './standing.ts';

/**
 * `maybe_seen`: it was offered before, the model may have read it; it will not be offered again. `gate_lowered`: it was
 * delivered, and the gate that it held up is down now.
 */
export type Withdrawn = {
  readonly id: NotificationId;
  readonly result: 'withdrawn' | 'maybe_seen' | 'gate_lowered' | 'too_late' | 'unknown';
};

export type Why = { readonly by: string; readonly reason: string };

/** Takes one notification back, for each audience: what is not delivered closes, what holds a gate up lets it fall. */
export async function withdrawOne(inbox: Inbox, log: LogKey, id: NotificationId, why: Why): Promise<Withdrawn['result']> {
  for (;;) {
    const items = await inbox.store.items(log, { kind: 'ids', ids: [id] });
    if (items.length === 0) return 'unknown';
    const held = await holding(
      inbox,
      items.filter((item) => item.state === 'closed' && item.gate),
    );
    const open = items.some((item) => item.state !== 'closed');
    const drafts: Draft[] = [
      ...liftRecords(held, why),
      ...(open ? [{ type: 'notification_closed', ids: [id], outcome: 'withdrawn', ...why } satisfies ClosedRecord] : []),
    ];
    const delivered = items.some((item) => item.outcome === 'delivered' || item.outcome === 'summarized');
    if (drafts.length === 0) return delivered ? 'too_late' : seen(items);
    const appended = await inbox.store.append(log, drafts);
    if (appended.kind !== 'appended') continue;
    if (!open) return 'gate_lowered';
    return delivered ? 'maybe_seen' : seen(appended.items);
  }
}

const seen = (items: readonly Item[]): 'maybe_seen' | 'withdrawn' =>
  items.some(({ offers }) => offers > 0) ? 'maybe_seen' : 'withdrawn';

/** The pauses that a resume for this audience lifts; none named means everybody's. */
export async function pausesOf(inbox: Inbox, log: LogKey, audience: readonly ConversationId[]): Promise<readonly Item[]> {
  const gates = await inbox.store.items(log, { kind: 'gate' });
  return gates.filter(
    (item) =>
      item.notification.action === 'pause' &&
      (audience.length === 0 || item.audience === ANYONE || audience.includes(item.audience)),
  );
}

/**
 * Those that still hold: an expired interrupt holds nobody, so nobody has to be told to go on. A process whose clock is
 * known to be wrong cannot tell what is expired, and lifts all of them.
 */
export async function holding(inbox: Inbox, gates: readonly Item[]): Promise<readonly Item[]> {
  const now = inbox.store.now();
  const still = gates.filter((item) => !isExpired(item, now));
  return still.length === gates.length || (await inbox.witnesses.trusted()) ? still : gates;
}

const holdingOf = async (inbox: Inbox, log: LogKey, audience: readonly ConversationId[] = []): Promise<readonly Item[]> =>
  holding(inbox, await pausesOf(inbox, log, audience));

/** The records that lift them: those that nobody was shown are taken back, of the others the gate falls. */
export function resumeRecords(pauses: readonly Item[], reason: string): Draft[] {
  const why: Why = { by: 'resume', reason };
  return [
    ...pauses
      .filter((item) => item.state !== 'closed')
      .map((item): ClosedRecord => ({
        type: 'notification_closed',
        ids: [item.id],
        ...whose(item),
        outcome: 'withdrawn',
        ...why,
      })),
    ...liftRecords(
      pauses.filter((item) => item.state === 'closed'),
      why,
    ),
  ];
}

/** A pause that was lifted. */
export type Lifted = {
  readonly log: LogKey;
  readonly id: NotificationId;
  /** Null: a pause of the agent that no conversation has taken. */
  readonly conversation: ConversationId | null;
  readonly message: string;
  /** Who paused; null where no person did. */
  readonly person: string | null;
  /** Epoch ms. */
  readonly since: number;
};

/**
 * Lifts every pause of a conversation, an agent or a project, and tells each conversation that it may go on. Returns what was
 * lifted; nothing is queued where nothing is paused any more.
 */
export async function resume(
  inbox: Inbox,
  to: Address,
  { person, message = 'Go on.' }: { readonly person: string; readonly message?: string | undefined },
): Promise<readonly Lifted[]> {
  if (inbox.speaker !== undefined) throw notAPerson('to lift a pause', inbox.speaker);
  const lifted: Lifted[] = to.kind === 'project' ? [...(await liftStanding(inbox, to.project, person))] : [];
  const logs =
    to.kind === 'project'
      ? (await inbox.store.overview(to.project)).map(({ log }) => log).filter((log) => !isProjectLog(log))
      : [logOf(to)];
  for (const log of logs) {
    const pauses = await holdingOf(inbox, log, to.kind === 'conversation' ? [to.conversation] : []);
    const holders = [...new Set(pauses.map(holderOf))];
    // A pause that nobody has taken is lifted with any other of its agent.
    for (const holder of holders.length > 1 ? holders.filter((each) => each !== ANYONE) : holders)
      await inbox.queue(holder === ANYONE ? log : `${log}#${holder}`, {
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
 * Lifts the pauses that hold for conversations that begin later, first, so that no conversation gets one after its agent was
 * looked at. It tells nobody: each paused conversation has the pause in its agent's log, and others go on already.
 */
async function liftStanding(inbox: Inbox, project: string, person: string): Promise<readonly Lifted[]> {
  await finishFanOuts(inbox, project);
  const log = projectLog(project);
  for (;;) {
    const pauses = await holdingOf(inbox, log);
    if (pauses.length === 0) return [];
    const appended = await inbox.store.append(log, resumeRecords(pauses, `resumed by ${person}`));
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

const holderOf = (item: Item): ConversationId => (item.audience === ANYONE ? (item.takenBy ?? ANYONE) : item.audience);

const whose = (item: Item): { readonly conversation?: ConversationId } =>
  item.audience === ANYONE ? {} : { conversation: item.audience };

export const liftRecords = (held: readonly Item[], why: Why): GateLiftedRecord[] =>
  held.map((item) => ({ type: 'gate_lifted', ids: [item.id], ...whose(item), ...why }));
