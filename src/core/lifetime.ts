/** Decides when a notification expires, and which delivery times are allowed. */
import { EarpieceError } from './errors.ts';

/** The last time that a `Date` can express, in epoch milliseconds. A later time cannot be shown. */
const LAST_TIME = 8.64e15;
export const isTime = (value: number): boolean => Number.isFinite(value) && Math.abs(value) <= LAST_TIME;

/** A notification may wait for a time that is at most this long from now. The settings for lifetimes have the same limit. */
export const MAX_DELAY = { ms: 3_650 * 86_400_000, text: '3650d' } as const;

/**
 * Returns when a notification expires: null means never. The lifetime counts from now, or from the time for which the
 * notification waits.
 */
export const endOfLifetime = (ttlMs: number | null, now: number, waitsUntil = now): number | null =>
  ttlMs === null ? null : Math.min(Math.max(now, waitsUntil) + ttlMs, LAST_TIME);

/** Throws `bad_argument` if a notification expires before the time for which it waits, because no agent could read it. */
export function checkExpiry(expiresAt: number | null | undefined, waitsUntil: number | undefined): void {
  if (typeof expiresAt !== 'number' || waitsUntil === undefined || expiresAt > waitsUntil) return;
  const iso = (at: number): string => new Date(at).toISOString();
  throw new EarpieceError(
    'bad_argument',
    `expiresAt ${iso(expiresAt)} must be after the delivery time ${iso(waitsUntil)}; write a later time, or write ttlMs, which counts from the delivery time`,
    { data: { field: 'expiresAt' } },
  );
}
