import type { Conversation, Identity } from '../../inbox/index.ts';
import type { OwnCall, OwnTool } from './rider.ts';

/** Additional tools from the code that starts the gateway. Their calls pass every gate. */
export type Toolbox = {
  readonly tools: readonly OwnTool[];
  /** Runs the tool for the connection's conversation. If the caller made a mistake, throws an error that names the mistake. */
  answer(call: OwnCall, caller: { readonly conversation: Conversation; readonly identity: Identity }): Promise<BoxAnswer>;
};

export type BoxAnswer = {
  readonly text: string;
  /** Whether this answer may carry notifications. Default: no. Has no effect with `delivery`. */
  readonly carries?: boolean;
  /** The delivery that the text carries. */
  readonly delivery?: { confirm(): Promise<unknown>; release(): Promise<unknown> };
};
