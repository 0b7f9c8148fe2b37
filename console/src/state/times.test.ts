import { expect, test } from 'vitest';
import { minuteTime } from './clock.ts';
import { spanSays, timesIn, typedOf } from './times.ts';

const NEVER = { from: null, until: null };
const local = (text: string): number => new Date(text).getTime();

test('a minute that the page shows is inside of a search from it to it', () => {
  const written = local('2026-11-22T10:32:40.123');
  const shown = `2026-11-22T${minuteTime(written)}`;
  const { from, until } = timesIn({ from: shown, until: shown }, NEVER);
  expect(from).toBeLessThanOrEqual(written);
  expect(until).toBeGreaterThan(written);
  expect((until ?? 0) - (from ?? 0)).toBe(60_000);
});

test.each([
  ['whole minutes', local('2026-11-22T10:30'), local('2026-11-22T10:45'), '2026-11-22T10:30', '2026-11-22T10:44'],
  ['seconds', local('2026-11-22T10:30:15'), local('2026-11-22T10:45:30'), '2026-11-22T10:30:15', '2026-11-22T10:45:29'],
  [
    'milliseconds',
    local('2026-11-22T10:30:15.250'),
    local('2026-11-22T10:45:30.5'),
    '2026-11-22T10:30:15.250',
    '2026-11-22T10:45:30.499',
  ],
])('a span of %s comes back from the fields as it was', (_, from, until, fromField, untilField) => {
  const typed = typedOf({ from, until });
  expect(typed).toEqual({ from: fromField, until: untilField });
  expect(timesIn(typed, NEVER)).toEqual({ from, until });
  expect(timesIn(typed, { from, until })).toEqual({ from, until });
});

test('the words have the precision of the fields, and name a day that is not today', () => {
  const [from, until] = [local('2026-11-22T10:30'), local('2026-11-22T10:45')];
  expect(spanSays({ from, until }, local('2026-11-22T12:00'))).toBe('from 10:30 to 10:44');
  expect(spanSays({ from, until: null }, local('2026-11-23T12:00'))).toBe('since 22 Nov 2026, 10:30');
  expect(spanSays({ from: null, until: local('2026-11-22T10:45:30') }, local('2026-11-22T12:00'))).toBe('until 10:45:29');
  expect(spanSays(NEVER, 0)).toBe('at any time');
});
