/**
 * Interprets timestamps of clocks that may be wrong. A producer stamps a notification with its own clock, and a reader compares
 * the stamp with another clock. The functions are pure: the caller passes the current time.
 *
 * - The `at` of a record is never before the `at` of an earlier record in the log.
 * - `clock` is the time on the writer's own clock. A store keeps `clock` only if it is at least 60 s behind `at`.
 * - A stamp more than a day in the reader's future proves nothing: either the writer's clock is ahead or the reader's clock is
 *   behind.
 * - If `at` is more than a day in the reader's future, `clock` counts only if it agrees with the reader's clock. Without this
 *   rule, a notification from a clock that is far behind would expire before an agent reads it.
 */
import { defined } from './defined.ts';
import { isOnlyCounted, type Item } from './item.ts';
import type { Notification, NotificationId } from './notification.ts';

/** The largest difference between two clocks that agree, in ms: a day. */
export const AGREE_MS = 86_400_000;

export const agree = (a: number, b: number): boolean => Math.abs(a - b) <= AGREE_MS;

/** How far a writer's clock must be behind `at` for a store to keep the time on that clock, in ms. */
export const BEHIND_MS = 60_000;

/** Returns `{ clock }` for a record with this `at`, or `{}` if the writer's clock is less than `BEHIND_MS` behind. */
export const clockBeside = (at: number, clock: number): { readonly clock?: number } => (at - clock >= BEHIND_MS ? { clock } : {});

export type Stamped = Pick<Item, 'at' | 'clock'>;

/** Returns the time to show to a person: the writer's clock if the record has it, otherwise `at`. */
export const saidAt = ({ at, clock }: Stamped): number => clock ?? at;

/**
 * Returns the time at which the item was queued, by the reader's clock. Undefined if `at` is more than a day in the reader's
 * future and `clock` does not agree with the reader's clock.
 */
export function queuedAt({ at, clock = at }: Stamped, now: number): number | undefined {
  if (at <= now + AGREE_MS) return at;
  return agree(clock, now) ? clock : undefined;
}

/**
 * The latest possible time at which each item was queued, by the reader's clock. The reader uses these times for items whose
 * stamps do not show their age, or if the reader's own clock is known to be wrong.
 */
export type Sighted = Readonly<Record<NotificationId, number>>;

/** Converts a time on the producer's clock to the reader's clock. Undefined if the age of the item is unknown. */
function byReader(moment: number, item: Stamped, now: number, sighted?: number): number | undefined {
  const clock = saidAt(item);
  const queued = sighted ?? queuedAt(item, now);
  if (queued === undefined) return undefined;
  return agree(queued, clock) ? moment : queued + (moment - clock);
}

/**
 * Converts a notification's times to this process's clock, for a copy that this process queues. A reader compares these times
 * with the stamp of the copy's record, so both must be from one clock. `from`: the stamp of the original's record.
 */
export function copiedTimes(
  { expiresAt, deliver }: Pick<Notification, 'expiresAt' | 'deliver'>,
  from: Stamped,
  { now, sighted }: { readonly now: number; readonly sighted?: number | undefined },
): Pick<Notification, 'expiresAt' | 'deliver'> {
  const here = (moment: number): number => byReader(moment, from, now, sighted) ?? now + (moment - saidAt(from));
  return defined({
    expiresAt: typeof expiresAt === 'number' ? here(expiresAt) : expiresAt,
    deliver: typeof deliver === 'object' && 'at' in deliver ? { ...deliver, at: here(deliver.at) } : deliver,
  });
}

/** The fields that determine when an item expires. */
export type Timed = Stamped & { readonly notification: Pick<Item['notification'], 'expiresAt'> };

/**
 * Returns the time at which the item expires, by the reader's clock. Undefined if the item never expires, or if its age is
 * unknown.
 */
export function endOf(item: Timed, now: number, sighted?: number): number | undefined {
  const { expiresAt } = item.notification;
  return typeof expiresAt === 'number' ? byReader(expiresAt, item, now, sighted) : undefined;
}

/**
 * Whether the item has expired, by the reader's clock. An item of unknown age has not expired. `sighted`: the latest possible
 * time at which the item was queued.
 */
export function isExpired(item: Timed, now: number, sighted?: number): boolean {
  const end = endOf(item, now, sighted);
  return end !== undefined && end <= now;
}

/**
 * Returns the item for a list, which shows an expired item as closed even before a sweep has closed it. A reader would otherwise
 * see the item as waiting until the next sweep, and no sweep runs if all processes are short-lived. No sweep closes an item that
 * was only counted in a summary.
 */
export function asListed(item: Item, now: number): Item {
  if ((item.state !== 'open' && !isOnlyCounted(item)) || !isExpired(item, now)) return item;
  return { ...item, state: 'closed', outcome: 'expired', gate: false, ...defined({ closedAt: endOf(item, now) }) };
}

/**
 * Whether the item keeps a gate up now. The field `gate` alone is not enough: this field stays true after the item expires, until
 * a sweep closes the item or lowers its gate.
 */
export const holdsGate = (item: Timed & Pick<Item, 'gate'>, now: number): boolean => item.gate && !isExpired(item, now);

export type When = { readonly now: number; readonly sighted?: Sighted | undefined };

/** Whether the item is due. An item of unknown age is due: delivery too early is better than delivery a year late. */
export function isDue(deliverAt: number, item: Stamped & Pick<Item, 'id'>, { now, sighted = {} }: When): boolean {
  const due = byReader(deliverAt, item, now, sighted[item.id]);
  return due === undefined || due <= now;
}

/** Returns how long the item has waited, in ms. Infinity if the item's age is unknown. */
export function waitedMs(item: Stamped & Pick<Item, 'id'>, { now, sighted = {} }: When): number {
  const queued = sighted[item.id] ?? queuedAt(item, now);
  return queued === undefined ? Number.POSITIVE_INFINITY : now - queued;
}

/** Describes the error of a clock: `365 days ahead`. */
export function offBy(ms: number): string {
  const days = Math.round(Math.abs(ms) / 86_400_000);
  return `${days} ${days === 1 ? 'day' : 'days'} ${ms < 0 ? 'behind' : 'ahead'}`;
}
