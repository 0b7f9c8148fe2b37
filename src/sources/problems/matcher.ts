/**
 * Defines problem matchers, which resemble those of VS Code: patterns for consecutive lines, with named groups for the parts of a
 * problem. A round is one build or one run of tests in a program that keeps running, such as `tsc --watch`.
 */

import type { Problem } from './problem.ts';

/**
 * The parts that a pattern may name. `more` is appended to the message. Each `suite` is put before the name of the test, the
 * outermost first.
 */
export const PARTS = ['file', 'line', 'column', 'severity', 'code', 'suite', 'test', 'message', 'more'] as const;
export type Part = (typeof PARTS)[number];
export type Parts = Readonly<Partial<Record<Part, string>>>;

export type Step = {
  /** Returns the parts in a line; undefined if the line does not match. */
  readonly match: (line: string) => Parts | undefined;
  /** The maximum number of other lines before this line. Default 0. */
  readonly skip?: number;
  /** Whether the problem is complete without this line. */
  readonly optional?: true;
  /** Whether several lines may have this form. The last such line is used. */
  readonly repeats?: true;
  /**
   * Whether each of several consecutive lines of this form begins a separate problem. The lines below them belong to all these
   * problems. Only the first step may have this property.
   */
  readonly each?: true;
  /** Whether the parts of this line replace the same parts of earlier lines. */
  readonly replaces?: true;
  /** Whether each further line of this form is another problem. Only the last step may have this property. */
  readonly loop?: true;
  /**
   * Chooses among several lines of this form: the line whose next line matches this pattern is used. If there is no such line,
   * the first line of this form is used.
   */
  readonly before?: RegExp;
};

export type Matcher = {
  readonly tool: string;
  /** The severity of a problem whose lines name no severity. Default: `error`. */
  readonly severity?: Problem['severity'];
  readonly steps: readonly [Step, ...Step[]];
  /**
   * Matches the end of the lines about one problem. From the second step to this end, no other matcher reads the lines, because
   * an error message may contain the output of another program.
   */
  readonly until?: RegExp;
  /**
   * The report in which the tool prints these problems: from its headline to the start of the next run. Earlier lines are the
   * output of the program, which may resemble such problems.
   */
  readonly report?: { readonly from: RegExp; readonly to: RegExp };
  /** Whether the lines only add a place and a message to a later problem of the same test, or with the same message. */
  readonly isNote?: true;
};

/**
 * A block of lines in which a tool repeats the output of a test. No matcher reads the lines below `from`. The block ends
 * before the first line that matches `to`.
 */
export type Printed = { readonly from: RegExp; readonly to: RegExp };

/** The lines with which a tool that keeps running shows the beginning and the end of a round. */
export type Rounds = {
  /**
   * Whether these problems, such as syntax errors, keep the tool from finding other problems. A round with only such problems
   * ends no problem of another kind.
   */
  readonly isPartial?: (problems: readonly Problem[]) => boolean;
  /** Matches the beginning of a round. Earlier problems belong to an earlier round. */
  readonly begins?: LineTest;
  /** Matches the end of a round. Earlier problems that the round did not repeat may then end. */
  readonly ends?: LineTest;
  /** Matches a line that reports that there are no problems. */
  readonly clean?: LineTest;
  /** Whether lines of a round may follow its end, because the tool writes errors and other lines to two streams. */
  readonly isLate?: true;
  /**
   * Returns the files or tests that a line shows as repeated. If a round names files or tests, the round can end only their
   * problems, and the problems of files that have changed. An empty name means an unknown file.
   */
  readonly names?: (line: string) => readonly Named[];
  /** Matches a line below the name of a file that the tool could not load. None of the file's tests has run. */
  readonly unloaded?: LineTest;
  /** Returns the facts about test files that a line shows. Used for a round that names no files. */
  readonly countsOf?: (line: string) => Counted | undefined;
  /** Returns the suite that a line begins. Its tests have a larger indent. */
  readonly suiteOf?: (line: string) => { readonly name: string; readonly indent: number } | undefined;
  /** Matches a line whose next line repeats the result of a test. */
  readonly repeats?: LineTest;
  /**
   * Returns the file or test to which a problem belongs. Default: the problem's file, otherwise the file that the tool named
   * last.
   */
  readonly unitOf?: (problem: Problem) => string | undefined;
  /**
   * Whether `names` returns tests and not files. Such a tool names a file only when the file cannot be loaded. A later round ends
   * the problem of such a file if the file has changed.
   */
  readonly areTests?: true;
  /** Whether a problem only says that a file has failed. The output shows the cause before, as an error of Node.js. */
  readonly isVague?: (problem: Problem) => boolean;
};

/** A file or test that a round has repeated. `indent` is the number of spaces before a test, which shows its suite. Default 0. */
export type Named = { readonly name: string; readonly failed: boolean; readonly indent?: number };

/**
 * The facts about test files that a line shows. `failed` is a file that has failed in this round, with the name of its vitest
 * project. `count` is the number of files that fail at the end of the round, also of those that did not run. `rerun` is the file
 * whose change has begun the round.
 */
export type Counted = { readonly failed?: string; readonly count?: number; readonly rerun?: string };

type LineTest = Pick<RegExp, 'test'>;

/** Makes a step that one of several patterns matches. */
export function either(patterns: readonly RegExp[], more: Omit<Step, 'match'> = {}): Step {
  const steps = patterns.map((pattern) => step(pattern));
  return { match: (line) => steps.map(({ match }) => match(line)).find((parts) => parts !== undefined), ...more };
}

/**
 * Makes a step from a JavaScript regular expression. Use this function only for patterns of this package, which run in linear
 * time.
 */
export function step(pattern: RegExp, more: Omit<Step, 'match'> = {}): Step {
  return { match: (line) => pattern.exec(line)?.groups ?? (pattern.test(line) ? {} : undefined), ...more };
}
