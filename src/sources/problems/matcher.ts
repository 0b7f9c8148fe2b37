/**
 * Problem matchers, after those of VS Code: patterns for consecutive lines, with named groups for the parts of a problem. A
 * round is one build or one run of tests in a program that goes on, such as `tsc --watch`.
 */

/** The parts that a pattern may name. `more` is appended to the message. */
export const PARTS = ['file', 'line', 'column', 'severity', 'code', 'test', 'message', 'more'] as const;
export type Part = (typeof PARTS)[number];
export type Parts = Readonly<Partial<Record<Part, string>>>;

export type Step = {
  /** Undefined for a line that does not match. */
  readonly match: (line: string) => Parts | undefined;
  /** How many other lines may precede it. Default 0. */
  readonly skip?: number;
  /** The problem counts without this line too. */
  readonly optional?: true;
  /** The line may come several times; the last one counts. */
  readonly repeats?: true;
  /** Each further line of this form is another problem. Only for the last step. */
  readonly loop?: true;
};

export type Matcher = { readonly tool: string; readonly steps: readonly [Step, ...Step[]] };

/** How a tool that goes on says where a round begins and ends. */
export type Rounds = {
  /** Earlier problems belong to an earlier round. */
  readonly begins?: RegExp;
  /** Exactly what was found in this round is wrong now. */
  readonly ends?: RegExp;
  /** Nothing is wrong any more. */
  readonly clean?: RegExp;
};

/** A step of a pattern in JavaScript's own syntax. For patterns of this package, which run in linear time. */
export function step(pattern: RegExp, more: Omit<Step, 'match'> = {}): Step {
  return { match: (line) => pattern.exec(line)?.groups ?? (pattern.test(line) ? {} : undefined), ...more };
}
