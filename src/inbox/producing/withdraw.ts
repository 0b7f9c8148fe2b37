/** Withdraws notifications, and lowers the gates of interrupts that the model has not read. */
import type { ConversationId, LogKey } from '../../core/address.ts';
import { because, type Explained } from '../../core/cause.ts';
import { isExpired } from '../../core/clocks.ts';
import { ANYONE, isOnlyCounted, type Item } from '../../core/items.ts';
import type { NotificationId } from '../../core/notification.ts';
import type { ClosedRecord, Draft, GateLiftedRecord } from '../../core/records.ts';
import type { Context, Withdrawn } from '../context.ts';
import { callersKeys, mayTakeBack } from './inside.ts';

type Why = Explained & { readonly by: string };

/** The number of newest unread notifications that are searched for a key. Stores index only the keys of open notifications. */
const SEARCHED_PER_KEY = 1_000;

/**
 * Withdraws one notification by its id, or all notifications of a key that are open or were only counted in a summary. A
 * delivered interrupt no longer holds the gate up.
 */
export async function withdraw(
  context: Context,
  log: LogKey,
  what: { readonly id: string } | { readonly key: string },
  why: Why,
): Promise<readonly Withdrawn[]> {
  const { store, speaker } = context;
  const items =
    'id' in what
      ? await store.items(log, { kind: 'ids', ids: [what.id as NotificationId] })
      : (await Promise.all(callersKeys(what.key, speaker).map((key) => withKey(context, log, key)))).flat();
  if ('id' in what && items.length === 0) return [{ id: what.id as NotificationId, result: 'unknown' }];
  const into = 'id' in what ? countedInto(items) : undefined;
  if (into !== undefined) return items.slice(0, 1).map(({ id }) => ({ id, result: 'folded', into }));
  if (speaker !== undefined) for (const { notification } of items) mayTakeBack(notification, speaker);
  const results: Withdrawn[] = [];
  for (const id of new Set(items.map((item) => item.id))) results.push({ id, result: await withdrawOne(context, log, id, why) });
  return results;
}

/** Returns the id of the notification into which this notification was folded. Undefined if it was not folded. */
export const countedInto = ([item]: readonly Item[]): NotificationId | undefined =>
  item?.outcome === 'folded' ? item.group?.[0] : undefined;

/**
 * Returns the notifications of the key that are open or were only counted in a summary. `searched`: how many of the newest unread
 * notifications are searched.
 */
export async function pendingWithKey(
  { store }: Pick<Context, 'store'>,
  log: LogKey,
  key: string,
  searched = SEARCHED_PER_KEY,
): Promise<readonly Item[]> {
  const unread = await store.items(log, { kind: 'unread', limit: searched });
  const counted = unread.filter((item) => item.notification.key === key && isOnlyCounted(item));
  return [...counted.toReversed(), ...(await store.items(log, { kind: 'key', key }))];
}

/** Returns the pending notifications of a key, and the delivered notifications of this key that hold the gate up. */
async function withKey(context: Context, log: LogKey, key: string): Promise<readonly Item[]> {
  return [...(await pendingWithKey(context, log, key)), ...(await holdingWithKey(context, log, key))];
}

async function holdingWithKey(context: Context, log: LogKey, key: string): Promise<readonly Item[]> {
  const gates = await context.store.items(log, { kind: 'gate' });
  return holding(
    context,
    gates.filter(({ notification }) => notification.key === key),
  );
}

/**
 * Withdraws one notification for all audiences. An undelivered notification closes, and so does a notification that was only
 * counted in a summary. A delivered interrupt no longer holds the gate up.
 */
async function withdrawOne(context: Context, log: LogKey, id: NotificationId, why: Why): Promise<Withdrawn['result']> {
  for (;;) {
    const items = await context.store.items(log, { kind: 'ids', ids: [id] });
    if (items.length === 0) return 'unknown';
    const held = await holding(
      context,
      items.filter((item) => item.state === 'closed' && item.gate),
    );
    const counted = items.some(isOnlyCounted);
    const open = counted || items.some((item) => item.state !== 'closed');
    const drafts: Draft[] = [...liftRecords(held, why), ...(open ? [withdrawalOf(id, why, counted)] : [])];
    const delivered = items.some((item) => item.outcome === 'delivered' || (item.outcome === 'summarized' && item.read));
    if (drafts.length === 0) return delivered ? 'too_late' : seen(items);
    const appended = await context.store.append(log, drafts);
    if (appended.kind !== 'appended') continue;
    if (!open) return 'gate_lowered';
    return delivered ? 'maybe_seen' : seen([...items, ...appended.items]);
  }
}

const withdrawalOf = (id: NotificationId, why: Why, counted: boolean): ClosedRecord => ({
  type: 'notification_closed',
  ids: [id],
  ...(counted ? { summarized: true } : {}),
  outcome: 'withdrawn',
  ...why,
});

const seen = (items: readonly Item[]): 'maybe_seen' | 'withdrawn' =>
  items.some(({ offers }) => offers > 0) ? 'maybe_seen' : 'withdrawn';

/** Returns the pauses that a resume for this audience lifts. An empty audience means all pauses of the agent. */
export async function pausesOf(context: Context, log: LogKey, audience: readonly ConversationId[]): Promise<readonly Item[]> {
  const gates = await context.store.items(log, { kind: 'gate' });
  return gates.filter(
    (item) =>
      item.notification.action === 'pause' &&
      (audience.length === 0 || item.audience === ANYONE || audience.includes(item.audience)),
  );
}

/**
 * Returns the interrupts that have not expired. The gate of an expired interrupt is already down. If this process's clock is
 * known to be wrong, returns all interrupts, because any of them may still hold a gate up.
 */
export async function holding(context: Context, gates: readonly Item[]): Promise<readonly Item[]> {
  const now = context.store.now();
  const still = gates.filter((item) => !isExpired(item, now));
  return still.length === gates.length || (await context.witnesses.trusted()) ? still : gates;
}

/** Explains a record that lifts a pause. `who`: the person, or the id of the notification that resumes. */
export const resumedBy = (who: string): Why => ({ by: 'resume', ...because({ kind: 'resumed', by: who } as const) });

/**
 * Makes the records that lift the pauses. An undelivered pause is withdrawn. For a delivered pause, the gate is lowered. `who`: as
 * in `resumedBy`.
 */
export function resumeRecords(pauses: readonly Item[], who: string): Draft[] {
  const why = resumedBy(who);
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

const whose = (item: Item): { readonly conversation?: ConversationId } =>
  item.audience === ANYONE ? {} : { conversation: item.audience };

export const liftRecords = (held: readonly Item[], why: Why): GateLiftedRecord[] =>
  held.map((item) => ({ type: 'gate_lifted', ids: [item.id], ...whose(item), ...why }));
