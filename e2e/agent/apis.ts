/** Lists the APIs that an agent is tested on, each through the provider package that users install. */
import type { LanguageModelV4, SharedV4ProviderOptions } from '@ai-sdk/provider';

export const APIS = ['openai-chat', 'openai-responses', 'anthropic', 'gemini', 'openai-compatible'] as const;
export type Api = (typeof APIS)[number];

/**
 * Returns a model with a name that its package knows, because the requests depend on the model family: reasoning, thinking,
 * signatures. Loads only the needed package, because some tests start many processes.
 */
export async function modelOf(api: Api, url: string, fetch = globalThis.fetch): Promise<LanguageModelV4> {
  const apiKey = 'dummy';
  switch (api) {
    case 'openai-chat':
    case 'openai-responses': {
      const { createOpenAI } = await import('@ai-sdk/openai');
      const provider = createOpenAI({ apiKey, fetch, baseURL: `${url}/v1` });
      return api === 'openai-chat' ? provider.chat('gpt-4.1') : provider.responses('gpt-5');
    }
    case 'anthropic': {
      const { createAnthropic } = await import('@ai-sdk/anthropic');
      return createAnthropic({ apiKey, fetch, baseURL: `${url}/v1` }).messages('claude-sonnet-4-5');
    }
    case 'gemini': {
      const { createGoogleGenerativeAI } = await import('@ai-sdk/google');
      return createGoogleGenerativeAI({ apiKey, fetch, baseURL: `${url}/v1beta` }).languageModel('gemini-3-pro-preview');
    }
    case 'openai-compatible': {
      const { createOpenAICompatible } = await import('@ai-sdk/openai-compatible');
      return createOpenAICompatible({ name: 'ollama', apiKey, fetch, baseURL: `${url}/v1` }).chatModel('qwen3');
    }
  }
}

/** Turns reasoning on where it is off by default. */
export const THINKING: SharedV4ProviderOptions = { anthropic: { thinking: { type: 'enabled', budgetTokens: 1024 } } };
