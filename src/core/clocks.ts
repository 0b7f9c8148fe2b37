/**
 * Rules for clocks that may be wrong. A producer stamps a notification with its own clock, a reader judges that stamp by
 * its own clock, and neither trusts the other blindly. Pure: the caller passes the time.
 *
 * - The record's `at` is a lower bound of the true time: it is never before the record that was appended before it.
 * - `clock` is what the writer's own clock said. It is stored only where it is behind `at`.
 * - A stamp that lies in the reader's future says nothing: either the writer's clock is ahead or the reader's is behind.
 * - In a log whose time lies in the reader's future, a writer's clock counts only where it agrees with the reader's. A clock
 *   that is far behind can be wrong as well, and its notification would expire before anybody reads it.
 */
import type { Item } from './items.ts';
import type { NotificationId } from './notification.ts';

/** Two clocks agree when they differ by at most a day. */
export const AGREE_MS = 86_400_000;

export const agree = (a: number, b: number): boolean => Math.abs(a - b) <= AGREE_MS;

/** A writer's own clock is stored where it is at least this far behind the log. */
export const BEHIND_MS = 60_000;

/** What to store as the writer's clock beside a record at `at`. */
export const clockBeside = (at: number, clock: number): { readonly clock?: number } => (at - clock >= BEHIND_MS ? { clock } : {});

export type Stamped = Pick<Item, 'at' | 'clock'>;

/** The time that a person reads: what the writer's clock said. */
export const saidAt = ({ at, clock }: Stamped): number => clock ?? at;

/** When the item was queued, by the reader's clock. Undefined: its stamps do not tell. */
export function queuedAt({ at, clock = at }: Stamped, now: number): number | undefined {
  if (at <= now + AGREE_MS) return at;
  return agree(clock, now) ? clock : undefined;
}

/**
 * For items whose age this reader cannot tell from their stamps, or whose reader's own clock is known to be wrong: when each
 * was queued at the latest, by the reader's clock.
 */
export type Sighted = Readonly<Record<NotificationId, number>>;

/** A moment that the producer computed from its own clock, by the reader's clock. */
function byReader(moment: number, item: Stamped, now: number, sighted?: number): number | undefined {
  const clock = saidAt(item);
  const queued = sighted ?? queuedAt(item, now);
  if (queued === undefined) return undefined;
  return agree(queued, clock) ? moment : queued + (moment - clock);
}

/** What the end of an item's time depends on. */
export type Timed = Stamped & { readonly notification: Pick<Item['notification'], 'expiresAt'> };

/** When its time ends, by the reader's clock. Undefined: never, or the reader cannot know its age. */
export function endOf(item: Timed, now: number, sighted?: number): number | undefined {
  const { expiresAt } = item.notification;
  return typeof expiresAt === 'number' ? byReader(expiresAt, item, now, sighted) : undefined;
}

/**
 * The end of its time has come, by the reader's clock. `sighted`: when it was queued at the latest. An item whose age the
 * reader cannot know is not expired.
 */
export function isExpired(item: Timed, now: number, sighted?: number): boolean {
  const end = endOf(item, now, sighted);
  return end !== undefined && end <= now;
}

/** Whether it holds a gate up now. After its time is over, the index still says `gate` until a sweep lowers it. */
export const holdsGate = (item: Timed & Pick<Item, 'gate'>, now: number): boolean => item.gate && !isExpired(item, now);

export type When = { readonly now: number; readonly sighted?: Sighted | undefined };

/** Its time has come. An item of which not even a first sight is known is due: early is better than a year late. */
export function isDue(deliverAt: number, item: Stamped & Pick<Item, 'id'>, { now, sighted = {} }: When): boolean {
  const due = byReader(deliverAt, item, now, sighted[item.id]);
  return due === undefined || due <= now;
}

/** How long it has waited, in ms; Infinity where nobody knows. */
export function waitedMs(item: Stamped & Pick<Item, 'id'>, { now, sighted = {} }: When): number {
  const queued = sighted[item.id] ?? queuedAt(item, now);
  return queued === undefined ? Number.POSITIVE_INFINITY : now - queued;
}
