/**
 * Prompt caching at Anthropic. Other providers cache a prefix by themselves. Anthropic caches the text up to the places that the
 * request marks, and looks back at most 20 blocks from each of them.
 *
 * Three of its four marks are used: after tools and system prompt; at the end of the last answered request, so that its cache
 * is found after a long batch too; and at the end, for the next request. The marks move forward; the text before them never
 * changes.
 */
import type { LanguageModelV4Message, LanguageModelV4Prompt, SharedV4ProviderOptions } from '@ai-sdk/provider';
import type { Family } from './placement.ts';

const MARK = { anthropic: { cacheControl: { type: 'ephemeral' } } } satisfies SharedV4ProviderOptions;

/** The prompt with its marks. Unchanged for other providers, and if the caller's `providerOptions` set caching. */
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

/** An answer may end in thinking, which takes no mark. */
const takesMark = ({ role, content }: LanguageModelV4Message): boolean =>
  (role === 'user' || role === 'tool') && content.length > 0;

const marked = (message: LanguageModelV4Message): LanguageModelV4Message => ({
  ...message,
  providerOptions: { ...message.providerOptions, ...MARK },
});
