/**
 * Where notifications stand in a request, by the provider's wire. The one place that knows.
 *
 * - Anthropic, Gemini: a user text part after all results of the batch. Never role system: it is hoisted to the top of the
 *   request and changes the prefix that the provider has cached.
 * - OpenAI: a message of its own after the whole batch; role system, which the provider package sends as `developer` to
 *   model families that take it. Never a second part of a result: on chat it becomes JSON inside the tool's text.
 * - Others: user text, which every chat API takes.
 */
import type { LanguageModelV4Message, LanguageModelV4TextPart, SharedV4ProviderOptions } from '@ai-sdk/provider';

export interface Placement {
  /** Messages behind the results of a whole batch; `n` counts the views of this kind in the conversation, from 0. */
  afterTools(view: string, n: number): readonly LanguageModelV4Message[];
  /** A request of a person (or of us), with what rides on it. */
  request(content: readonly LanguageModelV4TextPart[], view: string | undefined): readonly LanguageModelV4Message[];
  /** User messages that follow each other are one message of several parts: the API wants the roles to alternate. */
  readonly alternates?: true;
}

export type Family = 'openai' | 'anthropic' | 'google' | 'other';

/** By `model.provider`: `openai.chat`, `openai.responses`, `anthropic.messages`, `google.generative-ai` … */
export function familyOf(provider: string): Family {
  if (/^(openai|azure)\b/.test(provider)) return 'openai';
  if (/anthropic/.test(provider)) return 'anthropic';
  if (/^(google|vertex)/.test(provider)) return 'google';
  return 'other';
}

export function placementOf(family: Family): Placement {
  if (family === 'openai') return besides;
  // The Anthropic package joins them itself.
  return family === 'google' ? { ...within, alternates: true } : within;
}

/** The text of notifications as a part of the user's message, or as a user message behind results. */
const within: Placement = {
  afterTools: (view) => [{ role: 'user', content: [{ type: 'text', text: view }] }],
  request: (content, view) => [
    { role: 'user', content: view === undefined ? [...content] : [...content, { type: 'text', text: view }] },
  ],
};

/** As a message of its own. */
const besides: Placement = {
  afterTools: (view) => [{ role: 'system', content: view }],
  request: (content, view) => [
    ...(content.length > 0 || view === undefined ? [{ role: 'user' as const, content: [...content] }] : []),
    ...(view === undefined ? [] : [{ role: 'system' as const, content: view }]),
  ],
};

/**
 * Seed 4's approach B: the notifications as a call of a tool that the model never made, and its result. For models that
 * keep a transcript entry of its own better in mind; off by default, since the pair is made up. Not for Anthropic models that
 * think: they refuse a call that no signed thinking stands before.
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

/** What each request needs so that the log alone can rebuild it: no state at the provider, encrypted reasoning in the answer. */
export function callOptionsOf(family: Family): SharedV4ProviderOptions {
  return family === 'openai' ? { openai: { store: false, include: ['reasoning.encrypted_content'] } } : {};
}
