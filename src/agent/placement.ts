/**
 * Places notifications in a request, by the provider's API. No other module knows these rules.
 *
 * - Anthropic, Gemini: a user text part after all results of the batch. Never role system: such a message would move to the top
 *   of the request and change the prefix that the provider has cached.
 * - OpenAI: a separate message after the whole batch, with role system. The provider package sends this message as `developer` to
 *   model families that accept that role. Never a second part of a result: on the chat API, such a part becomes JSON inside the
 *   tool's text.
 * - Others: user text, which every chat API accepts.
 */
import type { LanguageModelV4Message, LanguageModelV4TextPart, SharedV4ProviderOptions } from '@ai-sdk/provider';

export interface Placement {
  /** Makes the messages after the results of a whole batch. `n` counts the earlier views of this kind in the conversation. */
  afterTools(view: string, n: number): readonly LanguageModelV4Message[];
  /** Makes the messages for a request of a person (or of the agent itself) with its notifications. */
  request(content: readonly LanguageModelV4TextPart[], view: string | undefined): readonly LanguageModelV4Message[];
  /** Whether consecutive user messages become one message of several parts, because the API needs alternating roles. */
  readonly alternates?: true;
}

export type Family = 'openai' | 'anthropic' | 'google' | 'other';

/**
 * Returns the provider's family from `model.provider`: `openai.chat`, `openai.responses`, `anthropic.messages`,
 * `google.generative-ai` …
 */
export function familyOf(provider: string): Family {
  if (/^(openai|azure)\b/.test(provider)) return 'openai';
  if (/anthropic/.test(provider)) return 'anthropic';
  if (/^(google|vertex)/.test(provider)) return 'google';
  return 'other';
}

export function placementOf(family: Family): Placement {
  if (family === 'openai') return besides;
  // The Anthropic package joins consecutive user messages itself.
  return family === 'google' ? { ...within, alternates: true } : within;
}

/** Puts notifications into the user's message as a part, or into a user message after results. */
const within: Placement = {
  afterTools: (view) => [{ role: 'user', content: [{ type: 'text', text: view }] }],
  request: (content, view) => [
    { role: 'user', content: view === undefined ? [...content] : [...content, { type: 'text', text: view }] },
  ],
};

/** Puts notifications into a separate message. */
const besides: Placement = {
  afterTools: (view) => [{ role: 'system', content: view }],
  request: (content, view) => [
    ...(content.length > 0 || view === undefined ? [{ role: 'user' as const, content: [...content] }] : []),
    ...(view === undefined ? [] : [{ role: 'system' as const, content: view }]),
  ],
};

/**
 * Makes a placement that adds notifications after tools as one more tool call, with its result. This placement is for
 * models that follow a separate transcript entry better than user text. This placement is off by default, because the model never
 * made this call. Do not use this placement for Anthropic models with thinking: such models refuse a call without signed thinking
 * before the call.
 */
export const syntheticTool = (base: Placement, name = '_system_notification'): Placement => ({
  ...base,
  afterTools: (view, n) => [
    { role: 'assistant', content: [{ type: 'tool-call', toolCallId: `notif_${n}`, toolName: name, input: {} }] },
    {
      role: 'tool',
      content: [{ type: 'tool-result', toolCallId: `notif_${n}`, toolName: name, output: { type: 'text', value: view } }],
    },
  ],
});

/**
 * Returns the provider options that let the log alone rebuild each request: the provider stores no state, and the answer contains
 * encrypted reasoning.
 */
export function callOptionsOf(family: Family): SharedV4ProviderOptions {
  return family === 'openai' ? { openai: { store: false, include: ['reasoning.encrypted_content'] } } : {};
}
