/**
 * Declares the types of the AI SDK that the adapter reads and writes. These types are the same in the major versions 6 and 7. The
 * package `ai` is not imported, so that one build works with both versions.
 */

export type Message = { readonly role: string; readonly content: unknown };

export type TextPart = { readonly type: 'text'; readonly text: string };

/** A tool of the AI SDK. The adapter wraps only `execute` and `toModelOutput`. */
export type SdkTool = {
  readonly execute?: ((input: never, options: never) => unknown) | undefined;
  readonly toModelOutput?: ((options: never) => unknown) | undefined;
};

/** A tool as the adapter calls it. */
export type CallableTool = {
  readonly execute?: (input: unknown, options: ToolCallOptions) => unknown;
  readonly toModelOutput?: (options: { toolCallId: string; input: unknown; output: unknown }) => unknown;
};

export type ToolCallOptions = {
  readonly toolCallId: string;
  /** The messages of the request that led to this call. */
  readonly messages: readonly Message[];
  readonly abortSignal?: AbortSignal | undefined;
};

/** A tool's result in the form that the model reads. */
export type ModelOutput =
  | { readonly type: 'text' | 'error-text'; readonly value: string; readonly providerOptions?: unknown }
  | { readonly type: 'json' | 'error-json'; readonly value: unknown; readonly providerOptions?: unknown }
  | { readonly type: 'content'; readonly value: readonly unknown[] }
  | { readonly type: 'execution-denied'; readonly reason?: string };

export type Step = {
  readonly text?: string;
  readonly response: { readonly messages?: readonly Message[] };
};

export type OnStep = (step: Step) => unknown;

/** The settings of a call that the adapter reads or replaces. Other settings pass unchanged. */
export type CallOptions = {
  readonly model?: Model | undefined;
  readonly tools?: Readonly<Record<string, SdkTool>> | undefined;
  readonly prompt?: string | readonly Message[] | undefined;
  readonly messages?: readonly Message[] | undefined;
  readonly abortSignal?: AbortSignal | undefined;
  readonly onStepFinish?: OnStep | undefined;
  readonly onStepEnd?: OnStep | undefined;
};

/** A model as an object, or its name at the SDK's gateway. */
export type Model = string | { readonly provider?: string; readonly modelId?: string };

/** A `ToolLoopAgent`. Its types hide `settings`. */
export type Agent = {
  readonly tools?: Readonly<Record<string, SdkTool>> | undefined;
  readonly settings?: { readonly model?: Model } | undefined;
};

export type StreamPart = { readonly type: string; readonly text?: string; readonly error?: unknown };

export type StreamResult = { readonly fullStream: AsyncIterable<StreamPart> };
