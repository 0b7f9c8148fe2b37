/**
 * Defines the lines with which each tool shows the rounds of its builds and test runs. The problems of any other tool stay open
 * until a watching program starts that tool again, or until the program ends without an error.
 */
import type { Counted, Named, Rounds } from './matcher.ts';
import type { Problem } from './problem.ts';
import { FILE_FAILED, unescaped } from './shipped-node-test.ts';

const RESTARTED =
  /^ RERUN {2}|^\s+\d+ passing \(|^\[nodemon\] restarting|^Restart(?:ing '|ed at )|\[tsx\] (?:change in .*|rerunning|restarting)|Detected change in .+, reloading|WatchFiles detected changes|^\[Running: /u;

/**
 * The rounds of a tool whose output shows no rounds: a round begins when a program that watches files starts the tool again. Mocha
 * prints the number of passed tests at the end of each run.
 */
export const RESTARTS: Rounds = { begins: RESTARTED };

/** Makes the part `names` of rounds from a pattern with the group `names`, which may contain several files. */
const named =
  (pattern: RegExp, fails?: RegExp) =>
  (line: string): readonly Named[] =>
    pattern
      .exec(line)
      ?.groups?.['names']?.split(', ')
      .map((name) => ({ name, failed: fails?.test(line) ?? false })) ?? [];

/** A line of next that shows a successful build, or a request. */
const NEXT_TRIES = /^\s*✓ Compiled|^ (?:GET|POST|PUT|PATCH|DELETE|HEAD) \S+ \d{3} in /u;

/** Returns the file of a test that vitest names as `project file > suite > test`. */
const fileOfTest = ({ test }: Problem): string | undefined => test?.split(' > ', 1)[0]?.split(' ').at(-1);

/** The lines of vitest with the number of failed files, and with the file whose change has begun a run. */
const VITEST_COUNT = /^\s*Test Files {2}(?:(?<count>\d+) failed)?/u;
const VITEST_RERUN = /^\s*(?:\S+ )?RERUN {2}(?<rerun>\S.*?)(?: x\d+)?\s*$/u;

/** A failed file or test: ` FAIL  unit price.test.ts > adds`, ` FAIL  unit price.test.ts [ packages/unit/price.test.ts ]`. */
const VITEST_FAILED = /^ FAIL {2,}(?<failed>\S.*)$/u;

/** Returns the facts about test files that a line of vitest shows. The reporter `dot` names only the files that fail. */
function countsOfVitest(line: string): Counted | undefined {
  const total = VITEST_COUNT.exec(line);
  if (total !== null) return { count: Number(total.groups?.['count'] ?? 0) };
  const rerun = VITEST_RERUN.exec(line)?.groups?.['rerun'];
  if (rerun !== undefined) return { rerun };
  const failed = VITEST_FAILED.exec(line)?.groups?.['failed']?.split(/ (?:>|\[) /u, 1)[0];
  return failed !== undefined && /\.\w+$/u.test(failed) ? { failed } : undefined;
}

/** A result of `node --test`, in its reporters spec and TAP: `✔ rounds (1.2ms)`, `not ok 1 - rounds`. */
const NODE_RESULT = /^(?<indent>\s*)(?:[✔✖﹣] (?<spec>\S.*?) \([\d.]+ms\)|(?:not )?ok \d+ - (?<tap>\S.*?))(?: # .*)?$/u;

/** The beginning of a suite, and in TAP of each test: `▶ cart`, `# Subtest: cart`. */
const NODE_SUITE = /^(?<indent>\s*)(?:▶ (?<spec>\S.*?)(?: \([\d.]+ms\))?|# Subtest: (?<tap>\S.*?))$/u;

/** Returns the test that a line of `node --test` shows. The name of a test may have a comma. */
function testsOfNode(line: string): readonly Named[] {
  const result = nodeNameIn(line, NODE_RESULT);
  return result === undefined ? [] : [{ ...result, failed: /^\s*(?:✖|not ok\b(?!.* # (?:TODO|SKIP)\b))/u.test(line) }];
}

function nodeNameIn(line: string, pattern: RegExp): { readonly name: string; readonly indent: number } | undefined {
  const { indent = '', spec, tap } = pattern.exec(line)?.groups ?? {};
  const name = spec ?? (tap === undefined ? undefined : unescaped(tap));
  return name === undefined ? undefined : { name, indent: indent.length };
}

/** The codes of errors that the parser of tsc reports, TS1002 to TS1161. */
const SYNTAX = /^TS1(?:0\d\d|1[0-5]\d|16[01])$/u;

/** The totals of vitest: ` Test Files  1 failed | 2 passed (3)`, ` Test Files  no tests`. */
const TOTALS = /^\s*Test Files\s+(?<counts>.+?)(?: \((?<total>\d+)\))?$/u;

/** Whether a line ends a run of vitest. While tests run, a terminal shows totals in which some files have no result yet. */
function endsVitest(line: string): boolean {
  const { counts, total = '0' } = TOTALS.exec(line)?.groups ?? {};
  if (counts === undefined) return /^\s*(?:PASS|FAIL) {2}(?:Waiting for file changes|Tests failed\. Watching)/u.test(line);
  const done = [...counts.matchAll(/\d+/gu)].reduce((sum, [count]) => sum + Number(count), 0);
  return done >= Number(total);
}

/** The rounds of tools whose output shows rounds. */
export const ROUNDS: Readonly<Record<string, Rounds>> = {
  tsc: {
    begins: /Starting (?:incremental )?compilation|Starting compilation in watch mode/u,
    ends: /Found \d+ errors?\. Watching for file changes/u,
    // While a file has a syntax error, tsc checks no types.
    isPartial: (problems) => problems.every(({ code }) => SYNTAX.test(code ?? '')),
  },
  vite: {
    begins: /\[vite\] (?:\(\w+\) )?(?:hmr update|page reload|hot updated)|^build started\.\.\.$/u,
    clean: /^(?:✓ )?built in /u,
    names: named(/\[vite\] (?:\(\w+\) )?(?:hmr update|page reload|hot updated:?) (?<names>\S.*?)(?: \(x\d+\))?$/u),
  },
  esbuild: { begins: /\[watch\] build started/u, ends: /\[watch\] build finished/u },
  // Next reports the errors of a page with each request, and does not name the files that it compiles.
  next: { begins: NEXT_TRIES, names: (line) => (NEXT_TRIES.test(line) ? [{ name: '', failed: / 5\d\d in /u.test(line) }] : []) },
  webpack: { ends: /\bwebpack [\d.]+ compiled |\bcompiled (?:successfully|with \d+ (?:error|warning))/iu },
  vitest: {
    begins: /^\s*(?:\S+ )?RERUN\b/u,
    ends: { test: endsVitest },
    isLate: true,
    names: named(/^\s*[✓❯×↓] (?:.* )?(?<names>\S+\.\w+) (?:\(\d+ tests?\b|> )/u, /^\s*[❯×]/u),
    unitOf: fileOfTest,
    countsOf: countsOfVitest,
  },
  jest: {
    ends: /^Ran all test suites/u,
    names: named(/^\s*(?:PASS|FAIL) (?:.* )?(?<names>\S+\.\w+)(?: \([\d.]+ m?s\))?$/u, /^\s*FAIL/u),
    unloaded: /^\s+● Test suite failed to run$/u,
  },
  // A round without any test ends no problem, because `mocha --watch` cannot load ES modules again, and then runs no test.
  // Mocha prints the failed tests directly after the lines that match `begins`.
  mocha: { begins: /^\s+(?:[1-9]\d* passing \(|\d+ (?:pending|failing)$)/u },
  'node --test': {
    // A restart may interrupt a run, whose results still count. So a restart does not begin a round.
    ends: /^(?:ℹ|#) duration_ms [\d.]+$/u,
    isLate: true,
    names: testsOfNode,
    suiteOf: (line) => nodeNameIn(line, NODE_SUITE),
    repeats: /^test at /u,
    unitOf: ({ test }) => test,
    areTests: true,
    isVague: ({ message }) => FILE_FAILED.test(message),
  },
  pytest: {
    begins: /^=+ test session starts =+$/u,
    ends: /^=+ .*\b(?:passed|failed|errors?|no tests ran)\b.* in [\d.]+s\b.*=+$/u,
  },
  cargo: { begins: /^\[Running '/u, ends: /^\s*Finished |^error: could not compile|^error: test failed|^test result: ok/u },
};
