/** Collects the facts for `waking`: the agent's earlier wakes, the limits of its policy, and the time of day. */
import type { NotificationId } from '../core/notification.ts';
import type { WakingFacts } from '../core/waking.ts';
import type { Conversation } from './conversation/conversation.ts';

/** The maximum number of wake records that are read. At least the largest `wake.max_per_hour`. */
const WAKE_RECORDS = 1_000;

/** The notifications that have woken the agent, and the times of the wakes. These notifications do not wake the agent again. */
export type EarlierWakes = { readonly ids: Set<NotificationId>; readonly at: number[] };

/** Reads the newest wakes of the conversation, by any process. */
export async function earlierWakes({ id, inbox: { store }, log }: Conversation): Promise<EarlierWakes> {
  const woken = await store.read({ log, conversation: id, types: ['agent_woken'], newestFirst: true, limit: WAKE_RECORDS });
  return {
    ids: new Set(woken.flatMap(({ body }) => (body as unknown as { ids: readonly NotificationId[] }).ids)),
    at: woken.map(({ at }) => at),
  };
}

export function wakingFacts(conversation: Conversation, { ids, at }: EarlierWakes, paused: boolean): WakingFacts {
  const { inbox, log } = conversation;
  const now = inbox.store.now();
  return {
    log,
    policy: conversation.policy(),
    now,
    paused,
    spent: (id) => ids.has(id),
    wokenAt: at,
    minuteOfDay: minuteOfDay(now, inbox.timeZone),
  };
}

function minuteOfDay(now: number, timeZone: string): number {
  const parts = new Intl.DateTimeFormat('en', { timeZone, hour: 'numeric', minute: 'numeric', hourCycle: 'h23' }).formatToParts(
    now,
  );
  const numberOf = (type: string): number => Number(parts.find((part) => part.type === type)?.value ?? 0);
  return numberOf('hour') * 60 + numberOf('minute');
}
