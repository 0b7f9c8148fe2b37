import type { Conversation, Identity } from '../../inbox/index.ts';
import type { OwnCall, OwnTool } from './rider.ts';

/** Own tools that whoever starts the gateway adds to those of the inbox. They pass every gate. */
export type Toolbox = {
  readonly tools: readonly OwnTool[];
  /** In the name of the connection's conversation. Throws what the caller did wrong, as a sentence for it. */
  answer(call: OwnCall, caller: { readonly conversation: Conversation; readonly identity: Identity }): Promise<BoxAnswer>;
};

export type BoxAnswer = {
  readonly text: string;
  /** Notifications may ride on this answer. Default: no. */
  readonly carries?: boolean;
  /** What the text itself delivers. */
  readonly delivery?: { confirm(): Promise<unknown>; release(): Promise<unknown> };
};
