import { expect, it } from 'vitest';
import { Buckets } from './limits.ts';

it('each caller may send a burst of requests, and then requests at the rate of the bucket', () => {
  let now = 0;
  const buckets = new Buckets({ perSecond: 2, burst: 3 }, () => now);
  const take = (who: string, n: number): (number | undefined)[] => Array.from({ length: n }, () => buckets.take(who));
  expect(take('a', 5)).toEqual([undefined, undefined, undefined, 1, 1]);
  expect(take('b', 1)).toEqual([undefined]);
  now += 1_000;
  expect(take('a', 3)).toEqual([undefined, undefined, 1]);
  now += 3_600_000;
  expect(take('a', 4)).toEqual([undefined, undefined, undefined, 1]);
});

it('a refused request gets the time to wait', () => {
  const buckets = new Buckets({ perSecond: 0.2, burst: 1 }, () => 0);
  expect([buckets.take('a'), buckets.take('a')]).toEqual([undefined, 5]);
});

it('the limiter remembers a limited number of callers', () => {
  let now = 0;
  const buckets = new Buckets({ perSecond: 1, burst: 2 }, () => now);
  for (let i = 0; i < 50_000; i++) {
    now++;
    buckets.take(`10.0.${i >> 8}.${i & 255}`);
  }
  expect(buckets.size).toBeLessThanOrEqual(10_000);
});
