import { expect, test } from 'vitest';

import { proves } from '../verifies.ts';
import { fuzz } from './fuzz.ts';

/** Always the same ones; `node e2e/gateway/fuzz.ts` goes on with others for as long as it is told. */
const SEED = Number(process.env['FUZZ_SEED'] ?? 1);

test('damaged frames: no crash, no hang, no other bytes', () => {
  proves('gateway:fuzz');
  const { frames, longestMs } = fuzz({ rounds: 1_000 }, SEED);
  expect(frames).toBeGreaterThan(1_000);
  expect(longestMs).toBeLessThan(1_000);
});
