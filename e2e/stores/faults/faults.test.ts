import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { proves } from '../../verifies.ts';
import { FOUND } from './bugs-found.ts';
import type { Engine } from './engines/engine.ts';
import { startEngine } from './engines/index.ts';
import { BUGS, type Bug, type EngineName, ENGINES } from './roles.ts';
import { run } from './run.ts';
import { ENGINE_FAULTS, scheduleOf } from './schedule.ts';

const SEED = 'test';
/** Processes collide by chance, so a deliberate fault gets several schedules. */
const TRIES = 6;
const WAIT_MS = 240_000;
const NOTHING_WRONG = { lost: 0, twice: 0, unflagged: 0, stuck: 0, unread: 0 };

describe.each<EngineName>([...ENGINES])('%s', (name) => {
  let engine: Engine;
  beforeAll(async () => {
    engine = await startEngine(name);
  }, WAIT_MS);
  afterAll(() => engine.close());

  it(
    'when clients die or the machine fails, nothing acknowledged is lost, and nothing is shown again without a flag',
    async () => {
      proves('faults:points', 'faults:random', 'faults:schedules', 'store:kill-9');
      const { happened, counts, problems } = await run(engine, { engine: name, seed: SEED, numbers: [0, 1, 2] });
      expect(problems).toEqual([]);
      expect(counts).toMatchObject(NOTHING_WRONG);
      expect(counts.acknowledged).toBeGreaterThan(30);
      expect(happened['kill']).toBeGreaterThan(6);
    },
    WAIT_MS,
  );

  it.each(Object.keys(BUGS) as Bug[])(
    'the checker finds a deliberate fault: %s',
    async (bug) => {
      proves('faults:checker');
      for (let number = 0; ; number++) {
        const { problems } = await run(engine, { engine: name, seed: SEED, numbers: [number], bug });
        if (problems.some((problem) => FOUND[bug].test(problem))) return;
        if (number === TRIES) expect(problems).toContainEqual(expect.stringMatching(FOUND[bug]));
      }
    },
    WAIT_MS,
  );
});

it('a seed gives the same schedules again, and two hundred schedules contain every fault of each engine', () => {
  for (const engine of ENGINES) {
    const all = Array.from({ length: 200 }, (_, number) => scheduleOf(number, { engine, seed: SEED }));
    expect(all).toEqual(Array.from({ length: 200 }, (_, number) => scheduleOf(number, { engine, seed: SEED })));
    const kinds = new Set<string>(all.flatMap(({ actions }) => actions.map(({ kind }) => kind)));
    expect([...kinds].toSorted()).toEqual([...ENGINE_FAULTS[engine], 'clock', 'pause'].toSorted());
  }
});

it(
  'with a thread for each database, nothing is lost and nothing is shown twice',
  async () => {
    proves('faults:random', 'faults:points', 'store:thread');
    const engine = await startEngine('sqlite');
    try {
      const { counts, problems } = await run(engine, { engine: 'sqlite', seed: SEED, numbers: [0, 1], thread: true });
      expect(problems).toEqual([]);
      expect(counts).toMatchObject(NOTHING_WRONG);
    } finally {
      await engine.close();
    }
  },
  WAIT_MS,
);
