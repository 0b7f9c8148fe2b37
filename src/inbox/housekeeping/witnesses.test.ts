import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { Json } from '../../core/json.ts';
import type { Store } from '../../core/ports.ts';
import { proves } from '../../../e2e/verifies.ts';
import { Witnesses } from './witnesses.ts';

const YEAR_MS = 365 * 86_400_000;
const MINUTE_MS = 60_000;

/** The settings that all machines share. */
let clocks: Json | undefined;

/** Makes a process on a separate machine, which no other process can check. */
function machine(name: string, ahead: number | (() => number) = 0): Witnesses {
  const store = {
    private: false,
    now: () => Date.now() + (typeof ahead === 'number' ? ahead : ahead()),
    setting: () => Promise.resolve(clocks),
    swapSetting: (_key: string, _from: Json | undefined, to: Json | undefined) => Promise.resolve(((clocks = to), true)),
  };
  const owner = { machine: name, pid: 7, startedAt: '1' };
  return new Witnesses({ store: store as unknown as Store, owner, isAlive: () => undefined });
}

const passes = async (ms: number, ...noting: readonly Witnesses[]): Promise<void> => {
  for (let left = ms; left > 0; left -= MINUTE_MS) {
    await vi.advanceTimersByTimeAsync(MINUTE_MS);
    for (const each of noting) await each.note();
  }
};

beforeEach(() => {
  clocks = undefined;
  vi.useFakeTimers({ toFake: ['performance', 'setTimeout'] });
});
afterEach(() => vi.useRealTimers());

test('a process on another machine is a witness, so a fleet with one process on each machine closes expired notifications', async () => {
  proves('time:witness');
  const [a, b] = [machine('a'), machine('b')];
  await a.note();
  expect(await a.agree()).toBe(false);
  await b.note();
  await passes(MINUTE_MS);
  expect([await a.agree(), await b.agree(), await a.mayRemove()]).toEqual([true, true, true]);
  expect(await a.wrong()).toEqual([]);
});

test('a machine whose clock is a year ahead removes nothing while another machine disagrees', async () => {
  proves('time:witness');
  const [a, wrong] = [machine('a'), machine('b', YEAR_MS)];
  await a.note();
  await wrong.note();
  expect([await wrong.agree(), await wrong.mayRemove()]).toEqual([false, false]);
  await passes(20 * MINUTE_MS, wrong);
  expect(await wrong.mayRemove()).toBe(false);
});

test('a process on another machine that has ended is forgotten after half an hour', async () => {
  proves('time:witness');
  const [a, b] = [machine('a'), machine('b', -YEAR_MS)];
  await b.note();
  await a.note();
  expect(await a.mayRemove()).toBe(false);
  await passes(45 * MINUTE_MS, a);
  expect(Object.keys(clocks as object)).toEqual(['a 7 1']);
  expect(await a.mayRemove()).toBe(true);
});

test('a process compares the clocks again as soon as its own clock has jumped', async () => {
  proves('time:witness');
  let ahead = 0;
  const [a, jumping] = [machine('a'), machine('b', () => ahead)];
  await a.note();
  await jumping.note();
  expect(await jumping.agree()).toBe(true);
  ahead = YEAR_MS;
  expect(await jumping.agree()).toBe(false);
});
