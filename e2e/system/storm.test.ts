/** Tests a storm of 20 s with the windows of `npm run faults -- system --small`. */
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { rulesBroken } from './command.ts';
import { storm } from './storm.ts';
import { proves } from '../verifies.ts';

it('every rule holds while hosts, gateways, the server and commands are killed for 20 s', { timeout: 300_000 }, async () => {
  proves('faults:system');
  const seed = process.env['EARPIECE_STORM_SEED'] ?? String(Date.now() % 1_000_000);
  const { verdict, folder, remove } = await storm({
    seed,
    seconds: 20,
    entry: join(import.meta.dirname, '../../src/cli/main.ts'),
    small: true,
  });
  const problems = Object.entries(verdict.problems).flatMap(([rule, each]) => each.map((problem) => `${rule}: ${problem}`));
  expect(problems, `seed ${seed}, the taps are in ${folder}`).toEqual([]);
  expect(rulesBroken(verdict)).toEqual([]);
  // The storm was long enough for a verdict.
  expect(Object.values(verdict.kills).reduce((sum, kills) => sum + kills, 0)).toBeGreaterThanOrEqual(5);
  expect(verdict.counts.acknowledged).toBeGreaterThanOrEqual(5);
  expect(verdict.counts.calls).toBeGreaterThanOrEqual(20);
  // Each window starts with some actions. A kill may end one window before its actions are complete.
  const { crossed, cancelledLate, outlived, hungUp, deaf, maybeSeen, paused, replaced, structured } = verdict.reached;
  const moments = { cancelled: crossed + cancelledLate, outlived, hungUp, deaf, maybeSeen, paused, replaced, structured };
  const missed = Object.entries(moments).flatMap(([moment, times]) => (times === 0 ? [moment] : []));
  expect(missed.length, `not reached with seed ${seed}: ${missed.join(', ')}`).toBeLessThanOrEqual(4);
  remove();
});
