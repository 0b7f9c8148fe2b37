/** Which open notifications wake an idle agent, and which its person is asked about first. */
import type { LogKey } from './address.ts';
import type { Item } from './items.ts';
import { formatKind, isInterrupt, type Notification, type NotificationId } from './notification.ts';
import type { Policy } from './policy.ts';

/** Chains of agents that wake each other end here. */
const MAX_DEPTH = 4;

export type WakingFacts = {
  /** The agent itself: its own doing does not wake it. */
  readonly log: LogKey;
  readonly policy: Pick<Policy, 'wake'>;
  /** Epoch ms. */
  readonly now: number;
  /** A pause holds it: only a resume wakes it. */
  readonly paused: boolean;
  /** It has woken the agent before, or may not: an id wakes once. */
  readonly spent: (id: NotificationId) => boolean;
};

export type Waking = {
  readonly wakes: readonly Item[];
  readonly asks: readonly Item[];
  /** When another one may wake, epoch ms. */
  readonly nextAt?: number;
};

/** `items`: open ones that a carrier for an idle agent would take now, or later. */
export function waking(items: readonly Item[], { log, policy, now, paused, spent }: WakingFacts): Waking {
  const later = items.map((item) => wakesFrom(item)).filter((at) => at > now);
  const next = later.length === 0 ? {} : { nextAt: Math.min(...later) };
  const may = items.filter((item) => {
    const { origin } = item.notification;
    return !spent(item.id) && wakesFrom(item) <= now && origin?.agent !== log && (origin?.depth ?? 0) <= MAX_DEPTH;
  });
  if (paused && !may.some(({ notification }) => notification.action === 'resume')) return { wakes: [], asks: [], ...next };
  return {
    wakes: may.filter(({ notification: n }) => n.action === 'resume' || isSaid(n) || policy.wake[n.level] === 'auto'),
    asks: may.filter(({ notification: n }) => policy.wake[n.level] === 'ask'),
    ...next,
  };
}

/** A person talks to it and waits. */
const isSaid = ({ kind, origin }: Notification): boolean => formatKind(kind) === 'user.message' && origin?.person !== undefined;

/** From when on it may wake, epoch ms: at its time, or when what belongs to it has had its time to come. */
export function wakesFrom({ at, notification }: Item): number {
  const { deliver, subscriber } = notification;
  if (isInterrupt(notification)) return at;
  const moment = typeof deliver === 'object' && 'at' in deliver ? deliver.at : at;
  return Math.max(moment, at + (subscriber?.wakeAfterMs ?? 0));
}
