/** Decides which open notifications wake an idle agent, and which need the person's consent first. */
import type { LogKey } from './address.ts';
import type { Item } from './items.ts';
import { formatKind, isInterrupt, type Notification, type NotificationId } from './notification.ts';
import type { Policy } from './policy.ts';

/**
 * The maximum depth of a notification that wakes an agent, in agent-to-agent hops. This maximum ends chains of agents that wake
 * each other.
 */
const MAX_DEPTH = 4;

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MINUTES = 24 * 60;

export type WakingFacts = {
  /** The agent's log. Notifications that the agent itself sent do not wake it. */
  readonly log: LogKey;
  readonly policy: Pick<Policy, 'wake' | 'wakeQuiet' | 'wakeMaxPerHour'>;
  /** The times of earlier wakes, epoch ms. Wakes more than an hour ago do not count. Default: none. */
  readonly wokenAt?: readonly number[];
  /** Minutes since midnight in the person's time zone. Default: unknown, so no hour is quiet. */
  readonly minuteOfDay?: number;
  /** Epoch ms. */
  readonly now: number;
  /** Whether the agent is paused. A paused agent stays idle until a resume may wake it. */
  readonly paused: boolean;
  /** Whether this notification must not wake the agent: it has already woken the agent, or it may never wake an agent. */
  readonly spent: (id: NotificationId) => boolean;
};

export type Waking = {
  readonly wakes: readonly Item[];
  readonly asks: readonly Item[];
  /** When the next notification may wake the agent, epoch ms. */
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

/**
 * Whether the notification is a resume or a person's message. Neither quiet hours nor the limit of wakes per hour hold it back.
 */
const isAsked = (n: Notification): boolean => n.action === 'resume' || isFromPerson(n);

/**
 * Returns the time until which quiet hours or the limit of wakes per hour hold the notification back, epoch ms. Undefined if the
 * notification may wake the agent now.
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

/** Whether a person wrote the message and expects an answer. */
const isFromPerson = ({ kind, origin }: Notification): boolean =>
  formatKind(kind) === 'user.message' && origin?.person !== undefined;

/**
 * Returns the earliest time at which the item may wake the agent, epoch ms. This time is the later of the due time and the end of
 * the delay for related notifications. An interrupt may wake the agent at once.
 */
function wakesFrom({ at, notification }: Item): number {
  const { deliver, subscriber } = notification;
  if (isInterrupt(notification)) return at;
  const moment = typeof deliver === 'object' && 'at' in deliver ? deliver.at : at;
  return Math.max(moment, at + (subscriber?.wakeAfterMs ?? 0));
}
