/**
 * The messages between the engine and its worker. The engine asks one question at a time, and the worker answers each question
 * once.
 */

/** `context` is JSON text, whose size the engine has checked. */
export type Question =
  | { readonly kind: 'render'; readonly text: string; readonly context: string }
  | { readonly kind: 'evaluate'; readonly expression: string; readonly context: string }
  | { readonly kind: 'check'; readonly text: string }
  | { readonly kind: 'check_expression'; readonly expression: string };

export type Answer =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'value'; readonly value: boolean }
  | { readonly kind: 'fine' }
  /** The template or expression has an error. */
  | { readonly kind: 'wrong'; readonly complaint: Complaint }
  /** The template or expression has an error that broke the worker. */
  | { readonly kind: 'broken'; readonly complaint: Complaint };

/** A problem, worded for people. `line` starts at 1. `line` is missing if the line is unknown. */
export type Complaint = { readonly line?: number; readonly message: string };

export type Limits = {
  /** The maximum number of steps of a render. Each round of a loop costs at least one step. */
  readonly fuel: number;
  /** The longest result, in characters. */
  readonly maxChars: number;
  readonly memoryMb: number;
};

export type WorkerData = {
  readonly limits: Limits;
  /** One `BigInt64`: the time (`process.hrtime`) at which the worker began its current question. 0 before the first question. */
  readonly begun: SharedArrayBuffer;
};
