import { expect, test } from 'vitest';
import { minuteTime } from './clock.ts';
import { spanSays, timesIn, typedOf } from './times.ts';

const NEVER = { from: null, until: null };
const local = (text: string): number => new Date(text).getTime();

test('a search from a shown minute to the same minute finds that minute', () => {
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
])('a period of %s is read back from the fields unchanged', (_, from, until, fromField, untilField) => {
  const typed = typedOf({ from, until });
  expect(typed).toEqual({ from: fromField, until: untilField });
  expect(timesIn(typed, NEVER)).toEqual({ from, until });
  expect(timesIn(typed, { from, until })).toEqual({ from, until });
});

test('the description of a period has the precision of the fields, and names a day other than today', () => {
  const [from, until] = [local('2026-11-22T10:30'), local('2026-11-22T10:45')];
  expect(spanSays({ from, until }, local('2026-11-22T12:00'))).toBe('from 10:30 to 10:44');
  expect(spanSays({ from, until: null }, local('2026-11-23T12:00'))).toBe('since 22 Nov 2026, 10:30');
  expect(spanSays({ from: null, until: local('2026-11-22T10:45:30') }, local('2026-11-22T12:00'))).toBe('until 10:45:29');
  expect(spanSays(NEVER, 0)).toBe('at any time');
});
