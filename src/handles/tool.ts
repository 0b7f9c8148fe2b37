/**
 * A tool as the agent's loop calls it. Whatever can be called by a model is one of these: built-in ones, a program's own,
 * an MCP server's, a stateful one behind its handles.
 */
import type { Json } from '../core/json.ts';

export type Tool = {
  readonly name: string;
  readonly description: string;
  /** JSON Schema of the arguments, an object. */
  readonly inputSchema: { readonly [key: string]: Json };
  /** After so long its call is given up: `signal` aborts, and the model is told. Default: it may take as long as it likes. */
  readonly timeoutMs?: number;
  /**
   * Called when the model asked for it, with arguments that are JSON but not checked. Must not throw for what the model
   * did wrong: that is an outcome with `isError`. What it throws all the same becomes one. Should end soon after `signal`
   * aborts; its outcome is then not waited for.
   */
  execute(args: Json, call: ToolCall): Promise<ToolOutcome>;
};

export type ToolCall = {
  readonly id: string;
  readonly signal: AbortSignal;
  /** All calls of this batch, in the order of the model; some may have ended. */
  readonly batch: readonly { readonly id: string; readonly name: string; readonly args: Json }[];
  /** What is shown to a person while it runs (a process's output). Never reaches the model. */
  progress(text: string): void;
};

export type ToolOutcome = {
  readonly content: string;
  readonly isError?: boolean;
  /** With `isError`, what kind of failure it is, for whoever watches; the model reads `content`. Type "timeout" is one. */
  readonly failure?: { readonly type: string; readonly message?: string; readonly timeoutMs?: number };
  /** What the agent knows by this result (`handle:build`, `file:/a/b`), so that no notification tells it again. */
  readonly knows?: readonly string[];
};
