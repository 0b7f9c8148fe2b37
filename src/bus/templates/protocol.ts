/** What the engine and its worker say to each other: one question at a time, each answered once. */

/** `context` is JSON text: its size was checked by making it. */
export type Question =
  | { readonly kind: 'render'; readonly text: string; readonly context: string }
  | { readonly kind: 'evaluate'; readonly expression: string; readonly context: string }
  | { readonly kind: 'check'; readonly text: string }
  | { readonly kind: 'check_expression'; readonly expression: string };

export type Answer =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'value'; readonly value: boolean }
  | { readonly kind: 'fine' }
  /** The template or the expression is at fault. Lines count from 1. */
  | { readonly kind: 'wrong'; readonly complaint: Complaint }
  /** So is it, and the worker cannot be used again. */
  | { readonly kind: 'broken'; readonly complaint: Complaint };

/** What is wrong, for people; `line` from 1, where it is known. */
export type Complaint = { readonly line?: number; readonly message: string };

export type Limits = {
  /** Steps of a template; a loop costs at least one a round. */
  readonly fuel: number;
  /** Of a result. */
  readonly maxChars: number;
  readonly memoryMb: number;
};

export type WorkerData = {
  readonly limits: Limits;
  /** One `BigInt64`: when the worker began with the question in hand (`process.hrtime`), 0 while it has not. */
  readonly begun: SharedArrayBuffer;
};
