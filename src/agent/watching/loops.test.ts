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
  ['three of the same', [[search], [search], [search]], [3]],
  ['once a turn', [[search], [search], [search], [search], [search]], [3]],
  ['twice is none', [[search], [search], [other(1)]], []],
  ['three of the last six', [[search], [other(1)], [other(2)], [search], [other(3)], [search]], [6]],
  ['not three of seven', [[search], [other(1)], [other(2)], [other(3)], [search], [other(4)], [search]], []],
  ['by what it is about, not by the rest', [1, 2, 3].map((page) => [call('search', { query: 'x', page })]), [3]],
  ['without that by all arguments', [1, 2, 3].map((n) => [call('echo', { n })]), []],
  ['all arguments in any order', [[call('e', { a: 1, b: 2 })], [call('e', { b: 2, a: 1 })], [call('e', { a: 1, b: 2 })]], [3]],
  [
    'whatever the order in the batch',
    [
      [search, other(1)],
      [other(1), search],
      [search, other(1)],
    ],
    [3],
  ],
  ['50 characters of an argument', ['a', 'b', 'c'].map((end) => [call('run', { command: `${'x'.repeat(60)}${end}` })]), [3]],
  ['arguments that are no object', [[call('e', 'x')], [call('e', 'x')], [call('e', 'x')]], [3]],
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
