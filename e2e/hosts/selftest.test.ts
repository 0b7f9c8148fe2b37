import { expect, test } from 'vitest';
import { selfTest } from './selftest.ts';

test.for(['claude', 'codex'] as const)('the harness drives %s and reads its requests', async (client) => {
  expect((await selfTest(client)).problems).toEqual([]);
});
