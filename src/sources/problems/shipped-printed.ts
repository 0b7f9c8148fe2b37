/** Defines the blocks in which test runners repeat the output of a test. This output may resemble the errors of any tool. */
import type { Printed } from './matcher.ts';

/**
 * The headline of a block of vitest. The reporter `dot` prints dots before the headline. A test may write a text without a line
 * break before the headline. In that case, the file must have the usual name of a test file.
 */
const VITEST_HEADLINE =
  /^[·x*-]*std(?:out|err) \| (?:\S.*\.[cm]?[jt]sx?(?: > .*)?|unknown test)$|std(?:out|err) \| \S.*\.(?:test|spec)\.\w+(?: > .*)?$/u;

/** The lines of vitest itself: a test or a file with its result or progress, a horizontal line, the totals, a new run. */
const VITEST_LINE =
  /^ [✓❯×↓] .*\S\.\w+ (?:\(\d+ tests?\b|> |\d+\/\d+$|\[queued\]$)|^⎯⎯|^ Test Files {2}|^ (?:RUN|DEV) {2}v\d|^\s*(?:\S+ )?RERUN\b/u;

export const PRINTED: readonly Printed[] = [
  // Jest indents the text deeper than this headline. Below `● Console`, jest also indents the headline deeper.
  { from: /^ {2}console\.\w+(?: \S+:\d+)?$/u, to: /^ {0,2}\S/u },
  { from: /^ {4}console\.\w+(?: \S+:\d+)?$/u, to: /^ {0,4}\S/u },
  { from: VITEST_HEADLINE, to: new RegExp(`${VITEST_HEADLINE.source}|${VITEST_LINE.source}`, 'u') },
];
