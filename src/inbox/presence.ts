/** Who is there: the one place that decides whether a conversation is active, over, or never was one. */
import type { Presence } from '../core/ports.ts';
import type { Owner, SucceededRecord } from '../core/records.ts';

/** A conversation whose process nobody can ask counts as active for this long after its last contact. */
const ACTIVE_MS = 30 * 60_000;

type IsAlive = (owner: Owner) => boolean | undefined;

/** It has not ended and its process lives; where the process cannot be asked, it made contact in the last 30 minutes. */
export function isActive(presence: Presence, now: number, isAlive: IsAlive): boolean {
  return overBecause(presence, now, isAlive) === undefined;
}

/** Why a conversation is over; undefined while it is active. */
export function overBecause(
  { endedAt, process, shared, seenAt }: Presence,
  now: number,
  isAlive: IsAlive,
): Exclude<SucceededRecord['why'], 'merged'> | undefined {
  if (endedAt !== undefined) return 'ended';
  const alive = process === undefined ? undefined : isAlive(process);
  if (alive === false) return 'died';
  if (alive === true && !shared) return undefined;
  // A contact in the future tells of a wrong clock, not of a conversation that is there.
  return Math.abs(now - seenAt) > ACTIVE_MS ? 'silent' : undefined;
}

/** Names the current run of a conversation; one that has told none has only had one. */
export const runOf = ({ began, conversation }: Presence): string => began?.run ?? conversation;

export const isSame = (a: Owner | undefined, b: Owner | undefined): boolean =>
  a !== undefined && b !== undefined && a.machine === b.machine && a.pid === b.pid && a.startedAt === b.startedAt;
