import { describe, expect, test } from 'vitest';
import { around, earlierThan, laterThan, NEWEST, SHOWN, spanOf, type Place } from './window.ts';

/** Some records make two entries. */
const list = (length: number, first = 0): { seq: number }[] =>
  Array.from({ length }, (_, n) => ({ seq: first + n - (n % 7 === 1 ? 1 : 0) }));

describe('the part of a timeline that is shown', () => {
  test('a short one is shown whole, a long one from its end', () => {
    expect(spanOf(list(10), NEWEST)).toEqual({ start: 0, end: 10 });
    expect(spanOf([], NEWEST)).toEqual({ start: 0, end: 0 });
    expect(spanOf(list(1_000), NEWEST)).toEqual({ start: 1_000 - SHOWN, end: 1_000 });
  });

  test('steps back to the first entry and forward to the newest without leaving any out', () => {
    const entries = list(2_000);
    const seen = new Set<number>();
    let place: Place | undefined = NEWEST;
    let before = spanOf(entries, NEWEST);
    while (place !== undefined) {
      const span = spanOf(entries, place);
      expect(span.end - span.start).toBe(SHOWN);
      expect(before.start - span.start).toBeLessThan(SHOWN / 2);
      for (let n = span.start; n < span.end; n++) seen.add(n);
      before = span;
      place = earlierThan(entries, span);
    }
    expect(before.start).toBe(0);
    expect(seen.size).toBe(2_000);
    for (place = laterThan(entries, before); place.upTo !== null; place = laterThan(entries, spanOf(entries, place)))
      expect(spanOf(entries, place).end).toBeGreaterThan(before.end);
  });

  test('what came before, and what comes now, changes nothing of what is read', () => {
    const place = earlierThan(list(1_000), spanOf(list(1_000), NEWEST)) ?? NEWEST;
    const { start, end } = spanOf(list(1_000), place);
    expect(spanOf(list(1_300, -300), place)).toEqual({ start: start + 300, end: end + 300 });
    expect(spanOf(list(1_300), place)).toEqual({ start, end });
  });

  test('who reads above the end keeps the first line while others come, up to twice as many', () => {
    expect(spanOf(list(300), NEWEST, 20)).toEqual({ start: 20, end: 300 });
    expect(spanOf(list(2_000), NEWEST, 20)).toEqual({ start: 2_000 - 2 * SHOWN, end: 2_000 });
  });

  test('one in the middle is shown, and after the end comes nothing', () => {
    const entries = list(1_000);
    for (const index of [0, 300, 990]) {
      const { start, end } = spanOf(entries, around(entries, index));
      expect(index >= start && index < end).toBe(true);
    }
    expect(laterThan(entries, { start: 700, end: 940 })).toEqual(NEWEST);
  });
});
