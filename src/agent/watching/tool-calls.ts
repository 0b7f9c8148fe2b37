/**
 * Makes the events about the tools that a model called. A call that was not interrupted ends as exactly one of success, failure
 * and timeout.
 */
import type { Json } from '../../core/json.ts';
import { cut, plainDuration, seen, type Seen } from './seen.ts';

/** Why a call failed. `type`: "timeout", "unknown_tool", the name of the error, … */
export type CallFailure = { readonly type: string; readonly message: string; readonly timeoutMs?: number };

/** `interrupted` means that the call was ended with its turn or its batch, so its tool is not the cause. */
export type CallEnd =
  | { readonly kind: 'success'; readonly resultLength: number }
  | { readonly kind: 'failed'; readonly failure: CallFailure }
  | { readonly kind: 'interrupted' };

export type ToolUse = { readonly id: string; readonly name: string; readonly args: Json };

/**
 * The maximum number of characters of a tool's error, and how many of these characters are its end. The beginning usually names
 * the error, and many programs print the error at the end.
 */
const ERROR_CHARS = 300;
const END_CHARS = 100;
/** The maximum number of characters of arguments in an event. Longer arguments are left out. */
const ARGUMENT_CHARS = 2_000;

/** Counts the calls of one turn, the repeated failures of a call, and the consecutive failures of a tool. */
export class ToolCalls {
  readonly #failed = new Map<string, number>();
  /** The number of consecutive failures of each tool. */
  readonly #inARow = new Map<string, number>();
  count = 0;

  begin(): void {
    this.#failed.clear();
    this.#inARow.clear();
    this.count = 0;
  }

  pending({ id, name, args }: ToolUse): Seen {
    this.count += 1;
    const fits = JSON.stringify(args).length <= ARGUMENT_CHARS;
    return seen(`\`${name}\` is called`, {
      type: 'tool.call.pending',
      severity: 'info',
      data: { tool_name: name, call_id: id, ...(fits ? { arguments: args } : {}) },
    });
  }

  ended({ id, name, args }: ToolUse, end: CallEnd, durationMs: number): readonly Seen[] {
    if (end.kind === 'interrupted') return [];
    const call = { tool_name: name, call_id: id };
    if (end.kind === 'success') {
      this.#inARow.delete(name);
      return [
        seen(`\`${name}\` answered after ${plainDuration(durationMs)}`, {
          type: 'tool.call.success',
          severity: 'info',
          data: { ...call, duration_ms: durationMs, result_length: end.resultLength },
        }),
      ];
    }
    const { type, message, timeoutMs = durationMs } = end.failure;
    const same = `${name} ${JSON.stringify(args)}`;
    const retries = this.#failed.get(same) ?? 0;
    this.#failed.set(same, retries + 1);
    const failures = (this.#inARow.get(name) ?? 0) + 1;
    this.#inARow.set(name, failures);
    const words = middleCut(message);
    if (type === 'timeout')
      return [
        seen(`\`${name}\` failed: timeout after ${plainDuration(timeoutMs)}`, {
          type: 'tool.call.timeout',
          severity: 'warning',
          data: {
            ...call,
            error_type: 'timeout',
            error_message: words === '' ? `timeout after ${plainDuration(timeoutMs)}` : words,
            timeout_ms: timeoutMs,
            timeout_seconds: Math.round(timeoutMs / 100) / 10,
            retry_count: retries,
            failures,
          },
        }),
      ];
    return [
      seen(`\`${name}\` failed: ${words === '' ? type : words}`, {
        type: 'tool.call.failure',
        severity: 'error',
        data: {
          ...call,
          error_type: type,
          error_message: words === '' ? type : words,
          retry_count: retries,
          failures,
          duration_ms: durationMs,
        },
      }),
    ];
  }

  batch({ id, ends, durationMs }: { readonly id: string; readonly ends: readonly CallEnd[]; readonly durationMs: number }): Seen {
    const of = (kind: CallEnd['kind']): number => ends.filter((end) => end.kind === kind).length;
    const failures = of('failed');
    return seen(
      `${ends.length} call${ends.length === 1 ? '' : 's'} ended after ${plainDuration(durationMs)}, ${failures} of them failed`,
      {
        type: 'tool.batch.complete',
        severity: 'info',
        data: {
          batch_id: id,
          tool_count: ends.length,
          success_count: of('success'),
          failure_count: failures,
          total_duration_ms: durationMs,
        },
      },
    );
  }
}

function middleCut(text: string): string {
  const whole = cut(text, text.length);
  if (whole.length <= ERROR_CHARS) return whole;
  return `${cut(whole, ERROR_CHARS - END_CHARS)} ${whole.slice(1 - END_CHARS).toWellFormed()}`;
}
