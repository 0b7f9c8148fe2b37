/** Which open notifications wake an idle agent, and which need the person's consent first. */
import type { LogKey } from './address.ts';
import type { Item } from './items.ts';
import { formatKind, isInterrupt, type Notification, type NotificationId } from './notification.ts';
import type { Policy } from './policy.ts';

/** Chains of agents that wake each other end at this depth. */
const MAX_DEPTH = 4;

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MINUTES = 24 * 60;

export type WakingFacts = {
  /** The agent itself: its own notifications do not wake it. */
  readonly log: LogKey;
  readonly policy: Pick<Policy, 'wake' | 'wakeQuiet' | 'wakeMaxPerHour'>;
  /** The times of earlier wakes, epoch ms. Only those of the last hour count. Default: not known. */
  readonly wokenAt?: readonly number[];
  /** Minutes since midnight in the person's zone. Default: not known, so no hour is quiet. */
  readonly minuteOfDay?: number;
  /** Epoch ms. */
  readonly now: number;
  /** A pause holds the agent: only a resume wakes it. */
  readonly paused: boolean;
  /** Whether the id has already woken the agent, or never may. An id wakes once. */
  readonly spent: (id: NotificationId) => boolean;
};

export type Waking = {
  readonly wakes: readonly Item[];
  readonly asks: readonly Item[];
  /** The time at which the next one may wake the agent, epoch ms. */
  readonly nextAt?: number;
};

/** Decides whether to wake an idle agent. `items`: open items that a carrier of the agent would take now or later. */
export function waking(items: readonly Item[], facts: WakingFacts): Waking {
  const { log, policy, now, paused, spent } = facts;
  const later = items.map((item) => wakesFrom(item)).filter((at) => at > now);
  const may = items.filter((item) => {
    const { origin } = item.notification;
    return !spent(item.id) && wakesFrom(item) <= now && origin?.agent !== log && (origin?.depth ?? 0) <= MAX_DEPTH;
  });
  if (paused && !may.some(({ notification }) => notification.action === 'resume'))
    return { wakes: [], asks: [], ...earliest(later) };
  const would = may.filter(({ notification: n }) => isAsked(n) || policy.wake[n.level] === 'auto');
  const held = new Map(would.map((item) => [item, heldUntil(item.notification, facts)]));
  return {
    wakes: would.filter((item) => held.get(item) === undefined),
    asks: may.filter(({ notification: n }) => policy.wake[n.level] === 'ask'),
    ...earliest([...later, ...[...held.values()].filter((at) => at !== undefined)]),
  };
}

const earliest = (times: readonly number[]): Pick<Waking, 'nextAt'> => (times.length === 0 ? {} : { nextAt: Math.min(...times) });

/** A person asks the agent to resume: quiet hours and the budget do not apply. */
const isAsked = (n: Notification): boolean => n.action === 'resume' || isSaid(n);

/**
 * The end of the quiet hours or of the budget's hold, epoch ms. Undefined: it may wake now. Quiet hours do not hold an
 * interrupt.
 */
function heldUntil(notification: Notification, { policy, now, wokenAt = [], minuteOfDay }: WakingFacts): number | undefined {
  if (isAsked(notification)) return undefined;
  const lastHour = wokenAt.filter((at) => now - at < HOUR_MS).toSorted((a, b) => b - a);
  const oldest = lastHour[policy.wakeMaxPerHour - 1];
  if (oldest !== undefined) return oldest + HOUR_MS;
  const { wakeQuiet: quiet } = policy;
  if (quiet === undefined || minuteOfDay === undefined || isInterrupt(notification)) return undefined;
  const left = (quiet.to - minuteOfDay + DAY_MINUTES) % DAY_MINUTES;
  const lasts = (quiet.to - quiet.from + DAY_MINUTES) % DAY_MINUTES;
  return left > 0 && left <= lasts ? now + left * MINUTE_MS : undefined;
}

/** Whether a person wrote it and expects an answer. */
const isSaid = ({ kind, origin }: Notification): boolean => formatKind(kind) === 'user.message' && origin?.person !== undefined;

/** The earliest time at which it may wake, epoch ms: its own time, or the end of the delay for related notifications. */
export function wakesFrom({ at, notification }: Item): number {
  const { deliver, subscriber } = notification;
  if (isInterrupt(notification)) return at;
  const moment = typeof deliver === 'object' && 'at' in deliver ? deliver.at : at;
  return Math.max(moment, at + (subscriber?.wakeAfterMs ?? 0));
}
