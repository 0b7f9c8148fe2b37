/** What an agent is made of, and how a turn of it ends. */
import type { LanguageModelV4, SharedV4ProviderOptions } from '@ai-sdk/provider';
import type { Emitter } from '../core/event.ts';
import type { NotificationId } from '../core/notification.ts';
import type { Tool } from '../handles/tool.ts';
import type { Inbox } from '../inbox/index.ts';
import type { Placement } from './placement.ts';
import type { BudgetOptions } from './watching/budget.ts';

export type AgentOptions = AgentSettings & {
  readonly earpiece: Inbox & { readonly bus?: Emitter };
  /** Where it tells what happens to it: tools that fail, what is used up, loops … Default: the bus of `earpiece`, if it has one. */
  readonly emitter?: Emitter;
};

export type AgentSettings = {
  readonly model: LanguageModelV4;
  /** `project/agent#conversation`; without a conversation it is the agent's main one. */
  readonly address: string;
  readonly tools?: readonly Tool[];
  readonly system?: string;
  readonly purpose?: string;
  /** Requests to the model in one turn. Default 100. */
  readonly maxCycles?: number;
  /** Tries after the first for what passes (rate limits, overload, broken connections). Default 4. */
  readonly maxRetries?: number;
  /** The longest wait that a provider's `retry-after` may ask for; the turn fails when it asks for more. Default 60,000 ms. */
  readonly maxRetryAfterMs?: number;
  readonly maxOutputTokens?: number;
  /**
   * What one turn may use; it is warned before that is over. A turn that has used more tokens is told so at once
   * (critical) and answers once more: calls in that answer are not run, and the turn has failed. Default: no limits.
   */
  readonly budget?: BudgetOptions;
  readonly providerOptions?: SharedV4ProviderOptions;
  /** Where notifications stand in requests. Default: by the model's provider. */
  readonly placement?: Placement;
  /** Called when a turn is about to end by itself: background tools may ask, wait or end. */
  readonly onTurnEnd?: (turn: TurnEnding) => Promise<{ readonly again?: boolean } | void>;
  /** From 0 to 1, for the spread of retries. */
  readonly chance?: () => number;
  /** What goes wrong beside the conversation (an event that nobody could be told). Default: a warning of the process. */
  readonly onTrouble?: (error: unknown) => void;
};

/** A turn that is about to end by itself. With `again` the answer gets one more cycle, if something is due for it. */
export type TurnEnding = {
  readonly signal: AbortSignal;
  /** Asks the model aside: the question and its answer stay out of the conversation. Rejects when there is no answer. */
  readonly ask: (question: string) => Promise<string>;
};

export type TurnResult = {
  /**
   * `complete`: the model ended its answer by itself. `truncated`: its answer reached the limit of output tokens. `refused`:
   * the model or a filter of its provider declined. `stopped`: a person or a signal ended the turn. `failed`: there is no
   * answer. `error` says more for `truncated`, `refused` and `failed`.
   */
  readonly how: 'complete' | 'truncated' | 'refused' | 'stopped' | 'failed';
  readonly text: string;
  readonly cycles: number;
  readonly error?: string;
  /** What waited when a person stopped the turn: it stays open and is not replayed by itself. */
  readonly handedBack: readonly NotificationId[];
};
