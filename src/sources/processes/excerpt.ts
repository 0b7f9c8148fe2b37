/**
 * Chooses the lines of a command's output that an agent reads. The last lines often lack the cause: after the name and the
 * assertion of a failure, test runners print a long code frame or stack.
 */

/** The number of last lines from which an excerpt is chosen. */
export const EXCERPT_FROM = 200;
/** The maximum number of characters of all lines together, because the lines become part of an event and of a model's context. */
const TOTAL_CHARS = 16_000;

/** Matches the headings under which test runners list failures (vitest, node --test, jest, pytest, cargo). */
const HEADING = /\bfailed tests?\b|\bfailing tests\b|^=+ FAILURES =+$|^failures:|^Summary of all failing tests/iu;
/** Matches a line that begins the report of one failure. */
const FAILURE =
  /^\s*(?:FAIL\b|not ok\b|[✖✗×]\s|●\s|---? FAIL|E\s{2,})|\berror(?:\[\w+\]| TS\d+)?:|\bpanicked at\b|^Traceback\b/iu;
/** The share of the lines for the beginning of the failure. The remaining lines show the end of the output. */
const HEAD_SHARE = 2 / 3;
export const GAP = '…';

/**
 * Returns at most `most` lines and 16,000 characters, oldest first. For a failed command, the lines are the beginning of the
 * failure (if found) and the end of the output. For any other command, the lines are the end of the output.
 */
export function excerpt(lines: readonly string[], most: number, failed: boolean): readonly string[] {
  const chosen = choose(lines, most, failed);
  const chars = chosen.reduce((sum, line) => sum + line.length, 0);
  return chars <= TOTAL_CHARS ? chosen : excerpt(lines, Math.floor(Math.min(most, lines.length) * 0.9), failed);
}

function choose(lines: readonly string[], most: number, failed: boolean): readonly string[] {
  if (lines.length <= most || most === 0) return most === 0 ? [] : lines;
  const last = lines.slice(-most);
  if (!failed || most < 4) return last;
  const heading = lines.findLastIndex((line) => HEADING.test(line));
  const from = heading >= 0 ? heading : lines.findIndex((line) => FAILURE.test(line));
  if (from < 0 || from >= lines.length - most) return last;
  const head = Math.ceil(most * HEAD_SHARE);
  const tail = most - head - 1;
  return [...lines.slice(from, from + head), GAP, ...lines.slice(lines.length - tail)];
}
