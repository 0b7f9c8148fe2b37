import { expect, it } from 'vitest';
import { shortened } from './checksum.ts';

it('a shortened text has at most the given length, differs from others, and has no half of a character', () => {
  const long = '🦊'.repeat(100);
  for (const max of [40, 41]) {
    expect(shortened(long, max).length).toBeLessThanOrEqual(max);
    expect(shortened(long, max).isWellFormed()).toBe(true);
  }
  expect(shortened(`${long}a`, 40)).not.toBe(shortened(`${long}b`, 40));
  expect(shortened('short', 40)).toBe('short');
});
