/** Defines the options of an agent, and the result of a turn. */
import type { LanguageModelV4, SharedV4ProviderOptions } from '@ai-sdk/provider';
import type { Emitter } from '../core/event.ts';
import type { NotificationId } from '../core/notification.ts';
import type { Tool } from '../handles/tool.ts';
import type { Inbox } from '../inbox/index.ts';
import type { Placement } from './placement.ts';
import type { BudgetOptions } from './watching/budget.ts';

export type AgentOptions = AgentSettings & {
  readonly earpiece: Inbox & { readonly bus?: Emitter };
  /**
   * Emits the agent's events, such as failing tools, an exceeded budget or loops. Default: the bus of `earpiece`, if it has one.
   */
  readonly emitter?: Emitter;
};

export type AgentSettings = {
  readonly model: LanguageModelV4;
  /**
   * The agent's address, `project/agent#conversation`. Without a conversation, the address means the agent's main conversation.
   */
  readonly address: string;
  readonly tools?: readonly Tool[];
  readonly system?: string;
  readonly purpose?: string;
  /** The maximum number of requests to the model in one turn. Default 100. */
  readonly maxCycles?: number;
  /**
   * The maximum number of retries of a request after temporary failures (rate limits, overload, broken connections). Default 4.
   */
  readonly maxRetries?: number;
  /**
   * The longest wait that the agent accepts from a provider's `retry-after`. For a longer wait, the turn fails. Default 60,000
   * ms.
   */
  readonly maxRetryAfterMs?: number;
  readonly maxOutputTokens?: number;
  /**
   * The limits of one turn. The agent is warned before it reaches a limit. If a turn exceeds its token limit, the agent gets a
   * critical notification at once, and one more answer. If that answer calls tools, the tools do not run, and the turn fails.
   * Default: no limits.
   */
  readonly budget?: BudgetOptions;
  readonly providerOptions?: SharedV4ProviderOptions;
  /** The place of notifications in requests. The default depends on the model's provider. */
  readonly placement?: Placement;
  /**
   * Called when a turn is about to end by itself. The callback can await or end background tools, or ask the model about them.
   */
  readonly onTurnEnd?: (turn: TurnEnding) => Promise<{ readonly again?: boolean } | void>;
  /** Returns a random number from 0 to 1, which spreads retries in time. */
  readonly chance?: () => number;
  /**
   * Reports an error that no caller gets, such as a failed emit, or an error of the store in a turn that notifications began.
   * Default: emits a warning of the process.
   */
  readonly onTrouble?: (error: unknown) => void;
};

/** A turn that is about to end by itself. If the callback returns `again`, a due notification gives the turn one more cycle. */
export type TurnEnding = {
  readonly signal: AbortSignal;
  /**
   * Sends the model a separate request. Neither question nor answer becomes part of the conversation. Rejects if the model does
   * not answer, or if the tokens of the turn are used up.
   */
  readonly ask: (question: string) => Promise<string>;
};

export type TurnResult = {
  /**
   * How the turn ended. `error` has the details of `truncated`, `refused` and `failed`.
   *
   * - `complete`: the model ended its answer by itself.
   * - `truncated`: the answer reached the limit of output tokens.
   * - `refused`: the model or a filter of its provider declined to answer.
   * - `stopped`: a person or a signal ended the turn.
   * - `failed`: a request failed, or the turn reached its limit of requests or tokens.
   */
  readonly how: 'complete' | 'truncated' | 'refused' | 'stopped' | 'failed';
  readonly text: string;
  readonly cycles: number;
  readonly error?: string;
  /**
   * The notifications that were open when a person stopped the turn. These notifications stay open and do not wake the agent by
   * themselves.
   */
  readonly handedBack: readonly NotificationId[];
};
