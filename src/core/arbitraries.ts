/** Generates random notifications, items and policies for property tests. Not shipped. */
import fc from 'fast-check';
import { ANYONE, type Item } from './items.ts';
import { isInterrupt, LEVELS, type Notification, type NotificationId } from './notification.ts';
import { DEFAULT_POLICY, type Policy } from './policy.ts';

export const NOW = 1_700_000_000_000;

export const notifications: fc.Arbitrary<Notification> = fc
  .record(
    {
      kind: fc.record({
        source: fc.constantFrom('tool', 'files', 'mcp', 'budget'),
        name: fc.constantFrom('failed', 'changed', 'stopped'),
      }),
      level: fc.constantFrom(...LEVELS),
      message: fc.oneof(fc.constantFrom('a', 'b', 'build failed'), fc.string({ unit: 'grapheme', minLength: 1, maxLength: 400 })),
      key: fc.constantFrom('k1', 'k2', 'k3'),
      supersede: fc.constant(true as const),
      about: fc.constantFrom('handle:a', 'file:/x'),
      expiresAt: fc.constantFrom(null, NOW - 1, NOW + 1_000_000),
      deliver: fc.constantFrom(
        'after_tool' as const,
        'turn_start' as const,
        'turn_end' as const,
        'next_cycle' as const,
        { at: NOW + 5 },
        { afterTurns: 2 },
      ),
      action: fc.constantFrom('cancel' as const, 'pause' as const, 'resume' as const),
      instruction: fc.constant('do this'),
      origin: fc.record({ depth: fc.nat(5), tool: fc.constantFrom('grep', 'ls') }),
    },
    { requiredKeys: ['kind', 'level', 'message'] },
  )
  .map(({ supersede, ...rest }) => ({
    id: 'x' as NotificationId,
    ...rest,
    ...(supersede && rest.key !== undefined ? { supersede } : {}),
  }));

/**
 * Generates open items, oldest first, with ids `n0`, `n1` …. Some items were offered before. Some of the offered items shared a
 * line with an item that has closed since.
 */
export const openItems = (max = 40): fc.Arbitrary<Item[]> =>
  fc
    .array(
      fc.record({
        notification: notifications,
        gapMs: fc.nat(4_000),
        count: fc.integer({ min: 1, max: 20 }),
        offeredBefore: fc.boolean(),
      }),
      { maxLength: max },
    )
    .map((rows) => {
      let at = NOW - 3_600_000;
      return rows.map(({ notification, gapMs, count, offeredBefore }, i): Item => {
        at += gapMs;
        const id = `n${i}` as NotificationId;
        const offered = offeredBefore && i % 3 === 0;
        return {
          id,
          audience: ANYONE,
          notification: { ...notification, id },
          seq: i + 1,
          at,
          state: 'open',
          offers: offered ? 1 : 0,
          ...(offered ? { text: `sent before ${i}`, group: i % 6 === 0 ? [id, 'over' as NotificationId] : [id] } : {}),
          gate: isInterrupt(notification),
          read: false,
          observed: false,
          count,
          lastAt: at,
          differs: [],
          history: [i + 1],
        };
      });
    });

export const policies: fc.Arbitrary<Policy> = fc
  .record({
    enable: fc.boolean(),
    minLevel: fc.constantFrom(...LEVELS),
    maxItems: fc.integer({ min: 1, max: 12 }),
    maxTokens: fc.integer({ min: 60, max: 900 }),
    windowMs: fc.constantFrom(0, 500, 5_000),
    muted: fc.option(fc.constantFrom('tool.failed', 'files.changed')),
  })
  .map(({ muted, windowMs, enable, minLevel, ...rest }) => ({
    ...DEFAULT_POLICY,
    ...rest,
    enable: enable || muted === null,
    minLevel: minLevel === 'critical' ? 'info' : minLevel,
    coalesceMs: { '*': windowMs },
    flat: muted === null ? {} : { [muted]: false },
  }));
