import { expect, test } from 'vitest';

import { proves } from '../verifies.ts';
import { fuzz } from './fuzz.ts';

test('three seconds of damaged frames: no crash, no hang, no other bytes', () => {
  proves('gateway:fuzz');
  const seed = Math.floor(Math.random() * 1_000_000);
  const { rounds, longestMs } = fuzz(3_000, seed);
  expect(rounds, `seed ${seed}`).toBeGreaterThan(100);
  expect(longestMs).toBeLessThan(1_000);
});
