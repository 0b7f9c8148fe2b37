/**
 * Sets cache breakpoints for Anthropic. Other providers cache a prefix by themselves. Anthropic caches the text up to each cache
 * breakpoint in the request. For cached text, Anthropic searches at most 20 blocks before a breakpoint.
 *
 * Anthropic allows four breakpoints, and three are used. The first breakpoint follows the tools and the system prompt. The second
 * breakpoint is at the end of the last answered request, so that its cached text is found even after a long batch. The third
 * breakpoint is at the end of this request, for the next request. The text before a breakpoint changes only in the cases that
 * `prompt.ts` names.
 */
import type { LanguageModelV4Message, LanguageModelV4Prompt, SharedV4ProviderOptions } from '@ai-sdk/provider';
import type { Family } from './placement.ts';

const MARK = { anthropic: { cacheControl: { type: 'ephemeral' } } } satisfies SharedV4ProviderOptions;

/**
 * Returns the prompt with cache breakpoints. For other providers, and if the caller's `providerOptions` set caching, the prompt
 * is unchanged.
 */
export function withCacheMarks(
  prompt: LanguageModelV4Prompt,
  { family, given }: { readonly family: Family; readonly given: SharedV4ProviderOptions | undefined },
): LanguageModelV4Prompt {
  if (family !== 'anthropic' || given?.['anthropic']?.['cacheControl'] !== undefined) return prompt;
  const answer = prompt.findLastIndex(({ role }) => role === 'assistant');
  const places = new Set([
    prompt.findLastIndex(({ role }) => role === 'system'),
    prompt.findLastIndex(takesMark),
    prompt.slice(0, Math.max(answer, 0)).findLastIndex(takesMark),
  ]);
  return prompt.map((message, i) => (places.has(i) ? marked(message) : message));
}

/** Whether a message can have a cache breakpoint. An answer cannot have a breakpoint, because the answer may end in thinking. */
const takesMark = ({ role, content }: LanguageModelV4Message): boolean =>
  (role === 'user' || role === 'tool') && content.length > 0;

const marked = (message: LanguageModelV4Message): LanguageModelV4Message => ({
  ...message,
  providerOptions: { ...message.providerOptions, ...MARK },
});
