/** The messages between the engine and its worker: one question at a time, each answered once. */

/** `context` is JSON text, because making it also checks its size. */
export type Question =
  | { readonly kind: 'render'; readonly text: string; readonly context: string }
  | { readonly kind: 'evaluate'; readonly expression: string; readonly context: string }
  | { readonly kind: 'check'; readonly text: string }
  | { readonly kind: 'check_expression'; readonly expression: string };

export type Answer =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'value'; readonly value: boolean }
  | { readonly kind: 'fine' }
  /** The template or the expression has an error. Lines start at 1. */
  | { readonly kind: 'wrong'; readonly complaint: Complaint }
  /** The same, and the worker cannot be used again. */
  | { readonly kind: 'broken'; readonly complaint: Complaint };

/** The problem, for people. `line` starts at 1, if it is known. */
export type Complaint = { readonly line?: number; readonly message: string };

export type Limits = {
  /** Steps of a template. A loop costs at least one step each round. */
  readonly fuel: number;
  /** The longest result. */
  readonly maxChars: number;
  readonly memoryMb: number;
};

export type WorkerData = {
  readonly limits: Limits;
  /** One `BigInt64`: when the worker began its current question (`process.hrtime`), 0 before that. */
  readonly begun: SharedArrayBuffer;
};
