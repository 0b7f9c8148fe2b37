/**
 * A problem matcher as a user writes it. The form is that of VS Code. A part of a pattern, such as `file: 1`, is the number of a
 * group in the regular expression. 0 is the whole match.
 */
export type MatcherForm = {
  /** The severity of problems whose line names no severity. */
  readonly severity?: MatcherSeverity;
  /** The patterns of consecutive lines. */
  readonly pattern: readonly LinePattern[];
  readonly background?: BackgroundForm;
};

export const MATCHER_SEVERITIES = ['error', 'warning'] as const;
type MatcherSeverity = (typeof MATCHER_SEVERITIES)[number];

/** The parts of a problem that a group of the regular expression may capture. */
export const GROUPS = ['file', 'line', 'column', 'severity', 'code', 'message'] as const;

export type LinePattern = {
  readonly regexp: string;
  /**
   * True if each further line that matches this pattern is another problem. Only the last of several patterns may set this field.
   */
  readonly loop?: boolean;
} & { readonly [Part in (typeof GROUPS)[number]]?: number };

/** The patterns of the lines that a program in watch mode prints when a build begins and when the build ends. */
export type BackgroundForm = { readonly beginsPattern?: string; readonly endsPattern?: string };
