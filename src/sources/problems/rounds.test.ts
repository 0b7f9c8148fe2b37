import { describe, expect, it } from 'vitest';
import { proves } from '../../../e2e/verifies.ts';
import { OpenProblems } from './rounds.ts';

const STARTS = '10:32:01 - File change detected. Starting incremental compilation...';
const ends = (count: number): string => `10:32:02 - Found ${count} error${count === 1 ? '' : 's'}. Watching for file changes.`;
const wrong = (file: string): string => `${file}(1,7): error TS2322: Type 'string' is not assignable to type 'number'.`;

function open(...lines: readonly (string | undefined)[]): readonly string[] {
  const problems = new OpenProblems();
  for (const line of lines) {
    if (line === undefined) problems.silent();
    else problems.read(line);
  }
  return [...problems.open().values()].map(
    ({ problem, count }) => `${problem.file ?? problem.message}${count > 1 ? ` x${count}` : ''}`,
  );
}

describe('the problems of a program that keeps running', () => {
  proves('follow:problems');

  it('are the problems of the last round: after two of three files are fixed, one problem is open', () => {
    const first = [STARTS, wrong('a.ts'), wrong('b.ts'), wrong('c.ts'), ends(3)];
    expect(open(...first)).toEqual(['a.ts', 'b.ts', 'c.ts']);
    expect(open(...first, STARTS, wrong('b.ts'), ends(1))).toEqual(['b.ts']);
    expect(open(...first, STARTS, wrong('b.ts'), ends(1), STARTS, ends(0))).toEqual([]);
  });

  it('are not ended by a round of tsc that reports only a syntax error, because tsc then checks no types', () => {
    const first = [STARTS, wrong('a.ts'), ends(1)];
    const syntax = 'b.ts(1,11): error TS1109: Expression expected.';
    expect(open(...first, STARTS, syntax, ends(1))).toEqual(['a.ts', 'b.ts']);
    expect(open(...first, STARTS, syntax, ends(1), STARTS, ends(0))).toEqual([]);
    expect(open(...first, STARTS, syntax, ends(1), STARTS, wrong('a.ts'), ends(1))).toEqual(['a.ts']);
    const other = "c.ts(1,11): error TS1005: ';' expected.";
    expect(open(...first, STARTS, syntax, ends(1), STARTS, other, ends(1))).toEqual(['a.ts', 'c.ts']);
  });

  it('do not include a failed test that a test has printed before the headline of vitest', () => {
    const printed = ['stdout | a.test.ts > prints', ...failed('a.test.ts'), '', ' ✓ a.test.ts (1 test) 2ms'];
    expect(open(...printed, ' Test Files  1 passed (1)', undefined)).toEqual([]);
    const rerun = [' RERUN  a.test.ts x1', ...printed, ' Test Files  1 passed (1)', undefined];
    expect(open(...first, undefined, ...rerun)).toEqual(['cart.test.ts', 'price.test.ts']);
  });

  it('stay open while the next round runs, and the problems of the next round are added at once', () => {
    expect(open(STARTS, wrong('a.ts'), ends(1), STARTS, wrong('b.ts'))).toEqual(['a.ts', 'b.ts']);
  });

  it('stay the same if lines are added above them, and are counted if they repeat in a round', () => {
    const moved = "a.ts(9,7): error TS2322: Type 'string' is not assignable to type 'number'.";
    expect(open(STARTS, wrong('a.ts'), ends(1), STARTS, moved, ends(1))).toEqual(['a.ts']);
    expect(open(STARTS, wrong('a.ts'), wrong('a.ts'), ends(1))).toEqual(['a.ts x2']);
    expect(open(STARTS, wrong('a.ts'), moved, ends(2))).toEqual(['a.ts', 'a.ts']);
  });

  it('end when vite applies an update without errors, or when the program restarts without output', () => {
    const vite = '10:32:01 AM [vite] Internal server error: Unexpected token';
    expect(open(vite, '  File: /shop/a.ts:1:2')).toEqual(['/shop/a.ts']);
    expect(open(vite, '  File: /shop/a.ts:1:2', '10:32:09 AM [vite] (client) hmr update /src/a.ts', undefined)).toEqual([]);
    const thrown = ['TypeError: no', '    at handle (/shop/a.js:3:7)'];
    expect(open(...thrown, undefined)).toEqual(['/shop/a.js']);
    expect(open(...thrown, "Restarting 'a.js'", undefined)).toEqual([]);
    expect(open(...thrown, "Restarting 'a.js'", ...thrown, undefined)).toEqual(['/shop/a.js']);
  });

  const failed = (file: string): readonly string[] => [
    ` FAIL  ${file} > rounds`,
    'AssertionError: expected 3 to be 4',
    ` ❯ ${file}:3:17`,
    '⎯⎯⎯⎯⎯⎯[1/2]⎯',
  ];
  const first = [
    ' ❯ cart.test.ts (1 test | 1 failed) 4ms',
    ' ❯ unit price.test.ts (1 test | 1 failed) 4ms',
    '⎯⎯⎯⎯⎯⎯⎯ Failed Tests 2 ⎯⎯⎯⎯⎯⎯⎯',
    ...failed('cart.test.ts'),
    ...failed('price.test.ts'),
    ' Test Files  2 failed (2)',
  ];

  it('stay open if a round of tests repeats only another file', () => {
    const rerun = [' RERUN  cart.test.ts x1', ' ✓ cart.test.ts (1 test) 2ms', ' Test Files  1 passed (1)', undefined];
    expect(open(...first, ...rerun)).toEqual(['price.test.ts']);
    expect(
      open(
        ...first,
        ...rerun,
        ' RERUN  price.test.ts x2',
        ' ✓ price.test.ts (1 test) 2ms',
        ' Test Files  1 passed (1)',
        undefined,
      ),
    ).toEqual([]);
  });

  it('stay open if a round repeats only one of two test files that share an error', () => {
    const shared = [
      ' ❯ cart.test.ts (0 test)',
      ' ❯ price.test.ts (0 test)',
      '⎯⎯⎯⎯⎯⎯ Failed Suites 2 ⎯⎯⎯⎯⎯⎯⎯',
      ' FAIL  cart.test.ts [ cart.test.ts ]',
      ' FAIL  price.test.ts [ price.test.ts ]',
      'Error: the shop is closed',
      ' ❯ shop.ts:3:17',
      ' Test Files  2 failed (2)',
      undefined,
    ];
    const rerun = (file: string): readonly (string | undefined)[] => [
      ` RERUN  ${file} x1`,
      ` ✓ ${file} (1 test) 2ms`,
      ' Test Files  1 passed (1)',
      undefined,
    ];
    const openAfter = (...lines: readonly (string | undefined)[]): OpenProblems => {
      const problems = new OpenProblems(undefined, { stampOf: () => '1' });
      for (const line of lines) {
        if (line === undefined) problems.silent();
        else problems.read(line);
      }
      return problems;
    };
    const testsIn = (problems: OpenProblems): readonly (string | undefined)[] =>
      [...problems.open().values()].map(({ problem }) => problem.test);
    // The shared error is one problem, which keeps its key.
    const [before, after] = [openAfter(...shared), openAfter(...shared, ...rerun('cart.test.ts'))];
    expect(testsIn(before)).toEqual(['cart.test.ts']);
    expect(testsIn(after)).toEqual(['price.test.ts']);
    expect([...after.open().keys()]).toEqual([...before.open().keys()]);
    expect(testsIn(openAfter(...shared, ...rerun('price.test.ts')))).toEqual(['cart.test.ts']);
    expect(testsIn(openAfter(...shared, ...rerun('price.test.ts'), ...rerun('cart.test.ts')))).toEqual([]);
  });

  it('stay open if vitest is silent during a run, while a terminal shows totals without all results', () => {
    const first = [
      ' ❯ a.test.ts (1 test | 1 failed)',
      '⎯⎯⎯⎯⎯⎯ Failed Tests 1 ⎯⎯⎯⎯⎯⎯⎯',
      ' FAIL  a.test.ts > one',
      'Error: boom',
      ' Test Files  1 failed | 1 passed (2)',
      ' FAIL  Tests failed. Watching for file changes...',
      undefined,
    ];
    const live = [' RERUN  b.test.ts x1', ' Test Files 0 passed (1)', '   Duration 2.97s', undefined];
    const end = [' ✓ b.test.ts (1 test) 4000ms', ' Test Files  1 failed | 1 passed (2)', undefined];
    const messages = (...lines: readonly (string | undefined)[]): readonly string[] => {
      const problems = new OpenProblems();
      for (const line of lines) {
        if (line === undefined) problems.silent();
        else problems.read(line);
      }
      return [...problems.open().values()].map(({ problem }) => problem.message);
    };
    expect(messages(...first, ...live)).toEqual(['Error: boom']);
    expect(messages(...first, ...live, ...end)).toEqual(['Error: boom']);
    expect(
      messages(...first, ' RERUN  a.test.ts x2', ' ✓ a.test.ts (1 test) 2ms', ' Test Files  2 passed (2)', undefined),
    ).toEqual([]);
  });

  it('stay open if node --test runs another file again, even after a silence before its first line', () => {
    const nodeFailed = (test: string, file: string): readonly string[] => [
      `test at ${file}:2:1`,
      `✖ ${test} (1.2ms)`,
      '  AssertionError [ERR_ASSERTION]: 1 == 2',
    ];
    const end = 'ℹ duration_ms 466.563046';
    const two = [
      '✖ one (1.2ms)',
      '✖ two, too (1.3ms)',
      end,
      ...nodeFailed('one', 'a.test.mjs'),
      ...nodeFailed('two, too', 'b.test.mjs'),
      undefined,
    ];
    const restarted = 'Restarted at 11/26/2026, 9:31:44 PM';
    expect(open(...two, restarted, undefined)).toEqual(['a.test.mjs', 'b.test.mjs']);
    expect(open(...two, restarted, undefined, '✔ one (1.1ms)', end, undefined)).toEqual(['b.test.mjs']);
    // A restart interrupts the run after the first result.
    expect(open(...two, restarted, '✔ one (1.1ms)', restarted, '✖ two, too (1.3ms)', end, undefined)).toEqual(['b.test.mjs']);
    expect(open(...two, 'ok 1 - two, too', '# duration_ms 4.1', undefined)).toEqual(['a.test.mjs']);
  });

  /** The output of `node --test` for these suites of tests. `!` marks a failed test. */
  function nodeRun(
    tap: boolean,
    file: Readonly<Record<string, readonly string[]>>,
    ...fails: readonly string[]
  ): readonly string[] {
    const results = Object.entries(file).flatMap(([suite, tests]) => [
      tap ? `# Subtest: ${suite}` : `▶ ${suite}`,
      ...tests.flatMap((test, i) => {
        const [name, bad] = [test.replace('!', ''), test.startsWith('!')];
        if (!tap) return [`  ${bad ? '✖' : '✔'} ${name} (1.2ms)`];
        const result = [`    # Subtest: ${name}`, `    ${bad ? 'not ok' : 'ok'} ${i + 1} - ${name}`, '      ---'];
        return [
          ...result,
          ...(bad ? [`      location: '/shop/${suite}.test.mjs:2:1'`, "      error: '1 == 2'"] : []),
          '      ...',
        ];
      }),
      tap ? `ok 1 - ${suite}` : `✔ ${suite} (3.2ms)`,
    ]);
    const failed = fails.flatMap((each) => {
      const [suite = '', test = ''] = each.split(' > ');
      return [`test at /shop/${suite}.test.mjs:2:1`, `✖ ${test} (1.2ms)`, '  AssertionError [ERR_ASSERTION]: 1 == 2'];
    });
    return [...results, tap ? '# duration_ms 4.1' : 'ℹ duration_ms 4.1', ...(tap ? [] : failed)];
  }

  it.each([
    ['spec', false],
    ['tap', true],
  ])('stay open if the suite of another file has a test with the same name, in the reporter %s', (_, tap) => {
    const first = nodeRun(tap, { a: ['!one', 'two'], b: ['one', '!two'] }, 'a > one', 'b > two');
    const [a, b] = ['/shop/a.test.mjs', '/shop/b.test.mjs'];
    const all = (...more: readonly (string | undefined)[]): readonly string[] => open(...first, undefined, ...more, undefined);
    expect(all()).toEqual([a, b]);
    expect(all(...nodeRun(tap, { a: ['one', 'two'] }))).toEqual([b]);
    expect(all(...nodeRun(tap, { a: ['one', '!two'] }, 'a > two'))).toEqual([b, a]);
    expect(all(...nodeRun(tap, { b: ['one', 'two'] }))).toEqual([a]);
    expect(all(...nodeRun(tap, { b: ['!one', 'two'] }, 'b > one'))).toEqual([a, b]);
  });

  it('stay open if another file has a test with the same full name, until their own file changes', () => {
    const stamps = new Map([
      ['a.test.mjs', '1'],
      ['b.test.mjs', '1'],
    ]);
    const problems = new OpenProblems(undefined, { importStampOf: (file) => stamps.get(file) });
    const readAll = (...lines: readonly string[]): readonly (string | undefined)[] => {
      for (const line of lines) problems.read(line);
      problems.silent();
      return [...problems.open().values()].map(({ problem }) => problem.file);
    };
    const failed = (file: string): readonly string[] => [`test at ${file}:1:1`, '✖ one (322.7ms)', "  'test failed'"];
    const both = ['✖ one (1ms)', '✖ one (1ms)', 'ℹ duration_ms 9.1', ...failed('a.test.mjs'), ...failed('b.test.mjs')];
    expect(readAll(...both)).toEqual(['a.test.mjs', 'b.test.mjs']);
    stamps.set('a.test.mjs', '2');
    // The restart interrupts the first run of the file.
    const restarted = 'Restarted at 11/26/2026, 9:31:44 PM';
    expect(readAll(restarted, '✔ one (1ms)', restarted, '✔ one (1ms)', 'ℹ duration_ms 9.1')).toEqual(['b.test.mjs']);
    expect(readAll('✔ one (1ms)', '✔ one (1ms)', 'ℹ duration_ms 9.1')).toEqual([]);
  });

  it('are those of the last run if a change of the file interrupts a run or follows at once', () => {
    const restarted = 'Restarted at 11/26/2026, 9:31:44 PM';
    const run = (actual: number): readonly string[] => [
      restarted,
      '✖ one (1ms)',
      'ℹ duration_ms 9.1',
      'test at a.test.mjs:1:1',
      '✖ one (1ms)',
      `  AssertionError: ${actual} == 1`,
    ];
    const messages = (...lines: readonly (string | undefined)[]): readonly string[] => {
      const problems = new OpenProblems();
      for (const line of lines) {
        if (line === undefined) problems.silent();
        else problems.read(line);
      }
      return [...problems.open().values()].map(({ problem }) => problem.message);
    };
    expect(messages(...run(2), ...run(3), undefined)).toEqual(['AssertionError: 3 == 1']);
    expect(messages(...run(2), undefined, ...run(3), undefined)).toEqual(['AssertionError: 3 == 1']);
    // One summary lists the results of both runs.
    const [, result = '', end = '', ...first] = run(4);
    const both = [restarted, result, restarted, result, end, ...first, ...run(3).slice(3)];
    expect(messages(...both, undefined)).toEqual(['AssertionError: 3 == 1']);
    expect(messages(...run(3), undefined, ...both, undefined)).toEqual(['AssertionError: 3 == 1']);
    // Node.js prints the file of an interrupted process as failed.
    const killed = ['✖ a.test.mjs (2ms)', 'ℹ duration_ms 9.1', 'test at a.test.mjs:1:1', '✖ a.test.mjs (2ms)', "  'test failed'"];
    expect(messages(restarted, restarted, ...killed, undefined)).toEqual([]);
    expect(messages(restarted, ...killed, undefined)).toEqual(["'test failed'"]);
    const tap = (signal: string): readonly string[] => [
      'not ok 1 - a.test.mjs',
      '  ---',
      "  location: '/shop/a.test.mjs:1:1'",
      "  failureType: 'testCodeFailure'",
      '  exitCode: ~',
      `  signal: '${signal}'`,
      "  error: 'test failed'",
      '  ...',
    ];
    expect(messages(...tap('SIGTERM'), '# duration_ms 4.1', undefined)).toEqual([]);
    expect(messages(...tap('SIGKILL'), '# duration_ms 4.1', undefined)).toEqual(['test failed; SIGKILL']);
  });

  it('have the path in the project if the tool prints the path from the folder of the project with a slash', () => {
    const file = (stampOf: (file: string) => string | undefined): string | undefined => {
      const problems = new OpenProblems(undefined, { stampOf });
      problems.read('10:32:01 AM [vite] Internal server error: Unexpected token');
      problems.read('  File: /src/a.ts:1:2');
      problems.silent();
      return [...problems.open().values()][0]?.problem.file;
    };
    expect(file((path) => (path === 'src/a.ts' ? '1' : undefined))).toBe('src/a.ts');
    expect(file(() => '1')).toBe('/src/a.ts');
    expect(file(() => undefined)).toBe('/src/a.ts');
  });

  it('have one report for an error of a file that two failed test files import, until that file changes', () => {
    let stamp = '1';
    const problems = new OpenProblems(undefined, {
      stampOf: (file) => (file === '/shop/lib.mjs' ? stamp : '0'),
      importStampOf: () => stamp,
    });
    const readAll = (...lines: readonly string[]): readonly string[] => {
      for (const line of lines) problems.read(line);
      problems.silent();
      return [...problems.open().values()].map(({ problem }) => problem.message);
    };
    const boom = ['file:///shop/lib.mjs:2', "throw new Error('boom')", '^', '', 'Error: boom'];
    const failed = (name: string): readonly string[] => [`test at ${name}:1:1`, `✖ ${name} (2ms)`, "  'test failed'"];
    const run = [
      '✖ a.test.mjs (2ms)',
      '✖ b.test.mjs (2ms)',
      'ℹ duration_ms 9.1',
      ...failed('a.test.mjs'),
      ...failed('b.test.mjs'),
    ];
    const missing = "Error [ERR_MODULE_NOT_FOUND]: Cannot find module '/shop/x.mjs' imported from /shop/lib.mjs";
    const lost = ['node:internal/modules/esm/resolve:271', missing, '    at finalizeResolution (node:internal/a:271:11)'];
    expect(readAll(...lost, ...run)).toEqual([missing]);
    expect(readAll(...boom, ...boom, ...run)).toEqual(['Error: boom']);
    stamp = '2';
    expect(readAll('✔ one (1ms)', '✔ two (1ms)', 'ℹ duration_ms 9.1')).toEqual([]);
    // Each test file has its error, and then the shared file gets an error.
    const unknown = (name: string): readonly string[] => [
      `file:///shop/${name}:1`,
      "import { v } from './lib.mjs';",
      '^',
      '',
      `SyntaxError: no v for ${name}`,
    ];
    expect(readAll(...unknown('a.test.mjs'), ...unknown('b.test.mjs'), ...run)).toHaveLength(2);
    expect(readAll(...boom, ...boom, ...run)).toEqual(['Error: boom']);
    stamp = '3';
    expect(readAll('✔ one (1ms)', '✔ two (1ms)', 'ℹ duration_ms 9.1')).toEqual([]);
    // The error of another test file does not explain a failed file.
    const wrong = ['file:///shop/a.test.mjs:2', 'const x = ;', '^', '', 'SyntaxError: no'];
    expect(readAll(...wrong, ...run)).toEqual(['SyntaxError: no', "'test failed'"]);
  });

  it('end if a restart follows the run of the corrected file at once', () => {
    let stamp = '1';
    const problems = new OpenProblems(undefined, { stampOf: () => stamp, importStampOf: () => stamp });
    const readAll = (...lines: readonly string[]): readonly (string | undefined)[] => {
      for (const line of lines) problems.read(line);
      return [...problems.open().values()].map(({ problem }) => problem.file);
    };
    const restarted = 'Restarted at 11/26/2026, 9:31:44 PM';
    const lost = "Error [ERR_MODULE_NOT_FOUND]: Cannot find module '/shop/x.mjs' imported from /shop/a.test.mjs";
    const at = '    at finalizeResolution (node:internal/a:271:11)';
    const failed = ['✖ a.test.mjs (2ms)', 'ℹ duration_ms 9.1', 'test at a.test.mjs:1:1', '✖ a.test.mjs (2ms)', "  'test failed'"];
    expect(readAll(restarted, lost, at, ...failed)).toEqual(['/shop/a.test.mjs']);
    stamp = '2';
    expect(readAll(restarted, '✔ one (1ms)', 'ℹ duration_ms 9.1', restarted)).toEqual([]);
  });

  it('end only if each test file that failed because of a shared file has changed', () => {
    const stamps = new Map([
      ['a.test.mjs', '1'],
      ['b.test.mjs', '1'],
    ]);
    const problems = new OpenProblems(undefined, { importStampOf: (file) => stamps.get(file) });
    const readAll = (...lines: readonly string[]): readonly string[] => {
      for (const line of lines) problems.read(line);
      problems.silent();
      return [...problems.open().values()].map(({ problem }) => problem.message);
    };
    const boom = ['file:///shop/lib.mjs:2', "throw new Error('boom')", '^', '', 'Error: boom'];
    const failed = (name: string): readonly string[] => [`test at ${name}:1:1`, `✖ ${name} (2ms)`, "  'test failed'"];
    const [a, b, end] = ['✖ a.test.mjs (2ms)', '✖ b.test.mjs (2ms)', 'ℹ duration_ms 9.1'];
    expect(readAll(...boom, a, ...boom, b, end, ...failed('a.test.mjs'), ...failed('b.test.mjs'))).toEqual(['Error: boom']);
    // The first test file no longer imports the shared file.
    stamps.set('a.test.mjs', '2');
    expect(readAll('✔ one (1ms)', end)).toEqual(['Error: boom']);
    stamps.set('b.test.mjs', '2');
    expect(readAll(...boom, b, end, ...failed('b.test.mjs'))).toEqual(['Error: boom']);
    expect(readAll('✔ one (1ms)', end)).toEqual(['Error: boom']);
    stamps.set('b.test.mjs', '3');
    expect(readAll('✔ two (1ms)', end)).toEqual([]);
  });

  it('end if the test of a changed file has another name now', () => {
    let stamp = '1';
    const problems = new OpenProblems(undefined, { importStampOf: (file) => (file === 'a.test.mjs' ? stamp : undefined) });
    const readAll = (...lines: readonly string[]): number => {
      for (const line of lines) problems.read(line);
      problems.silent();
      return problems.open().size;
    };
    expect(readAll('✖ one (1ms)', 'ℹ duration_ms 9.1', 'test at a.test.mjs:1:1', '✖ one (1ms)', "  'test failed'")).toBe(1);
    expect(readAll('✔ two (1ms)', 'ℹ duration_ms 9.1')).toBe(1);
    stamp = '2';
    expect(readAll('✔ another (1ms)', 'ℹ duration_ms 9.1')).toBe(0);
  });

  it('end if a test file that node --test could not load has changed', () => {
    let stamp = '1';
    const problems = new OpenProblems(undefined, { importStampOf: (file) => (file === 'a.test.mjs' ? stamp : undefined) });
    const readAll = (...lines: readonly string[]): readonly (string | undefined)[] => {
      for (const line of lines) problems.read(line);
      problems.silent();
      return [...problems.open().values()].map(({ problem }) => problem.file);
    };
    const failed = ['test at a.test.mjs:1:1', '✖ a.test.mjs (322.7ms)', "  'test failed'"];
    expect(readAll('✖ a.test.mjs (322.7ms)', 'ℹ duration_ms 9.1', ...failed)).toEqual(['a.test.mjs']);
    expect(readAll('✔ two (1.1ms)', 'ℹ duration_ms 9.1')).toEqual(['a.test.mjs']);
    stamp = '2';
    expect(readAll('✔ one (1.1ms)', 'ℹ duration_ms 9.1')).toEqual([]);
  });

  it('end if vite updates another module, and their own file has changed', () => {
    const stamps = new Map([
      ['/shop/a.ts', '1'],
      ['/shop/b.ts', '1'],
    ]);
    const problems = new OpenProblems(undefined, { stampOf: (file) => stamps.get(file) });
    const files = (): readonly (string | undefined)[] => [...problems.open().values()].map(({ problem }) => problem.file);
    for (const name of ['a', 'b']) {
      problems.read('10:32:01 AM [vite] Internal server error: Unexpected token');
      problems.read(`  File: /shop/${name}.ts:1:2`);
    }
    stamps.set('/shop/a.ts', '2');
    problems.read('10:32:09 AM [vite] (client) hmr update /main.ts');
    expect(files()).toEqual(['/shop/a.ts', '/shop/b.ts']);
    problems.silent();
    expect(files()).toEqual(['/shop/b.ts']);
    problems.read('10:32:12 AM [vite] (client) page reload b.ts');
    problems.silent();
    expect(files()).toEqual([]);
  });

  it('are the problems of the last run, if a watching program starts a tool again', () => {
    const wrongGo = './cart.go:3:5: undefined: x';
    expect(open(wrongGo, undefined, '[nodemon] restarting due to changes...', undefined)).toEqual([]);
    expect(open(wrongGo, undefined, '[nodemon] restarting due to changes...', wrongGo, undefined)).toEqual(['./cart.go']);
  });

  it('do not include warnings, and are at most 500 for each tool', () => {
    expect(open('cart.c:4:1: warning: unused')).toEqual([]);
    expect(open(...Array.from({ length: 700 }, (_, i) => wrong(`f${i}.ts`)))).toHaveLength(500);
  });
});
