/** A problem that a program printed: a compiler's error, a failing test, an exception. */

export type Problem = {
  /** The tool that reported the problem: `tsc`, `vitest`. */
  readonly tool: string;
  readonly severity: 'error' | 'warning';
  readonly message: string;
  /** The name of a failing test. */
  readonly test?: string;
  readonly code?: string;
  readonly file?: string;
  readonly line?: number;
  readonly column?: number;
};

/**
 * Returns a text that all problems with this message in this file share. The text stays the same when lines above the problem are
 * added or removed.
 */
export const fingerprintOf = ({ tool, file = '', code = '', test = '', message }: Problem): string =>
  [tool, file, code, test, message].join('\0');

/** Returns the place of a problem, such as `src/cart.ts:3:7`; undefined if no file is known. */
export const placeOf = ({ file, line, column }: Problem): string | undefined =>
  file === undefined ? undefined : [file, line, column].filter((part) => part !== undefined).join(':');

/** Describes the problem in one line: the failing test, the message and the place. */
export function sayProblem(problem: Problem): string {
  const { test, code, message, file } = problem;
  const place = placeOf(problem);
  const name = test === undefined ? '' : `${test}: `;
  const said = `${name}${code === undefined ? '' : `${code}: `}${message}`;
  return place === undefined || (test === undefined && file !== undefined && said.includes(place)) ? said : `${said} (${place})`;
}
