/**
 * The states of a handle.
 *
 * ```
 * running → waiting → running (it was answered) … → stopped
 * ```
 * `stopped` is terminal and can be reached from both others.
 */

/** `transient`: the same call may succeed later. `trace`: what led to it, outermost first. `timeoutMs`: its time was over. */
export type ToolError = {
  readonly message: string;
  readonly trace: readonly string[];
  readonly transient: boolean;
  readonly timeoutMs?: number;
};

export type ToolResult = { readonly ok: string } | { readonly error: ToolError };

/** `content`: what there is to read so far. `question`: what it wants to know, one at a time. */
export type ToolState =
  | { readonly type: 'running'; readonly content?: string }
  | { readonly type: 'waiting'; readonly content?: string; readonly question: string }
  | { readonly type: 'stopped'; readonly content?: string; readonly result: ToolResult };

/** A state without what there is to read. */
export type Phase =
  | { readonly type: 'running' }
  | { readonly type: 'waiting'; readonly question: string }
  | { readonly type: 'stopped'; readonly result: ToolResult };

const NEXT: Readonly<Record<Phase['type'], readonly Phase['type'][]>> = {
  running: ['waiting', 'stopped'],
  waiting: ['running', 'stopped'],
  stopped: [],
};

/** Throws for a transition that does not exist: that is a mistake of ours, never of a model. */
export function assertTransition(id: string, from: Phase, to: Phase): void {
  if (!NEXT[from.type].includes(to.type)) throw new Error(`handle ${id}: ${from.type} → ${to.type} is no transition`);
}

/**
 * What a tool throws when it fails. `text` is what there is to read nevertheless (its output); `exitCode` and `lastLine`
 * go into the notification.
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
      ...(more.exitCode === undefined ? {} : { exitCode: more.exitCode }),
      ...(more.lastLine === undefined ? {} : { lastLine: more.lastLine }),
      ...(more.more === undefined ? {} : { more: more.more }),
    };
  }
}

/** How a tool ended: what the model reads, and what a notification says of it. `lastLine`: by default that of `text`. */
export type Ending = {
  readonly text: string;
  readonly exitCode?: number;
  readonly lastLine?: string;
  /** There is more than `text` shows, to be read by range. */
  readonly more?: boolean;
};

export function errorOf(thrown: unknown): ToolError {
  if (thrown instanceof ToolFailure) {
    const { message, trace, transient, timeoutMs } = thrown;
    return { message, trace, transient, ...(timeoutMs === undefined ? {} : { timeoutMs }) };
  }
  const message = thrown instanceof Error ? thrown.message : String(thrown);
  const causes: string[] = [];
  let cause = thrown instanceof Error ? thrown.cause : undefined;
  while (cause instanceof Error && causes.length < 8) {
    causes.push(cause.message);
    cause = cause.cause;
  }
  return { message: message === '' ? 'failed without saying why' : message, trace: causes, transient: false };
}
