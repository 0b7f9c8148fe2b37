/** Finds the lines about a failure in the log of a job of GitHub Actions. */
import { clean } from '../../../handles/text.ts';
import { problemsIn, sayProblem } from '../../problems/index.ts';
import { excerpt } from '../../processes/excerpt.ts';

/**
 * Matches the time of a line: `2026-11-23T08:14:02.1234567Z text`. The time in whole seconds is enough to find the line's step.
 */
const STAMP = /^\uFEFF?(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)\.\d+Z ?/u;
const MARKER = /^##\[(\w+)\]/u;
/** Matches lines that report a failure without its cause. */
const CHATTER = /^Process completed with exit code|^The process '.*' failed with exit code|^(?:npm error|npm ERR!)/u;

const MAX_LINES = 8;
const LINE_CHARS = 300;

export type Step = { readonly startedAt?: string; readonly completedAt?: string };

export type Failure = {
  /** The first problem in the log, in one line; undefined if no problem was recognized. */
  readonly says?: string;
  readonly lines: readonly string[];
};

/** Finds the failure in a log that the API returned. `step` has the times of the failing step, if they are known. */
export function failureIn(log: string, step: Step = {}): Failure {
  const all = log.split('\n').flatMap((raw) => {
    const at = STAMP.exec(raw)?.[1];
    const text = clean(raw.replace(STAMP, '').trimEnd());
    return text === '' ? [] : [{ at, text }];
  });
  const inside = all.filter(({ at }) => at === undefined || isIn(at, step));
  const chosen = (inside.length > 0 ? inside : all).map(({ text }) => text);
  const lines = bodyOf(chosen).map((line) => line.slice(0, LINE_CHARS).toWellFormed());
  const [first, ...more] = problemsIn(lines).filter(({ severity }) => severity === 'error');
  const told = chosen.flatMap((line) => (line.startsWith('##[error]') ? [line.replace(MARKER, '')] : []));
  const marked = told.find((line) => !CHATTER.test(line));
  const says = first === undefined ? marked : `${sayProblem(first)}${more.length > 0 ? ` and ${more.length} more` : ''}`;
  return { ...(says === undefined ? {} : { says: says.slice(0, 400) }), lines: excerpt(lines, MAX_LINES, true) };
}

/**
 * Returns the lines without markers and chatter, and without the header of each command, which contains the command, its shell
 * and its environment.
 */
function bodyOf(lines: readonly string[]): readonly string[] {
  const body: string[] = [];
  let header = false;
  for (const line of lines) {
    const marker = MARKER.exec(line)?.[1];
    if (marker === 'group') header = line.startsWith('##[group]Run ');
    else if (marker === 'endgroup') header = false;
    else if (!header) {
      const text = line.replace(MARKER, '').trimEnd();
      if (text.trim() !== '' && !CHATTER.test(text)) body.push(text);
    }
  }
  return body;
}

/** Whether a time is within a step. The times of a step are whole seconds. */
const isIn = (at: string, { startedAt = '', completedAt = '9' }: Step): boolean =>
  at >= startedAt.slice(0, 19) && at <= (completedAt === '9' ? completedAt : completedAt.slice(0, 19));
