/** Makes the event about a command that has ended, without I/O. */
import { defined } from '../../core/defined.ts';
import type { EventInput } from '../../core/event.ts';
import { checksum } from '../../core/checksum.ts';
import type { Level } from '../../core/notification.ts';
import { MAX_PROBLEMS, placeOf, problemsIn, sayProblem, type Problem } from '../problems/index.ts';

/**
 * How the command ended. `timedOut` says that the time limit ended the command. `readerClosed` says that the reader of its output
 * closed the output first, as `head` does.
 */
export type Outcome =
  | { readonly kind: 'exited'; readonly code: number; readonly timedOut: boolean; readonly readerClosed?: true }
  | { readonly kind: 'killed'; readonly signal: string; readonly timedOut: boolean; readonly readerClosed?: true }
  /** The command did not start. As in shells, the code is 127 if the command does not exist, and 126 if it cannot run. */
  | { readonly kind: 'not_started'; readonly code: 126 | 127; readonly reason: string };

export type Ended = {
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd: string;
  /** A name for people. Default: the command line. */
  readonly name?: string | undefined;
  readonly subject: string;
  readonly outcome: Outcome;
  readonly durationMs: number;
  readonly lastLines: readonly string[];
  /** The problems in the command's whole output. Default: the problems in `lastLines`. */
  readonly problems?: readonly Problem[];
  /** The number of open problems that were reported before. */
  readonly reported?: number;
  readonly levelOnFailure: Level;
};

export const isFailure = (outcome: Outcome): boolean =>
  (outcome.kind !== 'exited' || outcome.code !== 0 || outcome.timedOut) && !lostItsReader(outcome);

/** Whether the command ended only because the reader of its output has closed. */
export const lostItsReader = (outcome: Outcome): boolean =>
  outcome.kind !== 'not_started' &&
  outcome.readerClosed === true &&
  !outcome.timedOut &&
  (outcome.kind === 'killed' ? outcome.signal === 'SIGPIPE' : outcome.code === SIGPIPE);

/** The exit code of a shell whose command was ended by SIGPIPE. */
const SIGPIPE = 141;

/**
 * Makes the event `process.ended`, or `process.failed` for a failure. Only the current state matters, so the notification
 * replaces the unread notifications of the same name in the same folder. Without a name, the command takes the place of the name.
 */
export function eventOf(ended: Ended): EventInput {
  const { outcome, cwd, durationMs, lastLines } = ended;
  const failed = isFailure(outcome);
  const command = commandLine(ended.command, ended.args);
  const found = failed ? (ended.problems ?? problemsIn(lastLines)) : [];
  const problems = errorsIn(found);
  const telling =
    sayFirst(problems, found.length >= MAX_PROBLEMS ? 'at least ' : '') ??
    (lastLines.length === 0 ? undefined : tellingLine(lastLines, failed));
  const name = ended.name === undefined ? undefined : cut(ended.name, 200);
  const what = name ?? `\`${cut(command, 120)}\``;
  return {
    type: failed ? 'process.failed' : 'process.ended',
    source: 'processes',
    subject: ended.subject,
    severity: failed ? ended.levelOnFailure : 'info',
    message: `${what} ${howItWent(outcome, durationMs)}${telling === undefined ? '' : `: ${telling}`}${sayReported(failed ? ended.reported : 0)}`,
    key: `process:${checksum([cwd, name ?? command].join('\0'))}`,
    supersede: true,
    data: {
      command: cut(command, 2_000),
      exit_code: outcome.kind === 'killed' ? null : outcome.code,
      ...(outcome.kind === 'killed' ? { signal: outcome.signal } : {}),
      ...(outcome.kind !== 'not_started' && outcome.timedOut ? { timed_out: true } : {}),
      duration_ms: Math.round(durationMs),
      last_lines: lastLines,
      ...(problems.length === 0 ? {} : { problems: problems.slice(0, SHOWN_PROBLEMS).map(dataOf) }),
      cwd,
      ...defined({ name }),
    },
  };
}

