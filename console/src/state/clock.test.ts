import { describe, expect, test } from 'vitest';
import { ago, day, exact, lasting, localTimes, minuteTime, span, whenSays } from './clock.ts';

const S = 1_000;
const MIN = 60 * S;
const H = 60 * MIN;

describe('how long', () => {
  test.each([
    [0, '0 ms'],
    [4, '4 ms'],
    [99, '99 ms'],
    [270, '0.2 s'],
    [9_940, '9.9 s'],
    [9_960, '9.9 s'],
    [12_400, '12 s'],
    [89_999, '89 s'],
    [3 * MIN, '3 min'],
    [3 * H, '3 h'],
    [5 * 24 * H, '5 d'],
    [-5, '0 ms'],
  ])('%i ms is %s', (ms, says) => {
    expect(span(ms)).toBe(says);
  });

  test('a running time shows whole seconds, and never more than have passed', () => {
    expect([0, 900, 1_000, 5_900, 89_999].map(lasting)).toEqual(['0 s', '0 s', '1 s', '5 s', '89 s']);
    expect(lasting(10 * MIN)).toBe('10 min');
  });

  test('a time a moment ago, or slightly in the future, is shown as just now', () => {
    const now = Date.UTC(2026, 10, 22, 12);
    expect([now + 3 * S, now, now - 4 * S].map((at) => ago(at, now))).toEqual(['just now', 'just now', 'just now']);
    expect(ago(now - 5 * S, now)).toBe('5 s ago');
    expect(ago(now - 3 * H, now)).toBe('3 h ago');
  });
});

test('a time on another day is shown with its day', () => {
  const noon = new Date(2026, 10, 22, 12).getTime();
  expect(whenSays(noon + H, noon)).toBe(minuteTime(noon + H));
  expect(whenSays(noon + 20 * H, noon)).toBe(`${day(noon + 20 * H)}, ${minuteTime(noon + 20 * H)}`);
});

test('a time of the log in a text is shown as a local time', () => {
  const at = Date.UTC(2026, 10, 28, 17, 45, 39, 176);
  expect(localTimes('waits until 2026-11-28T17:45:39.176Z')).toBe(`waits until ${exact(at)}`);
  expect(localTimes('the branch 2026-11-28 is behind')).toBe('the branch 2026-11-28 is behind');
});
