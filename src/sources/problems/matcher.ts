/**
 * The form of problem matchers, after those of VS Code: patterns for consecutive lines, with named groups for the parts of a
 * problem. A round is one build or one run of tests in a program that keeps running, such as `tsc --watch`.
 */

/** The parts that a pattern may name. `more` is appended to the message. */
export const PARTS = ['file', 'line', 'column', 'severity', 'code', 'test', 'message', 'more'] as const;
export type Part = (typeof PARTS)[number];
export type Parts = Readonly<Partial<Record<Part, string>>>;

export type Step = {
  /** The parts in a line. Undefined if the line does not match. */
  readonly match: (line: string) => Parts | undefined;
  /** How many other lines may come before this line. Default 0. */
  readonly skip?: number;
  /** Whether the problem is complete without this line. */
  readonly optional?: true;
  /** Whether the line may come several times. The last one counts. */
  readonly repeats?: true;
  /** Whether each further line of this form is another problem. Only the last step may have this. */
  readonly loop?: true;
};

export type Matcher = { readonly tool: string; readonly steps: readonly [Step, ...Step[]] };

/** The lines by which a tool that keeps running shows where a round begins and ends. */
export type Rounds = {
  /** Matches the beginning of a round. Earlier problems belong to an earlier round. */
  readonly begins?: LineTest;
  /** Matches the end of a round. The problems of this round are then the only open ones. */
  readonly ends?: LineTest;
  /** Matches a line that says that there are no problems. */
  readonly clean?: LineTest;
};

type LineTest = Pick<RegExp, 'test'>;

/** Makes a step from a JavaScript regular expression. Use this for patterns of this package, which run in linear time. */
export function step(pattern: RegExp, more: Omit<Step, 'match'> = {}): Step {
  return { match: (line) => pattern.exec(line)?.groups ?? (pattern.test(line) ? {} : undefined), ...more };
}
