/** Defines the matchers for vitest. Vitest prints a horizontal line below each error. */
import { either, step, type Matcher } from './matcher.ts';

/** Matches the end of the lines about one error: the horizontal line, the totals, or the start of another run. */
const UNTIL = /^⎯| Test Files {2}|^\s*(?:\S+ )?RERUN\b/u;

/** The headline of the failed tests, and the start of the next run. */
const REPORT = { from: /^⎯+ Failed (?:Tests|Suites) \d+ ⎯+$/u, to: /^\s*(?:\S+ )?RERUN\b/u };

/** The name of a test, or of a file: `unit src/price.test.ts [ packages/unit/src/price.test.ts ]`. */
const NAME = either([/^ FAIL {2,}(?<test>(?:\S.* )?(\S+))\s+\[ (?:.*[ /])?\2 \]$/u, /^ FAIL {2,}(?<test>\S.*?)$/u], {
  each: true,
});

/** The line directly below the name of a test. Vitest shows an error without a message as an object of several lines. */
const MESSAGE = either([/^(?<message>(?!\{$|⎯)\S.*)$/u, /^\{$/u]);

/** An error whose cause is in the line below: `RolldownError: Parse failure: Parse failed with 1 error:`. */
const HEADLINE = step(/^(?<message>\S.* with \d+ errors?):$/u);

/** The line of the stack above the lines of the source. A message may contain a stack too. */
const PLACE = either(
  [
    /^\s+File: (?!\S*node_modules)(?<file>[^:]+):(?<line>\d+):(?<column>\d+)$/u,
    /^\s*❯ (?:\S+ )?(?!\S*node_modules)(?<file>[^\s():]+):(?<line>\d+):(?<column>\d+)$/u,
  ],
  { skip: 2_000, optional: true, before: /^\s+\d+\s*\|/u },
);

export const VITEST: readonly Matcher[] = [
  { tool: 'vitest', until: UNTIL, report: REPORT, steps: [NAME, HEADLINE, step(/^(?<more>\S.*)$/u), PLACE] },
  {
    tool: 'vitest',
    until: UNTIL,
    report: REPORT,
    // Vitest prints an error that several tests share once, below the names of these tests.
    steps: [NAME, MESSAGE, PLACE],
  },
  {
    // This matcher is for an error that no test has caught. Only a later line names the test's file.
    tool: 'vitest',
    until: UNTIL,
    steps: [
      step(
        /^⎯+ (?:Unhandled (?:Rejection|(?:Source |Reporter )?Error)|Uncaught Exception|(?:Typecheck|Startup|Collect) Error) ⎯+$/u,
      ),
      MESSAGE,
      PLACE,
      step(/^This error originated in "(?<test>[^"]+)" test file\./u, { skip: 2_000, optional: true }),
    ],
  },
];
