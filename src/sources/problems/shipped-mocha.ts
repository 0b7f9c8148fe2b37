/** Defines the matchers for mocha. */
import { step, type Matcher } from './matcher.ts';
import { FILE } from './shipped-places.ts';

/** The values of a failed assertion, such as `3 !== 4`. */
const MOCHA_VALUES = /^(?<more>\S.{0,80} (?:!==|===|==|!=) \S.{0,80})$/u;

/** The maximum number of suites within a suite that mocha names above a failed test, one per line. */
const MOCHA_SUITES = 8;

/** A line of the stack with a file of the user. Mocha names an ES module by its URL. */
const PLACE = step(
  new RegExp(String.raw`^\s+at (?:.*\()?(?!\S*node_modules)(?:file:\/\/)?${FILE}:(?<line>\d+):(?<column>\d+)\)?$`, 'u'),
  { skip: 30, optional: true },
);

export const MOCHA: readonly Matcher[] = [
  {
    // This matcher is for a test outside of a suite.
    tool: 'mocha',
    steps: [
      step(/^\s+\d+\) (?<test>\S.*):$/u),
      step(/^\s+(?<message>\w*(?:Error|Exception)\b.*?):?$/u, { skip: 1 }),
      step(MOCHA_VALUES, { skip: 1, optional: true }),
      PLACE,
    ],
  },
  {
    tool: 'mocha',
    steps: [
      step(/^\s+\d+\) (?<suite>\S.*(?<!:))$/u),
      ...Array.from({ length: MOCHA_SUITES }, () => step(/^ {7,}(?<suite>\S.*(?<!:))$/u, { optional: true })),
      step(/^(?! {2}\d+\) )\s+(?<test>\S.*):$/u, { skip: 4 }),
      step(/^\s+(?<message>\w*(?:Error|Exception)\b.*?):?$/u, { skip: 1 }),
      step(MOCHA_VALUES, { skip: 1, optional: true }),
      PLACE,
    ],
  },
];
