import { describe, expect, test } from 'vitest';
import { around, earlierThan, laterThan, NEWEST, SHOWN, spanOf, type Place } from './window.ts';

/** Makes entries. Some records make two entries. */
const list = (length: number, first = 0): { seq: number }[] =>
  Array.from({ length }, (_, n) => ({ seq: first + n - (n % 7 === 1 ? 1 : 0) }));

describe('the shown part of a timeline', () => {
  test('is the whole of a short timeline, and the end of a long timeline', () => {
    expect(spanOf(list(10), NEWEST)).toEqual({ start: 0, end: 10 });
    expect(spanOf([], NEWEST)).toEqual({ start: 0, end: 0 });
    expect(spanOf(list(1_000), NEWEST)).toEqual({ start: 1_000 - SHOWN, end: 1_000 });
  });

  test('moves back to the first entry and forward to the newest without leaving an entry out', () => {
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

  test('does not change for a reader when older or newer entries are loaded', () => {
    const place = earlierThan(list(1_000), spanOf(list(1_000), NEWEST)) ?? NEWEST;
    const { start, end } = spanOf(list(1_000), place);
    expect(spanOf(list(1_300, -300), place)).toEqual({ start: start + 300, end: end + 300 });
    expect(spanOf(list(1_300), place)).toEqual({ start, end });
  });

  test('keeps its first line for a reader above the end while lines are added, until it has doubled', () => {
    expect(spanOf(list(300), NEWEST, 20)).toEqual({ start: 20, end: 300 });
    expect(spanOf(list(2_000), NEWEST, 20)).toEqual({ start: 2_000 - 2 * SHOWN, end: 2_000 });
  });

  test('can begin at an entry in the middle, and never exceeds the end', () => {
    const entries = list(1_000);
    for (const index of [0, 300, 990]) {
      const { start, end } = spanOf(entries, around(entries, index));
      expect(index >= start && index < end).toBe(true);
    }
    expect(laterThan(entries, { start: 700, end: 940 })).toEqual(NEWEST);
  });
});
