import { describe, expect, it } from 'vitest';
import { proves } from '../../../e2e/verifies.ts';
import { sayProblem } from './problem.ts';
import { problemsIn, ProblemReader } from './reader.ts';

const said = (...lines: readonly string[]): readonly string[] =>
  problemsIn(lines).map((problem) => `${problem.tool}${problem.severity === 'warning' ? '?' : ''}: ${sayProblem(problem)}`);

describe('problem matchers', () => {
  proves('follow:problems');

  it.each<[string, readonly string[], readonly string[]]>([
    [
      'tsc in a pipe',
      [
        "src/a.ts(1,7): error TS2322: Type 'string' is not assignable to type 'number'.",
        'src/b.ts(2,1): error TS1005: expected.',
      ],
      ["tsc: TS2322: Type 'string' is not assignable to type 'number'. (src/a.ts:1:7)", 'tsc: TS1005: expected. (src/b.ts:2:1)'],
    ],
    [
      'tsc, file names with parentheses',
      [
        'src/ü [id] (x).ts(1,7): error TS2322: no (1,2): x.',
        'app/(shop)/a.ts(2,1): error TS1005: no.',
        'a (see b.ts): error TS1: no',
      ],
      ['tsc: TS2322: no (1,2): x. (src/ü [id] (x).ts:1:7)', 'tsc: TS1005: no. (app/(shop)/a.ts:2:1)'],
    ],
    [
      'jest in a terminal, a file that cannot be loaded',
      [
        ' FAIL  ./a.test.js',
        '',
        ' RUNS  ./a.test.js',
        '',
        '  ● Test suite failed to run',
        '',
        '    top 1',
        '',
        '      at Object.<anonymous> (a.test.js:1:7)',
      ],
      ['jest: Test suite failed to run: top 1 (a.test.js:1:7)'],
    ],
    [
      'node, a missing file, and a rejected promise in a test file',
      [
        "Error [ERR_MODULE_NOT_FOUND]: Cannot find module '/shop/x.mjs' imported from /shop/a.test.mjs",
        '    at finalizeResolution (node:internal/modules/esm/resolve:272:11)',
        '    at moduleResolve (node:internal/modules/esm/resolve:879:10)',
        '# Error: A resource generated asynchronous activity after the test ended. This activity created the error "Error: late "x"" which triggered an unhandledRejection event, caught by the test runner.',
      ],
      [
        "node: Error [ERR_MODULE_NOT_FOUND]: Cannot find module '/shop/x.mjs' imported from /shop/a.test.mjs",
        'node: Error: late "x"',
      ],
    ],
    [
      'ts-loader, file names with parentheses',
      ['[tsl] ERROR in /shop/app/(shop)/a (1).ts(2,7)', '      TS2322: no.'],
      ['webpack: TS2322: no. (/shop/app/(shop)/a (1).ts:2:7)'],
    ],
    [
      'tsc in a terminal',
      ["src/a.ts:1:7 - error TS2322: Type 'string' is not assignable.", '', '1 const a: number = "x";', '        ~'],
      ["tsc: TS2322: Type 'string' is not assignable. (src/a.ts:1:7)"],
    ],
    [
      'eslint',
      [
        '/shop/src/cart.ts',
        "  1:7   error    'rate' is assigned a value but never used  no-unused-vars",
        '  3:1   warning  Unexpected console statement               no-console',
        '',
        '/shop/src/till.ts',
        '  9:3   error    Missing return type  @typescript-eslint/explicit-function-return-type',
        '',
        '✖ 3 problems (2 errors, 1 warning)',
      ],
      [
        "eslint: no-unused-vars: 'rate' is assigned a value but never used (/shop/src/cart.ts:1:7)",
        'eslint?: no-console: Unexpected console statement (/shop/src/cart.ts:3:1)',
        'eslint: @typescript-eslint/explicit-function-return-type: Missing return type (/shop/src/till.ts:9:3)',
      ],
    ],
    [
      'vite',
      [
        '10:32:01 AM [vite] Internal server error: Failed to resolve import "./x" from "src/a.ts". Does the file exist?',
        '  Plugin: vite:import-analysis',
        '  File: /shop/src/a.ts:1:15',
        '  1  |  import x from "./x"',
      ],
      ['vite: Failed to resolve import "./x" from "src/a.ts". Does the file exist? (/shop/src/a.ts:1:15)'],
    ],
    [
      'esbuild',
      ['✘ [ERROR] Expected ";" but found "x"', '', '    src/a.ts:3:4:', '      3 │ let a x'],
      ['esbuild: Expected ";" but found "x" (src/a.ts:3:4)'],
    ],
    [
      'next',
      [' ⨯ ./src/app/page.tsx:3:5', 'Parsing ecmascript source code failed'],
      ['next: Parsing ecmascript source code failed (./src/app/page.tsx:3:5)'],
    ],
    [
      'webpack',
      ['ERROR in ./src/a.ts 3:4-9', 'Module parse failed: Unexpected token (3:4)'],
      ['webpack: Module parse failed: Unexpected token (3:4) (./src/a.ts:3:4)'],
    ],
    [
      'vitest, two tests',
      [
        ' FAIL  cart.test.ts > rounds',
        'AssertionError: expected 3 to be 4 // Object.is equality',
        '',
        '- Expected',
        '+ Received',
        ' ❯ cart.test.ts:3:17',
        '      1| import',
        '',
        '⎯⎯⎯⎯⎯⎯[1/2]⎯',
        '',
        ' FAIL  cart.test.ts > sums > up',
        'TypeError: sum is not a function',
        ' ❯ cart.test.ts:9:3',
        ' Test Files  1 failed (1)',
      ],
      [
        'vitest: cart.test.ts > rounds: AssertionError: expected 3 to be 4 // Object.is equality (cart.test.ts:3:17)',
        'vitest: cart.test.ts > sums > up: TypeError: sum is not a function (cart.test.ts:9:3)',
      ],
    ],
    [
      'vitest, an error that two files share',
      [
        ' FAIL  cart.test.ts [ cart.test.ts ]',
        ' FAIL  unit price.test.ts [ price.test.ts ]',
        'TypeError: sum is not a function',
        ' ❯ sum.ts:9:3',
        ' FAIL  tax.test.ts > rounds',
        ' Test Files  3 failed (3)',
      ],
      [
        'vitest: cart.test.ts: TypeError: sum is not a function (sum.ts:9:3)',
        'vitest: unit price.test.ts: TypeError: sum is not a function (sum.ts:9:3)',
      ],
    ],
    [
      'vitest, names with brackets',
      [
        ' FAIL  cart.test.ts > sums [ all ]',
        'Error: no',
        '⎯⎯⎯⎯⎯⎯[1/3]⎯',
        ' FAIL  unit my shop/cart.test.ts [ packages/my shop/cart.test.ts ]',
        'Error: no',
        '⎯⎯⎯⎯⎯⎯[2/3]⎯',
        ' FAIL  unit cart.test.ts [ packages/unit/cart.test.ts ]',
        'Error: no',
        '⎯⎯⎯⎯⎯⎯[3/3]⎯',
      ],
      [
        'vitest: cart.test.ts > sums [ all ]: Error: no',
        'vitest: unit my shop/cart.test.ts: Error: no',
        'vitest: unit cart.test.ts: Error: no',
      ],
    ],
    [
      'jest',
      [
        '  ● cart › rounds',
        '',
        '    expect(received).toBe(expected) // Object.is equality',
        '',
        '    Expected: 4',
        '    Received: 3',
        '',
        "      2 | test('rounds', () => {",
        '      at Object.toBe (cart.test.js:3:17)',
      ],
      [
        'jest: cart › rounds: expect(received).toBe(expected) // Object.is equality; Expected: 4, Received: 3 (cart.test.js:3:17)',
      ],
    ],
    [
      'jest, a syntax error',
      [
        'FAIL ./cart.test.js',
        '  ● Test suite failed to run',
        '',
        '    Jest encountered an unexpected token',
        '',
        '    Jest failed to parse a file.',
        '',
        "    Here's what you can do:",
        '     • If you are trying to use TypeScript, see https://jestjs.io/docs/getting-started#using-typescript',
        ...Array.from({ length: 8 }, () => ''),
        '    Details:',
        '',
        '    SyntaxError: /shop/lib/price.js: Unexpected token (5:10)',
        '',
        '    > 5 | const x = ;',
        '',
        '      at constructor (node_modules/@babel/parser/src/parse-error.ts:96:45)',
        '      at Object.require (cart.test.js:1:11)',
        '',
      ],
      ['jest: Test suite failed to run: SyntaxError: Unexpected token (/shop/lib/price.js:5:10)'],
    ],
    [
      'jest, a syntax error that Node.js has found',
      [
        'FAIL ./cart.test.js',
        '  ● Test suite failed to run',
        '',
        '    Jest encountered an unexpected token',
        '',
        '    Details:',
        '',
        '    /shop/lib/price.mjs:3',
        '    ({"Object.<anonymous>":function(module,exports){export default 1;',
        '                                                    ^^^^^^',
        '',
        "    SyntaxError: Unexpected token 'export'",
        '',
        '      at Object.require (cart.test.js:1:11)',
      ],
      ["jest: Test suite failed to run: SyntaxError: Unexpected token 'export' (/shop/lib/price.mjs:3)"],
    ],
    [
      'mocha, an ES module',
      [
        '  1) rounds:',
        '     Error: no',
        '      at Context.<anonymous> (file:///shop/cart.test.mjs:3:8)',
        '  2) cart',
        '       adds:',
        '     Error: no sum',
        '      at add (file:///shop/node_modules/till/index.mjs:1:8)',
        '      at file:///shop/cart.mjs:5:9',
      ],
      ['mocha: rounds: Error: no (/shop/cart.test.mjs:3:8)', 'mocha: cart > adds: Error: no sum (/shop/cart.mjs:5:9)'],
    ],
    [
      'mocha, the last line of a list of tests',
      [
        '  2) cart adds',
        '',
        '  0 passing (9ms)',
        '  1) alone:',
        '     Error: no',
        '      at a.js:3:27',
        '  2) cart',
        '       adds:',
        '     Error: b',
      ],
      ['mocha: alone: Error: no (a.js:3:27)', 'mocha: cart > adds: Error: b'],
    ],
    [
      'node --test',
      ['✖ failing tests:', '', 'test at cart.test.js:3:1', '✖ rounds (1.2ms)', '  AssertionError [ERR_ASSERTION]: 3 !== 4'],
      ['node --test: rounds: AssertionError [ERR_ASSERTION]: 3 !== 4 (cart.test.js:3:1)'],
    ],
    [
      'TAP',
      [
        'not ok 1 - rounds',
        '  ---',
        '  duration_ms: 1.5',
        "  location: '/shop/cart.test.js:3:1'",
        "  failureType: 'x'",
        "  error: '3 !== 4'",
      ],
      ['node --test: rounds: 3 !== 4 (/shop/cart.test.js:3:1)'],
    ],
    [
      'TAP, a name with escapes',
      ['not ok 1 - a \\# b \\\\ c', '  ---', "  location: '/shop/cart.test.js:3:1'", "  error: '3 !== 4'"],
      ['node --test: a # b \\ c: 3 !== 4 (/shop/cart.test.js:3:1)'],
    ],
    ['go build', ['# shop', './main.go:3:5: undefined: x'], ['go: undefined: x (./main.go:3:5)']],
    [
      'go test',
      ['--- FAIL: TestRounds (0.00s)', '    cart_test.go:10: got 3, want 4', 'FAIL', 'FAIL\tshop\t0.003s'],
      ['go: TestRounds: got 3, want 4 (cart_test.go:10)'],
    ],
    [
      'go, a panic',
      ['panic: runtime error: index out of range [3]', '', 'goroutine 1 [running]:', 'main.main()', '\t/shop/main.go:7 +0x1d'],
      ['go: runtime error: index out of range [3] (/shop/main.go:7)'],
    ],
    [
      'cargo build',
      ['error[E0308]: mismatched types', '  --> src/main.rs:3:5', 'error: could not compile `shop` due to 1 previous error'],
      ['cargo: E0308: mismatched types (src/main.rs:3:5)'],
    ],
    [
      'cargo test',
      ["thread 'rounds' panicked at src/cart.rs:3:5:", 'assertion `left == right` failed', '  left: 3', ' right: 4'],
      ['cargo: rounds: assertion `left == right` failed; left: 3, right: 4 (src/cart.rs:3:5)'],
    ],
    ['pytest', ['FAILED test_cart.py::test_rounds - assert 3 == 4'], ['pytest: test_cart.py::test_rounds: assert 3 == 4']],
    [
      'python, a traceback',
      [
        'Traceback (most recent call last):',
        '  File "/shop/app.py", line 9, in <module>',
        '    main()',
        '  File "/shop/cart.py", line 3, in main',
        '    return int("x")',
        '           ^^^^^^^^',
        "ValueError: invalid literal for int() with base 10: 'x'",
      ],
      ["python: ValueError: invalid literal for int() with base 10: 'x' (/shop/cart.py:3)"],
    ],
    [
      'node',
      ['/shop/a.js:3', 'throw new TypeError("no");', '^', '', 'TypeError: no', '    at Object.<anonymous> (/shop/a.js:3:7)'],
      ['node: TypeError: no (/shop/a.js:3)'],
    ],
    [
      'node, a thrown text and an undefined',
      [
        'node:internal/modules/run_main:107',
        '    triggerUncaughtException(',
        '    ^',
        'no cart',
        '(Use `node --trace-uncaught ...` to show where the exception was thrown)',
        '',
        'Node.js v24.21.0',
        '/shop/b.cjs:1',
        'throw undefined',
        '^',
        'undefined',
        '(Use `node --trace-uncaught ...` to show where the exception was thrown)',
      ],
      [
        'node: no cart; Use `node --trace-uncaught ...` to show where the exception was thrown',
        'node: undefined; Use `node --trace-uncaught ...` to show where the exception was thrown (/shop/b.cjs:1)',
      ],
    ],
    [
      'node, a rejected text',
      [
        'node:internal/process/promises:392',
        '      new UnhandledPromiseRejection(reason);',
        '      ^',
        '',
        'UnhandledPromiseRejection: The promise rejected with the reason "no".',
        '    at throwUnhandledRejectionsMode (node:internal/process/promises:392:7)',
        '',
      ],
      ['node: UnhandledPromiseRejection: The promise rejected with the reason "no".'],
    ],
    ['node, from a handler', ['TypeError: no', '    at handle (/shop/a.js:3:7)'], ['node: TypeError: no (/shop/a.js:3:7)']],
    [
      'a C compiler',
      ['cart.c:3:5: error: expected ";"', 'cart.c:4:1: warning: unused'],
      ['cc: expected ";" (cart.c:3:5)', 'cc?: unused (cart.c:4:1)'],
    ],
    [
      'a C compiler, file names with spaces',
      [
        'In file included from b.c:1:',
        '/my shop/a (1).c:1:17: error: no x',
        '    1 | int main() { return x; }',
        '      |                     ^',
        'a b.c:2:3: warning: unused',
        '  int unused;',
        '      ^~~~~~',
      ],
      ['cc: no x (/my shop/a (1).c:1:17)', 'cc?: unused (a b.c:2:3)'],
    ],
    [
      'a program whose sentences resemble errors of a C compiler',
      ['I saw in b.c:1:17: error: no x', 'and fixed it.', 'Please read notes (1).txt:3:4: warning: old', '', '  - it is old'],
      [],
    ],
  ])('find exactly the problems in the output of %s', (_tool, lines, expected) => {
    expect(said(...lines)).toEqual(expected);
  });

  it('find no problem in an output without problems', () => {
    expect(
      said(
        '> shop@1.0.0 dev',
        'VITE v7.1.0  ready in 301 ms',
        '  ➜  Local:   http://localhost:5173/',
        'GET /error-page 200 in 12ms',
        'Found 0 errors. Watching for file changes.',
        ' ✓ cart.test.ts (3 tests) 4ms',
        'src/a.ts is fine',
        'The error handler is installed: error: none',
        'test result: ok. 3 passed; 0 failed',
      ),
    ).toEqual([]);
  });

  const ERROR = 'src/a.ts(1,7): error TS2322: no.';
  const FOUND = 'tsc: TS2322: no. (src/a.ts:1:7)';

  it.each<[string, readonly string[]]>([
    [
      'jest, below ● Console',
      ['  ● Console', '', '    console.log', '      x', '', '    console.error', `      ${ERROR}`, '      at a.js:1:2', ''],
    ],
    [
      'jest with one file',
      ['  console.log', '    ● x', '', '    console.log', '    not ok 1 - x', '', '      at log (a.js:1:2)', ''],
    ],
    ['vitest', ['stdout | a.test.js > p1', ERROR, '', ERROR, '']],
    ['vitest, outside of a test', ['stderr | src/my shop.ts', ERROR, 'stdout | unknown test', ERROR]],
    ['vitest, after the dots of its reporter', ['··x-*stderr | a.test.js', ERROR]],
    ['vitest, after a text without a line break', ['3 + 4 = stdout | a.test.js > p1', ERROR]],
    [
      'vitest, with the results of another tool',
      ['stdout | a.test.js > p1', '  ✓ a', '  1) x:', '     Error: no', ' ❯ a.js:1:2', ERROR],
    ],
  ])('read nothing that a test has printed: %s', (_tool, lines) => {
    expect(said(...lines)).toEqual([]);
  });

  it.each([
    ' ✓ src/a.test.ts (1 test) 5ms',
    ' ❯ unit  src/a.test.ts (5 tests | 1 failed) 12ms',
    ' × a.test.ts > rounds 5ms',
    ' ❯ a.test.ts 0/6',
    ' ❯ a.test.ts [queued]',
    '⎯⎯⎯⎯⎯⎯ Unhandled Errors ⎯⎯⎯⎯⎯⎯',
    ' Test Files  1 passed (1)',
    ' RERUN  src/a.ts x1',
    ' RUN  v5.1.1 /shop',
  ])('read the lines below the next line of vitest: %s', (line) => {
    expect(said('stdout | a.test.js > p1', ERROR, '', line, ERROR)).toEqual([FOUND]);
  });

  it('read the lines below a printed block', () => {
    expect(said('  ● Console', '', '    console.log', '      x', '', ERROR)).toEqual([FOUND]);
    expect(said('  ● Console', '', '    console.log', '      x', '', '  ● cart › rounds', '', '    no cart')).toEqual([
      'jest: cart › rounds: no cart',
    ]);
    expect(said('  ● Console', '', '    no price')).toEqual(['jest: Console: no price']);
    expect(
      said('FAIL ./a.test.js', '  ● Console', '', '    console.log', '      x', '', '  ● Test suite failed to run', '', '    no'),
    ).toEqual(['jest: Test suite failed to run: no (a.test.js)']);
    // A block ends after 2,000 lines, and a line that only resembles a headline begins no block.
    expect(said('stdout | a.test.js > p1', ...Array.from({ length: 2_001 }, () => 'x'), ERROR)).toEqual([FOUND]);
    expect(said('see stdout | tee log.txt', ERROR)).toEqual([FOUND]);
    // The lines of two blocks are not one problem.
    const half = 'Traceback (most recent call last):';
    expect(said('stdout | a.test.js > p1', half, '', 'stdout | a.test.js > p2', 'ValueError: no', '')).toEqual([]);
  });

  it('read the lines that follow a printed block after a silence', () => {
    const reader = new ProblemReader();
    for (const line of ['stdout | a.test.js > p1', ERROR]) expect(reader.read(line)).toEqual([]);
    expect(reader.end()).toEqual([]);
    expect(reader.read(ERROR)).toMatchObject([{ tool: 'tsc' }]);
  });

  it('read a line of a million characters, and hostile lines, within two seconds', () => {
    const reader = new ProblemReader();
    const began = performance.now();
    for (const line of [
      'a'.repeat(1_000_000),
      `${'('.repeat(1_000)}${'1,'.repeat(1_000)}`,
      `/${'a:'.repeat(3_000)}`,
      `  at ${'('.repeat(2_000)}`,
      `FAILED ${'a::'.repeat(2_000)}`,
      `a${'(1,1'.repeat(500)}`,
      `stdout | ${'.test.js > '.repeat(200)}(`,
      'stdout | a.test.js > prints',
      ` ✓ ${'.a'.repeat(1_000)}`,
    ])
      for (let i = 0; i < 20; i++) reader.read(line);
    expect(performance.now() - began).toBeLessThan(2_000);
  });
});
