import { expect, test } from 'vitest';

import { proves } from '../verifies.ts';
import { fuzz } from './fuzz.ts';

/** The seed is always the same, unless FUZZ_SEED sets another seed. `node e2e/gateway/fuzz.ts` runs for a given time. */
const SEED = Number(process.env['FUZZ_SEED'] ?? 1);

test('damaged frames cause no crash, no hang and no changed bytes', () => {
  proves('gateway:fuzz');
  const { frames, longestMs } = fuzz({ rounds: 1_000 }, SEED);
  expect(frames).toBeGreaterThan(1_000);
  expect(longestMs).toBeLessThan(1_000);
});
