/**
 * Defines the matchers of `node --test`, for its reporters spec and TAP. If the stack has a file of the user, a problem has the
 * place of the failed assertion.
 */
import { step, type Matcher, type Step } from './matcher.ts';

/** A place in a stack, in a file of the user. */
const PLACE = String.raw`(?!node:|\S*node_modules)(?:file://)?(?<file>[^\s():]+):(?<line>\d+):(?<column>\d+)\)?`;

/** The values of a failed comparison, such as `3 !== 4`, in the lines below the message. */
const VALUES = step(/^\s+(?<more>\S.{0,80} (?:!==|===|==|!=) \S.{0,80})$/u, { skip: 1, optional: true });

/** Returns the name of a test without the backslashes that TAP writes before `#` and before a backslash. */
export const unescaped = (name: string): string => name.replace(/\\([\\#])/gu, '$1');

/** A failed test in TAP. A test that fails as `TODO` does not make the run fail. */
const FAILED = /^\s*not ok \d+ - (?<test>(?!.* # (?:TODO|SKIP)\b)\S.*)$/u;

/** The message of a test file whose process failed, with the signal that ended the process. */
export const FILE_FAILED = /^'?test failed'?(?:; SIG\w+)?$/u;

const NOT_OK: readonly [Step, Step] = [
  {
    match: (line) => {
      const test = FAILED.exec(line)?.groups?.['test'];
      return test === undefined ? undefined : { test: unescaped(test) };
    },
  },
  step(/^\s+location: '(?<file>[^:]+):(?<line>\d+):(?<column>\d+)'$/u, { skip: 4, optional: true }),
];

const STACK: readonly Step[] = [
  step(/^\s+stack: \|-$/u, { skip: 60, optional: true }),
  step(new RegExp(String.raw`^\s+(?:async )?(?:\S.*\()?${PLACE}$`, 'u'), { skip: 30, optional: true, replaces: true }),
];

export const NODE_TEST: readonly Matcher[] = [
  {
    tool: 'node --test',
    steps: [
      step(/^test at (?<file>[^:]+):(?<line>\d+):(?<column>\d+)$/u),
      step(/^✖ (?<test>\S.*?)(?: \([\d.]+ms\))?$/u),
      step(/^\s+(?<message>\S.*?):?$/u),
      VALUES,
      step(new RegExp(String.raw`^\s+at (?:async )?(?:.*\()?${PLACE}(?: \{)?$`, 'u'), {
        skip: 60,
        optional: true,
        replaces: true,
      }),
    ],
  },
  {
    tool: 'node --test',
    steps: [
      ...NOT_OK,
      step(/^\s+signal: '(?<more>SIG\w+)'$/u, { skip: 3, optional: true }),
      step(/^\s+error: (?!\||'?\d+ subtests? failed)(?<quote>["']?)(?<message>\S.*?)\k<quote>$/u, { skip: 4 }),
      ...STACK,
    ],
  },
  {
    // This matcher is for a message of several lines.
    tool: 'node --test',
    steps: [...NOT_OK, step(/^\s+error: \|-$/u, { skip: 4 }), step(/^\s+(?<message>\S.*?):?$/u), VALUES, ...STACK],
  },
];
