/** Defines the matchers for jest. */
import { step, type Matcher, type Step } from './matcher.ts';
import { FILE } from './shipped-places.ts';

/** The line above the problems of a test file. In a terminal, jest prints two spaces after `FAIL`. */
const FAIL = step(/^\s*FAIL +(?:\S+ )?(?:\.\/)?(?<file>[^\s/]\S*\.\w+)(?: \([\d.]+ m?s\))?$/u);
const NOT_RUN = step(/^\s+● (?<test>Test suite failed to run)$/u, { skip: 200 });

/** The headline above the hints of jest about a file that it cannot parse. The cause is below the hints. */
const UNPARSED = 'Jest encountered an unexpected token';

/** A syntax error of Babel with its place: `SyntaxError: /shop/cart.test.js: Unexpected token (5:10)`. */
const BABEL = step(/^\s+(?<code>\w*Error): (?<file>(?:\/|[A-Z]:\\)[^:]+): (?<message>.+) \((?<line>\d+):(?<column>\d+)\)$/u);

/** The place of a syntax error that Node.js has found: `/shop/cart.mjs:3`. */
const NODE_PLACE = step(/^\s+(?<file>(?:\/|[A-Z]:\\)[^:]+):(?<line>\d+)$/u, { skip: 40, optional: true, replaces: true });

/** Matches the reason why jest cannot parse a file. */
const CAUSE: Step = {
  match: (line) => {
    const { code, message, ...place } = BABEL.match(line) ?? {};
    return code === undefined ? CAUSE_OF_NODE.match(line) : { ...place, message: `${code}: ${message}` };
  },
  skip: 40,
  replaces: true,
};
const CAUSE_OF_NODE = step(/^\s+(?<message>\w*Error: .+)$/u);

export const JEST: readonly Matcher[] = [
  {
    tool: 'jest',
    steps: [FAIL, NOT_RUN, step(new RegExp(`^\\s+${UNPARSED}$`, 'u'), { skip: 1 }), NODE_PLACE, CAUSE],
  },
  {
    // This matcher is for a file that jest cannot run. Only the line above the problem names the file.
    tool: 'jest',
    steps: [
      FAIL,
      NOT_RUN,
      step(new RegExp(`^\\s+(?<message>(?!${UNPARSED}$)\\S.*)$`, 'u'), { skip: 1 }),
      step(new RegExp(String.raw`^\s+at (?:.*\()?(?!\S*node_modules)${FILE}:(?<line>\d+):(?<column>\d+)\)?$`, 'u'), {
        skip: 30,
        optional: true,
        replaces: true,
      }),
    ],
  },
  {
    tool: 'jest',
    steps: [
      step(/^\s+● (?<test>(?!Test suite failed to run$)\S.*)$/u),
      // Below `● Console`, jest repeats the output of the tests.
      step(/^\s+(?<message>(?!console\.\w+(?: \S+:\d+)?$)\S.*)$/u, { skip: 1 }),
      step(/^\s+(?<more>Expected\b.*)$/u, { skip: 1, optional: true }),
      step(/^\s+(?<more>Received\b.*)$/u, { optional: true }),
      step(new RegExp(String.raw`^\s+at (?:.*\()?(?!\S*node_modules)${FILE}:(?<line>\d+):(?<column>\d+)\)?$`, 'u'), {
        skip: 30,
        optional: true,
      }),
    ],
  },
];
