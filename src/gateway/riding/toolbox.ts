import type { Conversation, Identity } from '../../inbox/index.ts';
import type { OwnCall, OwnTool } from './rider.ts';

/** Extra own tools, added to those of the inbox by the code that starts the gateway. They pass every gate. */
export type Toolbox = {
  readonly tools: readonly OwnTool[];
  /** Runs the tool for the connection's conversation. Throws the caller's mistake as a sentence for the caller. */
  answer(call: OwnCall, caller: { readonly conversation: Conversation; readonly identity: Identity }): Promise<BoxAnswer>;
};

export type BoxAnswer = {
  readonly text: string;
  /** Notifications may ride on this answer. Default: no. */
  readonly carries?: boolean;
  /** The delivery that the text carries. */
  readonly delivery?: { confirm(): Promise<unknown>; release(): Promise<unknown> };
};