const SHOWN_PROBLEMS = 20;

/** Returns each error once, because a test runner names a failing test when it fails, and again at the end. */
function errorsIn(problems: readonly Problem[]): readonly Problem[] {
  const errors = problems.filter(({ severity }) => severity === 'error');
  return [...new Map(errors.map((problem) => [sayProblem(problem), problem])).values()];
}

function sayFirst([first, ...more]: readonly Problem[], atLeast: string): string | undefined {
  if (first === undefined) return undefined;
  return `${cut(sayProblem(first), 300)}${more.length === 0 ? '' : ` and ${atLeast}${more.length} more`}`;
}

const sayReported = (count = 0): string =>
  count === 0 ? '' : `; ${count} reported ${count === 1 ? 'error is' : 'errors are'} still open`;

function dataOf(problem: Problem): Record<string, string> {
  const { tool, test, message } = problem;
  const place = placeOf(problem);
  return { tool, message, ...defined({ test, place }) };
}

function howItWent(outcome: Outcome, durationMs: number): string {
  const after = `after ${words(durationMs)}`;
  if (lostItsReader(outcome)) return `ended ${after}, because the reader of its output closed`;
  switch (outcome.kind) {
    case 'not_started':
      return `could not be started: ${outcome.reason}`;
    case 'killed':
      return outcome.timedOut ? `was ended ${after}, its time limit` : `was ended by ${outcome.signal} ${after}`;
    case 'exited':
      if (outcome.timedOut) return `was ended ${after}, its time limit`;
      return outcome.code === 0 ? `succeeded ${after}` : `failed with exit code ${outcome.code} ${after}`;
    default:
      return outcome satisfies never;
  }
}

const SAYS_FAILURE = /\b(?:fail(?:s|ed|ing|ures?)?|\w*errors?|panic(?:ked)?|\w*exception|fatal|not ok|cannot|denied)\b|[✖✗×]/iu;
/** Matches `0 failed`, `fail 0` and `errors: 0`. */
const SAYS_NONE = /\b(?:0|no) (?:fail\w*|errors?)\b|\b(?:fail\w*|errors?):? 0\b/iu;
/** Matches lines that package managers print for any failed script, and their advice. */
const CHATTER = /^npm (?:error|ERR!|notice|warn|WARN)\b|^ ?ELIFECYCLE|^error Command failed with exit code|Lifecycle script/u;

/**
 * Returns the most informative line: the last line about a failure if the command failed, otherwise the last line with words.
 */
function tellingLine(lines: readonly string[], failed: boolean): string | undefined {
  const said = lines.filter((line) => /[\p{L}\p{N}]/u.test(line) && !CHATTER.test(line));
  const line =
    (failed ? said.findLast((each) => SAYS_FAILURE.test(each) && !SAYS_NONE.test(each)) : undefined) ??
    said.at(-1) ??
    lines.at(-1);
  return line === undefined ? undefined : cut(line.trim(), 200);
}

/** Returns the command line as a person could type it. */
export function commandLine(command: string, args: readonly string[]): string {
  return [command, ...args]
    .map((word) => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`))
    .join(' ');
}

const cut = (text: string, chars: number): string => (text.length > chars ? `${text.slice(0, chars - 1).toWellFormed()}…` : text);

/** Formats a duration: `350 ms`, `12 s`, `2 min 5 s`, `1 h 3 min`. */
function words(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  const s = Math.round(ms / 1_000);
  const min = Math.floor(s / 60);
  if (min === 0) return `${s} s`;
  if (min < 60) return s % 60 === 0 ? `${min} min` : `${min} min ${s % 60} s`;
  return min % 60 === 0 ? `${min / 60} h` : `${Math.floor(min / 60)} h ${min % 60} min`;
}
