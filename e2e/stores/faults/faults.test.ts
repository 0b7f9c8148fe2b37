import { expect, it } from 'vitest';
import { FAULT_POINTS } from '../../../src/core/faults.ts';
import type { Bug, Point } from './roles.ts';
import { run } from './run.ts';
import { proves } from '../../verifies.ts';

it('100 kills at random moments: nothing lost, nothing twice', async () => {
  proves('faults:random', 'store:kill-9');
  const { random, counts, problems } = await run({ rounds: 100, pointsEach: 0 });
  expect(problems).toEqual([]);
  expect(random).toBe(100);
  expect(counts).toMatchObject({ lost: 0, twice: 0, stuck: 0 });
  expect(counts.acknowledged).toBeGreaterThan(100);
}, 240_000);

it('a death at each named point: nothing lost, nothing twice', async () => {
  proves('faults:points', 'store:kill-9');
  const { points, counts, problems } = await run({ rounds: 0, pointsEach: 1 });
  expect(problems).toEqual([]);
  expect(Object.keys(points).sort()).toEqual([...FAULT_POINTS].sort());
  expect(Object.values(points).every((times) => times >= 1)).toBe(true);
  expect(counts).toMatchObject({ lost: 0, twice: 0, stuck: 0 });
}, 240_000);

it('with a thread for each database: nothing lost, nothing twice', async () => {
  proves('faults:random', 'faults:points', 'store:thread');
  const { random, points, counts, problems } = await run({ rounds: 60, pointsEach: 1, thread: true });
  expect(problems).toEqual([]);
  expect(random).toBe(60);
  expect(Object.values(points).every((times) => times >= 1)).toBe(true);
  expect(counts).toMatchObject({ lost: 0, twice: 0, stuck: 0 });
}, 240_000);

it.each<[Bug, Point, RegExp]>([
  ['ack_before_commit', 'append.begun', /was acknowledged and is lost$/],
  ['close_without_condition', 'touch.committed', /was delivered \d+ times in our own transcript$/],
  ['forget_release', 'offer.appended', /the lease of a dead process was never released$/],
])(
  'the checker finds the fault put in on purpose: %s',
  async (bug, point, found) => {
    proves('faults:checker');
    // Two processes must collide by chance, so the test makes many tries.
    for (let left = 5; ; left--) {
      const { problems } = await run({ rounds: 8, pointsEach: 5, points: [point], bug });
      if (problems.some((problem) => found.test(problem))) return;
      if (left === 0) expect(problems).toContainEqual(expect.stringMatching(found));
    }
  },
  240_000,
);
