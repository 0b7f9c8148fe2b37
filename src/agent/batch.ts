import { defined } from '../core/defined.ts';
import type { ToolCallRequestRecord } from '../core/records.ts';
import { didYouMean } from '../core/errors.ts';
import { plainDuration } from './watching/seen.ts';
import type { CallEnd, ToolUse } from './watching/tool-calls.ts';
import type { Tool, ToolOutcome } from '../handles/tool.ts';
import type { AgentEvent } from './events.ts';

export type Batch = {
  readonly calls: readonly ToolCallRequestRecord[];
  readonly tools: readonly Tool[];
  readonly signal: AbortSignal;
  readonly emit: (event: AgentEvent) => void;
  /** `began` is called when a call begins, and `ended` when the call ends, before its result is written. */
  readonly watch: { began(call: ToolUse): void; ended(call: ToolUse, end: CallEnd): void };
  /**
   * Writes one result. Called for one result at a time, in the order of arrival. `last` is true for the last result of the batch.
   */
  readonly land: (call: ToolCallRequestRecord, outcome: ToolOutcome, last: boolean) => Promise<void>;
};

/** Runs the calls of one answer in parallel. Resolves when each result is in the log. Rejects only if `land` rejects. */
export async function runBatch({ calls, tools, signal, emit, watch, land }: Batch): Promise<void> {
  const batch = calls.map((call) => ({ id: call.id, name: call.name, args: call.arguments }));
  let left = calls.length;
  let landing: Promise<void> = Promise.resolve();
  await Promise.all(
    calls.map(async (call) => {
      const use = { id: call.id, name: call.name, args: call.arguments };
      watch.began(use);
      emit({ type: 'tool_started', id: call.id, name: call.name, args: call.arguments });
      const outcome = await outcomeOf(call, tools, {
        id: call.id,
        signal,
        batch,
        progress: (text) => emit({ type: 'tool_progress', id: call.id, text }),
      });
      watch.ended(use, endOf(outcome, signal));
      landing = landing.then(() => land(call, outcome, --left === 0));
      await landing;
      emit({ type: 'tool_ended', id: call.id, name: call.name, content: outcome.content, isError: outcome.isError ?? false });
    }),
  );
}

async function outcomeOf(
  call: ToolCallRequestRecord,
  tools: readonly Tool[],
  context: Parameters<Tool['execute']>[1],
): Promise<ToolOutcome> {
  const { malformed, cut } = (call.metadata ?? {}) as { malformed?: string; cut?: true };
  if (malformed !== undefined && cut)
    return wrong(
      `Not run: your answer reached its limit of output tokens, and the arguments of this call were cut off after ${malformed.length} characters. Call the tool again with shorter arguments, in several calls if need be.`,
      { type: 'cut_off', message: 'the arguments were cut off at the limit of output tokens' },
    );
  if (malformed !== undefined)
    return wrong(`The arguments are not a JSON object: ${malformed.slice(0, 200)}`, { type: 'bad_arguments' });
  const tool = tools.find((t) => t.name === call.name);
  if (tool === undefined) {
    const names = tools.map((t) => t.name);
    const near = didYouMean(call.name, names);
    return wrong(
      `There is no tool ${JSON.stringify(call.name)}${near === undefined ? '.' : `; did you mean ${near}?`} The tools are: ${names.join(', ') || 'none'}.`,
      { type: 'unknown_tool', message: 'the tool does not exist' },
    );
  }
  using deadline = new Deadline(context.signal, tool.timeoutMs);
  const { signal } = deadline;
  try {
    // If the tool ends soon after the abort, its result replaces the deadline's outcome.
    const outcome = tool.execute(call.arguments, { ...context, signal }).then(spoken);
    const first = await Promise.race([outcome, deadline.over.then((late) => Promise.race([outcome, graceful(late)]))]);
    return deadline.passed && first.isError === true ? { ...deadline.timedOut, content: first.content } : first;
  } catch (error) {
    if (deadline.passed) return deadline.timedOut;
    const timeout = error instanceof Error && error.name === 'TimeoutError';
    const type = timeout ? 'timeout' : error instanceof Error && error.name !== 'Error' ? error.name : 'error';
    return spoken(wrong(error instanceof Error ? error.message : String(error), { type }));
  }
}

/** Aborts a call when its batch is aborted, or after the call's time limit. */
class Deadline implements Disposable {
  readonly signal: AbortSignal;
  /** After the abort, resolves to the outcome for a tool that is still running. */
  readonly over: Promise<ToolOutcome>;
  passed = false;
  readonly #own = new AbortController();
  readonly #batch: AbortSignal;
  readonly #timeoutMs: number;
  readonly #timer: NodeJS.Timeout | undefined;
  readonly #interrupted: () => void;

  constructor(batch: AbortSignal, timeoutMs: number | undefined) {
    this.#batch = batch;
    this.#timeoutMs = timeoutMs ?? 0;
    this.signal = this.#own.signal;
    const over = Promise.withResolvers<ToolOutcome>();
    this.over = over.promise;
    this.#interrupted = () => {
      over.resolve(wrong('Not finished: interrupted.'));
      this.#own.abort(batch.reason);
    };
    if (batch.aborted) this.#interrupted();
    else batch.addEventListener('abort', this.#interrupted, { once: true });
    if (timeoutMs !== undefined && !batch.aborted)
      this.#timer = setTimeout(() => {
        this.passed = true;
        over.resolve(this.timedOut);
        this.#own.abort(new DOMException(`timeout after ${plainDuration(timeoutMs)}`, 'TimeoutError'));
      }, timeoutMs);
  }

  get timedOut(): ToolOutcome {
    const message = `timeout after ${plainDuration(this.#timeoutMs)}`;
    return wrong(`Not finished: ${message}.`, { type: 'timeout', message, timeoutMs: this.#timeoutMs });
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#timer);
    this.#batch.removeEventListener('abort', this.#interrupted);
  }
}

/**
 * Returns how a call ended, for listeners. An error after the agent aborted the call counts as `interrupted`, not as a failure.
 */
function endOf({ content, isError, failure }: ToolOutcome, signal: AbortSignal): CallEnd {
  if (isError !== true) return { kind: 'success', resultLength: content.length };
  if (signal.aborted) return { kind: 'interrupted' };
  return { kind: 'failed', failure: { message: content, type: 'tool_error', ...failure } };
}

const GRACE_MS = 250;
const graceful = (late: ToolOutcome): Promise<ToolOutcome> =>
  new Promise((resolve) => setTimeout(resolve, GRACE_MS, late).unref());
/** Adds a text to an error without text, because Anthropic refuses such an error. */
const spoken = (outcome: ToolOutcome): ToolOutcome =>
  outcome.isError && outcome.content.trim() === '' ? { ...outcome, content: 'Failed, without a reason.' } : outcome;
const wrong = (content: string, failure?: ToolOutcome['failure']): ToolOutcome => ({
  content,
  isError: true,
  ...defined({ failure }),
});
