/**
 * Rules for clocks that may be wrong. A producer stamps a notification with its own clock. A reader compares that stamp with its
 * own clock. Neither trusts the other blindly. Pure: the caller passes the current time.
 *
 * - The record's `at` is a lower bound of the true time. It is never before the record that was appended before it.
 * - `clock` is the time on the writer's own clock. A store keeps it only if it is behind `at`.
 * - A stamp in the reader's future proves nothing: either the writer's clock is ahead or the reader's clock is behind.
 * - If the time of a log is in the reader's future, a writer's clock counts only if it agrees with the reader's clock. A
 *   clock that is far behind can also be wrong, and its notification would expire before anybody reads it.
 */
import type { Item } from './items.ts';
import type { NotificationId } from './notification.ts';

/** Two clocks agree when they differ by at most a day. */
export const AGREE_MS = 86_400_000;

export const agree = (a: number, b: number): boolean => Math.abs(a - b) <= AGREE_MS;

/** A store keeps a writer's own clock if it is at least this far behind the log. */
export const BEHIND_MS = 60_000;

/** The `clock` to store beside a record at `at`: the writer's clock if it is behind, else nothing. */
export const clockBeside = (at: number, clock: number): { readonly clock?: number } => (at - clock >= BEHIND_MS ? { clock } : {});

export type Stamped = Pick<Item, 'at' | 'clock'>;

/** The time to show to a person: the writer's clock. */
export const saidAt = ({ at, clock }: Stamped): number => clock ?? at;

/** When the item was queued, by the reader's clock. Undefined if its stamps do not allow an answer. */
export function queuedAt({ at, clock = at }: Stamped, now: number): number | undefined {
  if (at <= now + AGREE_MS) return at;
  return agree(clock, now) ? clock : undefined;
}

/**
 * The latest possible time at which each item was queued, by the reader's clock. Used for items whose age this reader cannot
 * compute from their stamps, or if the reader's own clock is known to be wrong.
 */
export type Sighted = Readonly<Record<NotificationId, number>>;

/** Converts a moment that the producer computed from its own clock to the reader's clock. */
function byReader(moment: number, item: Stamped, now: number, sighted?: number): number | undefined {
  const clock = saidAt(item);
  const queued = sighted ?? queuedAt(item, now);
  if (queued === undefined) return undefined;
  return agree(queued, clock) ? moment : queued + (moment - clock);
}

/** The fields that determine when an item expires. */
export type Timed = Stamped & { readonly notification: Pick<Item['notification'], 'expiresAt'> };

/** When the item expires, by the reader's clock. Undefined: never, or the reader cannot know the item's age. */
export function endOf(item: Timed, now: number, sighted?: number): number | undefined {
  const { expiresAt } = item.notification;
  return typeof expiresAt === 'number' ? byReader(expiresAt, item, now, sighted) : undefined;
}

/**
 * Whether the item has expired, by the reader's clock. `sighted`: the latest time at which it can have been queued. An item
 * whose age the reader cannot know is not expired.
 */
export function isExpired(item: Timed, now: number, sighted?: number): boolean {
  const end = endOf(item, now, sighted);
  return end !== undefined && end <= now;
}

/** Whether the item keeps a gate up now. After an item expires, the index still says `gate` until a sweep lowers it. */
export const holdsGate = (item: Timed & Pick<Item, 'gate'>, now: number): boolean => item.gate && !isExpired(item, now);

export type When = { readonly now: number; readonly sighted?: Sighted | undefined };

/** Whether the item is due. An item without a known first sight is due: too early is better than a year late. */
export function isDue(deliverAt: number, item: Stamped & Pick<Item, 'id'>, { now, sighted = {} }: When): boolean {
  const due = byReader(deliverAt, item, now, sighted[item.id]);
  return due === undefined || due <= now;
}

/** How long the item has waited, in ms. Infinity if its age is unknown. */
export function waitedMs(item: Stamped & Pick<Item, 'id'>, { now, sighted = {} }: When): number {
  const queued = sighted[item.id] ?? queuedAt(item, now);
  return queued === undefined ? Number.POSITIVE_INFINITY : now - queued;
}

/** `365 days ahead`. */
export function offBy(ms: number): string {
  const days = Math.round(Math.abs(ms) / 86_400_000);
  return `${days} ${days === 1 ? 'day' : 'days'} ${ms < 0 ? 'behind' : 'ahead'}`;
}
