import { describe, expect, it } from 'vitest';
import { proves } from '../../../e2e/verifies.ts';
import { OpenProblems } from './rounds.ts';

const LOADING = [
  '    at Module._compile (node:internal/modules/cjs/loader:1929:14)',
  '    at Module.load (node:internal/modules/cjs/loader:1651:32)',
];
const WATCHING = 'ℹ [mocha] waiting for changes...';
const WATCHES = '    at rerun (/shop/node_modules/mocha/lib/cli/watch-run.cjs:604:5)';

/** Returns the messages of the problems that are open after these lines. `undefined` is a silence. */
function messages(...lines: readonly (string | undefined)[]): readonly string[] {
  const problems = new OpenProblems();
  for (const line of lines) {
    if (line === undefined) problems.silent();
    else problems.read(line);
  }
  return [...problems.open().values()].map(({ problem }) => problem.message);
}

describe('the problems of mocha --watch', () => {
  proves('follow:problems');

  it('are only the last error of a file that mocha --watch cannot load, and the failed tests before', () => {
    const failing = [
      '',
      '  1 passing (3ms)',
      '  1 failing',
      '',
      '  1) adds:',
      '     Error: no',
      '      at a.js:3:27',
      '',
      WATCHING,
    ];
    const thrown = (message: string): readonly (string | undefined)[] => [
      `Error: ${message}`,
      '    at Object.<anonymous> (/shop/a.test.js:4:7)',
      ...LOADING,
    ];
    const wrong = ['/shop/a.test.js:4', 'const x = ;', '          ^', '', "SyntaxError: Unexpected token ';'", ...LOADING];
    const before = [...failing, undefined];
    const syntax = "SyntaxError: Unexpected token ';'";
    expect(messages(...before, ...thrown('one'), undefined)).toEqual(['Error: no', 'Error: one']);
    expect(messages(...before, ...thrown('one'), undefined, ...thrown('two'), undefined)).toEqual(['Error: no', 'Error: two']);
    // The next run begins before the program has been silent.
    expect(messages(...before, ...thrown('one'), ...thrown('two'), undefined)).toEqual(['Error: no', 'Error: two']);
    expect(messages(...before, ...thrown('one'), undefined, ...wrong, undefined)).toEqual(['Error: no', syntax]);
    expect(messages(...before, ...wrong, ...thrown('two'), undefined)).toEqual(['Error: no', 'Error: two']);
    expect(messages(...before, ...wrong, undefined, ...failing, undefined)).toEqual(['Error: no']);
    // A busy machine may print the stack in two parts.
    expect(messages(...before, ...thrown('one').toSpliced(3, 0, undefined), undefined)).toEqual(['Error: no', 'Error: one']);
    // Mocha could not load the file when the program started.
    expect(messages(...wrong, WATCHES, undefined, ...thrown('two'), WATCHES, undefined)).toEqual(['Error: two']);
    // Without mocha, several programs may have such errors.
    expect(messages(...thrown('one'), undefined, ...thrown('two'), undefined)).toEqual(['Error: one', 'Error: two']);
  });

  it('stay open if mocha runs no test', () => {
    const failing = [
      '',
      '  0 passing (3ms)',
      '  1 failing',
      '',
      '  1) adds:',
      '     Error: no',
      '      at a.js:3:27',
      '',
      WATCHING,
    ];
    const first = [...failing, undefined];
    expect(messages(...first)).toEqual(['Error: no']);
    expect(messages(...first, '', '  0 passing (1ms)', '', WATCHING, undefined)).toEqual(['Error: no']);
    expect(messages(...first, WATCHING, '', '  0 passing (1ms)', '', undefined)).toEqual(['Error: no']);
    expect(messages(...first, '', '  0 passing (1ms)', '  1 pending', '', WATCHING, undefined)).toEqual([]);
    expect(messages(...first, '', '  1 passing (1ms)', '', WATCHING, undefined)).toEqual([]);
    expect(messages(...first, ...failing, undefined)).toEqual(['Error: no']);
  });
});
