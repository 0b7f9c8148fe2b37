import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { proves, verifies } from '../../e2e/verifies.ts';
import { agree, AGREE_MS, clockBeside, isDue, isExpired, queuedAt, waitedMs } from './clocks.ts';
import type { Item } from './items.ts';
import type { NotificationId } from './notification.ts';

const NOW = 1_800_000_000_000;
const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const YEAR = 365 * DAY;

type Queued = { readonly trueTime: number; readonly senderIsOffBy: number; readonly logAt: number };

/**
 * Makes the item of a notification that a producer queues at `trueTime`. The producer's clock is off by `senderIsOffBy` ms. The
 * newest earlier record of the log has the time `logAt`.
 */
function queued({ trueTime, senderIsOffBy, logAt }: Queued, of: { ttlMs?: number; inMs?: number } = {}): Item {
  const clock = trueTime + senderIsOffBy;
  const at = Math.max(clock, logAt);
  const notification = {
    expiresAt: of.ttlMs === undefined ? null : clock + of.ttlMs,
    ...(of.inMs === undefined ? {} : { deliver: { at: clock + of.inMs } }),
  };
  return { id: 'n1' as NotificationId, at, ...clockBeside(at, clock), notification } as unknown as Item;
}

const deliverAt = (item: Item): number => (item.notification.deliver as { at: number }).at;

describe('a producer whose clock is wrong', () => {
  proves('time:sender');
  const before = NOW - 60_000;

  it.each([
    ['a year behind', -YEAR],
    ['three days behind', -3 * DAY],
    ['right', 0],
    ['a year ahead', YEAR],
  ])('%s: a notification that the producer queued now has not expired', (_name, senderIsOffBy) => {
    const item = queued({ trueTime: NOW, senderIsOffBy, logAt: before }, { ttlMs: DAY });
    expect(isExpired(item, NOW)).toBe(false);
    expect(isExpired(item, NOW + HOUR)).toBe(false);
  });

  it.each([
    ['a year behind', -YEAR],
    ['right', 0],
  ])(
    '%s, after a record from a clock that is a year ahead: the notification expires a day after it was first seen',
    (_name, senderIsOffBy) => {
      const item = queued({ trueTime: NOW, senderIsOffBy, logAt: NOW + YEAR }, { ttlMs: DAY });
      expect(isExpired(item, NOW)).toBe(false);
      expect(isExpired(item, NOW + HOUR, NOW)).toBe(false);
      expect(isExpired(item, NOW + DAY + HOUR, NOW)).toBe(true);
    },
  );

  it.each([
    ['a year behind', -YEAR],
    ['right', 0],
  ])('%s: a notification expires when its time has passed', (_name, senderIsOffBy) => {
    const item = queued({ trueTime: NOW, senderIsOffBy, logAt: before }, { ttlMs: DAY });
    expect(isExpired(item, NOW + DAY + HOUR)).toBe(true);
  });

  it.each([
    ['a year behind', -YEAR],
    ['right', 0],
    ['a year ahead', YEAR],
  ])('%s: a notification that is due in two hours is delivered after two hours', (_name, senderIsOffBy) => {
    const item = queued({ trueTime: NOW, senderIsOffBy, logAt: before }, { inMs: 2 * HOUR });
    const sighted = { [item.id]: NOW };
    expect(isDue(deliverAt(item), item, { now: NOW + HOUR, sighted })).toBe(false);
    expect(isDue(deliverAt(item), item, { now: NOW + 2 * HOUR, sighted })).toBe(true);
  });

  it('a notification of unknown age is delivered at once, and never a year late', () => {
    const item = queued({ trueTime: NOW, senderIsOffBy: YEAR, logAt: 0 }, { inMs: 2 * HOUR, ttlMs: DAY });
    expect(queuedAt(item, NOW)).toBeUndefined();
    expect([isDue(deliverAt(item), item, { now: NOW }), isExpired(item, NOW)]).toEqual([true, false]);
    expect(waitedMs(item, { now: NOW })).toBe(Number.POSITIVE_INFINITY);
  });
});

verifies(
  'time:own-clock',
  'after a record from a clock that is a year ahead, the times of other producers are read by their own clocks',
  () => {
    const item = queued({ trueTime: NOW, senderIsOffBy: 0, logAt: NOW + YEAR }, { ttlMs: DAY, inMs: HOUR });
    expect(item.at).toBe(NOW + YEAR);
    expect([isExpired(item, NOW), isExpired(item, NOW + DAY)]).toEqual([false, true]);
    expect([isDue(deliverAt(item), item, { now: NOW }), isDue(deliverAt(item), item, { now: NOW + HOUR })]).toEqual([
      false,
      true,
    ]);
    expect(waitedMs(item, { now: NOW + HOUR })).toBe(HOUR);
  },
);

verifies(
  'time:own-clock',
  "one wrong clock makes a notification expire at most a day early, and delays it by at most a day or the clock's error, if that is larger",
  () => {
    const off = fc.oneof(fc.constant(0), fc.integer({ min: -2 * YEAR, max: 2 * YEAR }));
    fc.assert(
      fc.property(
        fc.record({
          off,
          wrong: fc.constantFrom('sender', 'log'),
          ttlMs: fc.integer({ min: 2 * DAY, max: 30 * DAY }),
          inMs: fc.integer({ min: 0, max: 10 * DAY }),
          afterMs: fc.integer({ min: 0, max: 40 * DAY }),
          quietMs: fc.integer({ min: 0, max: DAY }),
        }),
        ({ off: skew, wrong, ttlMs, inMs, afterMs, quietMs }) => {
          const logAt = wrong === 'log' ? Math.max(NOW - quietMs, NOW + skew) : NOW - quietMs;
          const item = queued({ trueTime: NOW, senderIsOffBy: wrong === 'sender' ? skew : 0, logAt }, { ttlMs, inMs });
          const reader = NOW + afterMs;
          const sighted = { [item.id]: NOW + quietMs };
          if (afterMs < ttlMs - AGREE_MS) expect(isExpired(item, reader)).toBe(false);
          // If a time is at most a day in the reader's future, the reader waits until that time. As a result, the item may wait
          // for as long as the producer's clock is ahead.
          const late = Math.abs(skew) > 50 * DAY ? AGREE_MS : Math.max(AGREE_MS, skew);
          const due = isDue(deliverAt(item), item, { now: reader, sighted });
          if (afterMs < inMs - AGREE_MS) expect(due).toBe(false);
          if (afterMs >= inMs + late) expect(due).toBe(true);
        },
      ),
      { numRuns: 2_000 },
    );
  },
);

it('two clocks agree within a day', () => {
  expect([agree(NOW, NOW + AGREE_MS), agree(NOW, NOW - AGREE_MS), agree(NOW, NOW + AGREE_MS + 1)]).toEqual([true, true, false]);
});
