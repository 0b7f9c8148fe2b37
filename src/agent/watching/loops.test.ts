import { expect, it } from 'vitest';
import { proves } from '../../../e2e/verifies.ts';
import type { Json } from '../../core/json.ts';
import { Loops, type Called } from './loops.ts';

const call = (name: string, args: Json = {}): Called => ({ name, args });
const search = call('search', { query: 'x', page: 1 });
const other = (n: number): Called => call('read_file', { path: `${n}.ts` });

/** Returns the numbers of the batches after which a loop is emitted. */
function told(batches: readonly (readonly Called[])[]): number[] {
  const loops = new Loops();
  return batches.flatMap((calls, i) => (loops.batch(calls, i * 1_000).length > 0 ? [i + 1] : []));
}

proves('sources:loops');

it.each<[string, readonly (readonly Called[])[], number[]]>([
  ['three equal batches are a loop', [[search], [search], [search]], [3]],
  ['a loop is reported once per turn', [[search], [search], [search], [search], [search]], [3]],
  ['two equal batches are no loop', [[search], [search], [other(1)]], []],
  ['three equal batches among the last six are a loop', [[search], [other(1)], [other(2)], [search], [other(3)], [search]], [6]],
  [
    'three equal batches among seven are no loop',
    [[search], [other(1)], [other(2)], [other(3)], [search], [other(4)], [search]],
    [],
  ],
  [
    'calls with the same query and different pages are equal',
    [1, 2, 3].map((page) => [call('search', { query: 'x', page })]),
    [3],
  ],
  ['calls without an identifying argument are compared by all arguments', [1, 2, 3].map((n) => [call('echo', { n })]), []],
  [
    'the order of the arguments does not matter',
    [[call('e', { a: 1, b: 2 })], [call('e', { b: 2, a: 1 })], [call('e', { a: 1, b: 2 })]],
    [3],
  ],
  [
    'the order of the calls in a batch does not matter',
    [
      [search, other(1)],
      [other(1), search],
      [search, other(1)],
    ],
    [3],
  ],
  [
    'only the first 50 characters of an argument are compared',
    ['a', 'b', 'c'].map((end) => [call('run', { command: `${'x'.repeat(60)}${end}` })]),
    [3],
  ],
  ['arguments that are not an object are compared too', [[call('e', 'x')], [call('e', 'x')], [call('e', 'x')]], [3]],
])('%s', (_what, batches, expected) => {
  expect(told(batches)).toEqual(expected);
});

it('the event of a loop has the call, the number of repetitions and the time', () => {
  const loops = new Loops();
  const batches = [0, 1_500, 4_000].map((now) => loops.batch([search], now));
  expect(batches.at(-1)).toEqual([
    {
      type: 'agent.loop.detected',
      severity: 'warning',
      message: 'The same call was made 3 times in the last 3 steps, within 4 s: search(query: x)',
      data: expect.objectContaining({ pattern: 'search(query: x)', repetitions: 3, count: 3, window_seconds: 4 }) as object,
    },
  ]);
  loops.begin();
  expect(loops.batch([search], 5_000)).toEqual([]);
});
