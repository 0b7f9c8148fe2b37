/** The APIs that an agent is tested on, each through the provider package that its users have. */
import { createAnthropic } from '@ai-sdk/anthropic';
import { createGoogleGenerativeAI } from '@ai-sdk/google';
import { createOpenAI } from '@ai-sdk/openai';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import type { LanguageModelV4, SharedV4ProviderOptions } from '@ai-sdk/provider';

export const APIS = ['openai-chat', 'openai-responses', 'anthropic', 'gemini', 'openai-compatible'] as const;
export type Api = (typeof APIS)[number];

/** Model names that the packages know, since what they send depends on the family: reasoning, thinking, signatures. */
export function modelOf(api: Api, url: string): LanguageModelV4 {
  const apiKey = 'dummy';
  switch (api) {
    case 'openai-chat':
      return createOpenAI({ apiKey, baseURL: `${url}/v1` }).chat('gpt-4.1');
    case 'openai-responses':
      return createOpenAI({ apiKey, baseURL: `${url}/v1` }).responses('gpt-5');
    case 'anthropic':
      return createAnthropic({ apiKey, baseURL: `${url}/v1` }).messages('claude-sonnet-4-5');
    case 'gemini':
      return createGoogleGenerativeAI({ apiKey, baseURL: `${url}/v1beta` }).languageModel('gemini-3-pro-preview');
    case 'openai-compatible':
      return createOpenAICompatible({ name: 'ollama', apiKey, baseURL: `${url}/v1` }).chatModel('qwen3');
  }
}

/** What turns reasoning on where it is off by default. */
export const THINKING: SharedV4ProviderOptions = { anthropic: { thinking: { type: 'enabled', budgetTokens: 1024 } } };
