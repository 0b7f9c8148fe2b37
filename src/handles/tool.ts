/**
 * A tool for the agent's loop. All tools for a model have this type: built-in tools, a program's own tools, tools of MCP servers,
 * and stateful tools with handles.
 */
import type { Json } from '../core/json.ts';

export type Tool = {
  readonly name: string;
  readonly description: string;
  /** The JSON Schema of the arguments, whose type must be an object. */
  readonly inputSchema: { readonly [key: string]: Json };
  /**
   * The time limit of a call. After this time, `signal` aborts, and the model gets an error, unless the tool still succeeds
   * within 250 ms. Default: no limit.
   */
  readonly timeoutMs?: number;
  /**
   * Runs the tool. The arguments are JSON, but not checked. For a mistake of the model, return an outcome with `isError`. A
   * thrown error becomes such an outcome. The function should end soon after `signal` aborts: Earpiece ignores an outcome that
   * arrives more than 250 ms later.
   */
  execute(args: Json, call: ToolCall): Promise<ToolOutcome>;
};

export type ToolCall = {
  readonly id: string;
  readonly signal: AbortSignal;
  /** All calls of this batch in the model's order. Some of these calls may have ended. */
  readonly batch: readonly { readonly id: string; readonly name: string; readonly args: Json }[];
  /** Shows output to a person while the tool runs. The model never reads this output. */
  progress(text: string): void;
};

export type ToolOutcome = {
  readonly content: string;
  readonly isError?: boolean;
  /**
   * The kind of failure, for listeners. For a timeout, the type is "timeout". Set this field together with `isError`. The model
   * reads only `content`.
   */
  readonly failure?: { readonly type: string; readonly message?: string; readonly timeoutMs?: number };
  /**
   * The facts that this result shows to the agent, such as `handle:build` or `file:/a/b`. An open notification about such a fact
   * closes as `known`.
   */
  readonly knows?: readonly string[];
};
