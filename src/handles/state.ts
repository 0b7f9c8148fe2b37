/**
 * Defines the states of a handle.
 *
 * ```
 * running → waiting → running (after an answer, or by itself) … → stopped
 * ```
 * `stopped` is final and can follow `running` and `waiting`.
 */
import { defined } from '../core/defined.ts';

/**
 * The error of a tool. `transient`: the same call may succeed later. `trace`: the chain of causes, outermost first. `timeoutMs`:
 * the time limit, if it was reached.
 */
export type ToolError = {
  readonly message: string;
  readonly trace: readonly string[];
  readonly transient: boolean;
  readonly timeoutMs?: number;
};

export type ToolResult = { readonly ok: string } | { readonly error: ToolError };

/**
 * The state of a handle. `content` is the output so far. `question` is the handle's open question. A handle has at most one open
 * question.
 */
export type ToolState =
  | { readonly type: 'running'; readonly content?: string }
  | { readonly type: 'waiting'; readonly content?: string; readonly question: string }
  | { readonly type: 'stopped'; readonly content?: string; readonly result: ToolResult };

/** A state without its content. */
export type Phase =
  | { readonly type: 'running' }
  | { readonly type: 'waiting'; readonly question: string }
  | { readonly type: 'stopped'; readonly result: ToolResult };

const NEXT: Readonly<Record<Phase['type'], readonly Phase['type'][]>> = {
  running: ['waiting', 'stopped'],
  waiting: ['running', 'stopped'],
  stopped: [],
};

/** Throws for an invalid transition, which only a bug of Earpiece can cause. */
export function assertTransition(id: string, from: Phase, to: Phase): void {
  if (!NEXT[from.type].includes(to.type)) throw new Error(`handle ${id}: invalid transition ${from.type} → ${to.type}`);
}

/**
 * An error that a failing tool may throw to add details. `text` is the output of the tool, which the model can read. The
 * notification usually contains `exitCode` and `lastLine`.
 */
export class ToolFailure extends Error {
  override readonly name = 'ToolFailure';
  readonly trace: readonly string[];
  readonly transient: boolean;
  readonly timeoutMs: number | undefined;
  readonly ending: Ending;

  constructor(
    message: string,
    more: {
      readonly trace?: readonly string[];
      readonly transient?: boolean;
      readonly timeoutMs?: number;
      readonly cause?: unknown;
    } & Partial<Ending> = {},
  ) {
    super(message, more.cause === undefined ? undefined : { cause: more.cause });
    this.trace = more.trace ?? [];
    this.transient = more.transient ?? false;
    this.timeoutMs = more.timeoutMs;
    this.ending = {
      text: more.text ?? '',
      ...defined({ exitCode: more.exitCode, lastLine: more.lastLine, more: more.more }),
    };
  }
}

/**
 * The text that a tool leaves for the model at its end, and the data for a notification. `lastLine` defaults to the last line of
 * `text`.
 */
export type Ending = {
  readonly text: string;
  readonly exitCode?: number;
  readonly lastLine?: string;
  /** Whether the output is longer than `text`. The model can read the rest by range. */
  readonly more?: boolean;
};

export function errorOf(thrown: unknown): ToolError {
  if (thrown instanceof ToolFailure) {
    const { message, trace, transient, timeoutMs } = thrown;
    return { message, trace, transient, ...defined({ timeoutMs }) };
  }
  const message = thrown instanceof Error ? thrown.message : String(thrown);
  const causes: string[] = [];
  let cause = thrown instanceof Error ? thrown.cause : undefined;
  while (cause instanceof Error && causes.length < 8) {
    causes.push(cause.message);
    cause = cause.cause;
  }
  return { message: message === '' ? 'failed without a reason' : message, trace: causes, transient: false };
}
