import { describe, expect, it } from 'vitest';
import { proves } from '../../../e2e/verifies.ts';
import { OpenProblems, type Surroundings } from './rounds.ts';

const failed = (file: string): readonly string[] => [
  ` FAIL  ${file} > rounds`,
  'AssertionError: expected 3 to be 4',
  ` ❯ ${file}:3:17`,
  '⎯⎯⎯⎯⎯⎯[1/2]⎯',
];

/** A run of vitest with the reporter `dot`, which names only the files that fail. */
const dots = (rerun: string, files: readonly string[], count: number): readonly (string | undefined)[] => [
  ` RERUN  ${rerun} `,
  '',
  'x·',
  '',
  ` Test Files  ${count > 0 ? `${count} failed` : '1 passed'} (3)`,
  ' FAIL  Tests failed. Watching for file changes...',
  ...(files.length > 0 ? [`⎯⎯⎯⎯⎯⎯⎯ Failed Tests ${files.length} ⎯⎯⎯⎯⎯⎯⎯`] : []),
  ...files.flatMap(failed),
  undefined,
];

const [cart, price] = ['cart.test.ts', 'price.test.ts'];
/** A first run, in which two files fail. */
const two = [
  '⎯⎯⎯⎯⎯⎯⎯ Failed Tests 2 ⎯⎯⎯⎯⎯⎯⎯',
  ...failed(cart),
  ...failed(price),
  ' Test Files  2 failed | 1 passed (3)',
  undefined,
];

/** Reads these lines. `undefined` is a silence. */
function read(problems: OpenProblems, ...lines: readonly (string | undefined)[]): void {
  for (const line of lines) {
    if (line === undefined) problems.silent();
    else problems.read(line);
  }
}

const filesIn = (problems: OpenProblems): readonly (string | undefined)[] =>
  [...problems.open().values()].map(({ problem }) => problem.file);

/** Returns the files of the problems that are open after these lines. */
function open(around: Surroundings, ...lines: readonly (string | undefined)[]): readonly (string | undefined)[] {
  const problems = new OpenProblems(undefined, around);
  read(problems, ...lines);
  return filesIn(problems);
}

describe('the problems of a test runner that does not name the files that pass', () => {
  proves('follow:problems');

  it('stay open if a round of the reporter dot of vitest repeats only another file', () => {
    expect(open({}, ...two, ...dots('till.test.ts x1', [], 2))).toEqual([cart, price]);
    expect(open({}, ...two, ...dots('till.test.ts x1', ['till.test.ts'], 3))).toEqual([cart, price, 'till.test.ts']);
    expect(open({}, ...two, ...dots('cart.test.ts x1', [cart], 2))).toEqual([price, cart]);
    expect(open({}, ...two, ...dots('cart.test.ts x1', [], 1))).toEqual([price]);
    expect(open({}, ...two, ...dots('cart.test.ts x1', [], 1), ...dots('price.test.ts x1', [], 0))).toEqual([]);
    expect(open({}, ...two, ...dots('till.test.ts', [], 2), ...dots('cart.test.ts', [], 1))).toEqual([price]);
  });

  it('end if the reporter dot of vitest runs their file after a change of another file', () => {
    type Sources = Readonly<Record<string, string>>;
    /** Returns the files with problems after a change of `lib/sum.ts`, and perhaps of other files. */
    const openAfter = (count: number, sources: Sources, ...changed: readonly string[]): readonly (string | undefined)[] => {
      let now = '1';
      const problems = new OpenProblems(undefined, {
        stampOf: (file) => (changed.includes(file) ? now : '1'),
        sourceOf: (file) => sources[file]?.split('\n'),
      });
      read(problems, ...two);
      now = '2';
      read(problems, ...dots('lib/sum.ts', [], count));
      return filesIn(problems);
    };
    expect(openAfter(0, {})).toEqual([]);
    // One of two files is fixed: the file that imports the changed file, or the file that has changed itself.
    expect(openAfter(1, { 'cart.test.ts': "import { sum } from './lib/sum';" })).toEqual([price]);
    expect(openAfter(1, { 'price.test.ts': "const { sum } = require('./lib/sum.js');" })).toEqual([cart]);
    expect(openAfter(1, {}, 'price.test.ts')).toEqual([cart]);
    // Earpiece does not know which of the files is fixed.
    expect(openAfter(1, {})).toEqual([cart, price]);
    expect(openAfter(1, { 'cart.test.ts': "import type { Sum } from './lib/sum';" })).toEqual([cart, price]);
    expect(openAfter(1, {}, 'price.test.ts', 'cart.test.ts')).toEqual([cart, price]);
  });

  it('stay open if no test has caught them, until their file runs again', () => {
    const thrown = [
      '⎯⎯⎯⎯ Unhandled Rejection ⎯⎯⎯⎯⎯',
      'TypeError: no address',
      ' ❯ send.ts:3:17',
      'This error originated in "cart.test.ts" test file. It doesn\'t mean the error was thrown inside the file itself.',
      undefined,
    ];
    expect(open({ stampOf: () => '1' }, ...thrown, ...dots('price.test.ts x1', [], 0))).toEqual(['send.ts']);
    expect(open({ stampOf: () => '1' }, ...thrown, ...dots('cart.test.ts x1', [], 0))).toEqual([]);
  });
});
