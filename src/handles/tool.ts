/**
 * A tool for the agent's loop. All tools for a model have this type: built-in ones, a program's own, an MCP server's, and
 * stateful ones with handles.
 */
import type { Json } from '../core/json.ts';

export type Tool = {
  readonly name: string;
  readonly description: string;
  /** JSON Schema of the arguments, an object. */
  readonly inputSchema: { readonly [key: string]: Json };
  /** The time limit of a call: `signal` aborts, and the model gets an error. Default: no limit. */
  readonly timeoutMs?: number;
  /**
   * Called with arguments that are JSON but not checked. Must not throw for a mistake of the model: return an outcome with
   * `isError`. A thrown error becomes such an outcome. It should end soon after `signal` aborts; nobody waits for its outcome
   * then.
   */
  execute(args: Json, call: ToolCall): Promise<ToolOutcome>;
};

export type ToolCall = {
  readonly id: string;
  readonly signal: AbortSignal;
  /** All calls of this batch, in the order of the model; some may have ended. */
  readonly batch: readonly { readonly id: string; readonly name: string; readonly args: Json }[];
  /** Output that a person sees while it runs. Never reaches the model. */
  progress(text: string): void;
};

export type ToolOutcome = {
  readonly content: string;
  readonly isError?: boolean;
  /** With `isError`: the kind of failure, for listeners; the model reads only `content`. One type is "timeout". */
  readonly failure?: { readonly type: string; readonly message?: string; readonly timeoutMs?: number };
  /** The facts that this result shows the agent (`handle:build`, `file:/a/b`), so that no notification repeats them. */
  readonly knows?: readonly string[];
};
