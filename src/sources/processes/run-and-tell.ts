/**
 * Runs any command, and notifies an agent of the command's end and last lines. The output and the exit code do not change for the
 * caller. When `runAndTell` resolves with `told`, the event is durable. If this process is killed with SIGKILL, no notification
 * is sent.
 */
import { randomUUID } from 'node:crypto';
import { constants } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Writable } from 'node:stream';
import { EarpieceError } from '../../core/errors.ts';
import { makeEvent, type Emitted, type Emitter, type Event } from '../../core/event.ts';
import type { Level } from '../../core/notification.ts';
import { problemsOf, type Matchers } from '../problems/index.ts';
import { LastLines } from './last-lines.ts';
import { excerpt, EXCERPT_FROM } from './excerpt.ts';
import { eventOf, isFailure, type Outcome } from './outcome.ts';
import { run } from './run.ts';

export type RunAndTellOptions = {
  readonly command: string;
  readonly args?: readonly string[];
  readonly emitter: Emitter;
  /** The address of the agent to notify. */
  readonly subject: string;
  readonly cwd?: string;
  readonly env?: NodeJS.ProcessEnv;
  /** A name for people, instead of the command line. */
  readonly name?: string | undefined;
  /**
   * The maximum number of lines of the output that the agent reads: lines from the beginning of the failure, and the last lines.
   * Default 20.
   */
  readonly lines?: number;
  /** The level of the notification if the command fails. Default `error`. */
  readonly levelOnFailure?: Level;
  /** The time limit, after which the command gets SIGTERM, and 5 s later SIGKILL. */
  readonly timeoutMs?: number | undefined;
  /**
   * Whether to forward SIGINT, SIGTERM, SIGHUP and SIGQUIT to the command. After the command's end, such a signal cancels the
   * notification. Default false.
   */
  readonly forwardSignals?: boolean;
  /** The destination of the command's output. Default: the streams of this process. */
  readonly stdout?: Writable;
  readonly stderr?: Writable;
  /**
   * Called if the command gets no terminal although all three streams are terminals, because `@lydell/node-pty` cannot be loaded.
   */
  readonly withoutTerminal?: () => void;
  /** The time for which the notification is retried while the store fails. Default 5 s. */
  readonly tellWithinMs?: number;
};

export type RanAndTold = {
  /**
   * The exit code, as in a shell: 128 plus the number of a signal, or 127 or 126 if the command did not start. A timeout gives
   * 124.
   */
  readonly exitCode: number;
  readonly outcome: Outcome;
  /** The event, even if it could not be emitted. You may emit the event again, because its id prevents a duplicate. */
  readonly event: Event;
  readonly telling: { readonly kind: 'told'; readonly emitted: Emitted } | { readonly kind: 'untold'; readonly error: unknown };
};

export const runAndTell = (options: RunAndTellOptions): Promise<RanAndTold> => runAndReport(options);

/** Like `runAndTell`, but with the user's problem matchers. */
export async function runAndReport(
  options: RunAndTellOptions & { readonly matchers?: Matchers['matchers'] },
): Promise<RanAndTold> {
  const {
    command,
    args = [],
    cwd = process.cwd(),
    env = process.env,
    stdout = process.stdout,
    stderr = process.stderr,
  } = options;
  const last = new LastLines(EXCERPT_FROM);
  const streams = { stdout: last.stream(), stderr: last.stream() };
  const problems = problemsOf(options.matchers);
  const signals = options.forwardSignals ? catchSignals() : undefined;
  try {
    const startedAt = performance.now();
    const outcome = await run({
      command,
      args,
      cwd,
      env,
      stdout,
      stderr,
      wrote: (stream, chunk) => {
        streams[stream](chunk);
        problems[stream](chunk);
      },
      timeoutMs: options.timeoutMs,
      started: (signal) => signals?.to(signal),
      withoutTerminal: options.withoutTerminal,
    });
    const ended = signals?.ended();
    const lines = last.read();
    const event = makeEvent(
      eventOf({
        command,
        args,
        cwd,
        name: options.name,
        subject: options.subject,
        outcome,
        durationMs: performance.now() - startedAt,
        lastLines: excerpt(lines, options.lines ?? 20, isFailure(outcome)),
        problems: isFailure(outcome) ? problems.ended() : [],
        levelOnFailure: options.levelOnFailure ?? 'error',
      }),
      { id: randomUUID(), now: Date.now() },
    );
    const telling = await tell(options.emitter, event, options.tellWithinMs ?? 5_000, ended);
    return { exitCode: exitCodeOf(outcome), outcome, event, telling };
  } finally {
    signals?.release();
  }
}

/** Emits the event, with retries. The event's id prevents a second notification. */
async function tell(
  emitter: Emitter,
  event: Event,
  withinMs: number,
  givenUp: AbortSignal | undefined,
): Promise<RanAndTold['telling']> {
  const deadline = performance.now() + withinMs;
  const stopped = new Promise<never>((_, reject) => {
    const stop = (): void => reject(new EarpieceError('timeout', 'the notification was not written: a signal arrived first'));
    if (givenUp?.aborted) stop();
    else givenUp?.addEventListener('abort', stop, { once: true });
  });
  stopped.catch(() => undefined);
  for (let wait = 50; ; wait = Math.min(2 * wait, 1_000)) {
    try {
      return { kind: 'told', emitted: await Promise.race([emitter.emit(event), stopped]) };
    } catch (error) {
      const again = error instanceof EarpieceError && error.retryable && !givenUp?.aborted;
      if (!again || performance.now() + wait >= deadline) return { kind: 'untold', error };
      await sleep(wait);
    }
  }
}

/** Returns the exit code that a shell would give to this outcome. */
export function exitCodeOf(outcome: Outcome): number {
  switch (outcome.kind) {
    case 'not_started':
      return outcome.code;
    case 'exited':
      return outcome.timedOut ? TIMED_OUT : outcome.code;
    case 'killed':
      return outcome.timedOut ? TIMED_OUT : 128 + (constants.signals[outcome.signal as NodeJS.Signals] ?? 0);
    default:
      return outcome satisfies never;
  }
}

/** The exit code after a timeout, as in `timeout` of the coreutils. */
const TIMED_OUT = 124;

const HANDED_ON = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT'] as const;

/** Forwards signals to the command while it runs. After the command's end, a signal cancels the notification. */
export function catchSignals(): {
  readonly to: (signal: (name: NodeJS.Signals) => void) => void;
  readonly ended: () => AbortSignal;
  readonly release: () => void;
} {
  const givenUp = new AbortController();
  const early: NodeJS.Signals[] = [];
  let handOn: (name: NodeJS.Signals) => void = (name) => void early.push(name);
  const caught = (name: NodeJS.Signals): void => handOn(name);
  for (const name of HANDED_ON) process.on(name, caught);
  return {
    to: (signal) => {
      handOn = signal;
      for (const name of early) signal(name);
    },
    ended: () => {
      handOn = () => givenUp.abort();
      return givenUp.signal;
    },
    release: () => {
      for (const name of HANDED_ON) process.off(name, caught);
    },
  };
}
