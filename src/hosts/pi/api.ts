/** Declares the part of pi 0.87's extension API that Earpiece's extension uses. */

/** A message of an extension, which the model reads as a user message. */
export type CustomMessage = {
  readonly customType: string;
  readonly content: string;
  /** Whether the person also sees the message. */
  readonly display: boolean;
  readonly details?: Readonly<Record<string, unknown>>;
};

export type Entry = {
  readonly id: string;
  readonly type: string;
  readonly customType?: string;
  readonly details?: unknown;
  readonly message?: {
    readonly role?: string;
    readonly customType?: string;
    readonly details?: unknown;
    readonly content?: unknown;
  };
};

export type Context = {
  readonly mode: 'tui' | 'rpc' | 'json' | 'print';
  readonly hasUI: boolean;
  readonly cwd: string;
  readonly ui: { notify(text: string, kind?: 'info' | 'warning' | 'error'): void };
  readonly sessionManager: {
    getSessionId(): string;
    getSessionFile(): string | undefined;
    getBranch(): readonly Entry[];
  };
  isIdle(): boolean;
  abort(): void;
};

export type Boundary = {
  readonly entries: readonly unknown[];
  readonly outcome: 'completed' | 'aborted' | 'error';
  readonly continue?: boolean;
};
type BoundaryResult = { readonly entries: readonly unknown[]; readonly continue?: boolean };
type ToolResult = { readonly toolName?: string; readonly toolCallId?: string };

type Maybe<T> = Promise<T | undefined | void> | T | undefined | void;

export type Pi = {
  on(event: 'session_start', handler: (event: unknown, ctx: Context) => Maybe<never>): void;
  on(event: 'session_shutdown', handler: (event: unknown, ctx: Context) => Maybe<never>): void;
  on(event: 'session_compact', handler: (event: unknown, ctx: Context) => Maybe<never>): void;
  on(
    event: 'before_agent_start',
    handler: (event: { readonly prompt: string }, ctx: Context) => Maybe<{ readonly message: CustomMessage }>,
  ): void;
  on(event: 'turn_start', handler: (event: unknown, ctx: Context) => Maybe<never>): void;
  on(
    event: 'message_start',
    handler: (event: { readonly message: { readonly role?: string } }, ctx: Context) => Maybe<never>,
  ): void;
  on(
    event: 'tool_call',
    handler: (
      event: { readonly toolName: string; readonly toolCallId: string },
      ctx: Context,
    ) => Maybe<{ readonly block: true; readonly reason: string }>,
  ): void;
  on(
    event: 'turn_end',
    handler: (event: Boundary & { readonly toolResults: readonly ToolResult[] }, ctx: Context) => Maybe<BoundaryResult>,
  ): void;
  on(event: 'agent_before_settle', handler: (event: Boundary, ctx: Context) => Maybe<BoundaryResult>): void;
  on(event: 'agent_settled', handler: (event: unknown, ctx: Context) => Maybe<never>): void;
  sendUserMessage(content: string, options?: { readonly deliverAs?: 'steer' | 'followUp' }): void;
};
