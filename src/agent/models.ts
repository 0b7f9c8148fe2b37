/**
 * Opens a model by its name: `openai:gpt-5`, `anthropic:claude-sonnet-5`, `google:gemini-3-pro`, `ollama:qwen3`. The provider's
 * package is loaded on first use. Keys and URLs come from environment variables, usually with the names that the provider's own
 * tools use.
 */
import type { LanguageModelV4 } from '@ai-sdk/provider';
import { defined } from '../core/defined.ts';
import { didYouMean, EarpieceError } from '../core/errors.ts';
import { addPackages } from '../input/add-package.ts';

export type Env = Readonly<Record<string, string | undefined>>;

type Provider = {
  readonly package: string;
  readonly says: string;
  /** The environment variables for the key. The first variable that is set is used. Empty if no key is needed. */
  readonly keys: readonly string[];
  open(model: string, env: Env, key: string): Promise<LanguageModelV4>;
};

export const PROVIDERS: Readonly<Record<string, Provider>> = {
  openai: {
    package: '@ai-sdk/openai',
    says: 'OpenAI, Responses API',
    keys: ['OPENAI_API_KEY'],
    open: async (model, env, apiKey) =>
      (await import('@ai-sdk/openai')).createOpenAI({ apiKey, ...baseURL(env['OPENAI_BASE_URL']) }).responses(model),
  },
  'openai-chat': {
    package: '@ai-sdk/openai',
    says: 'OpenAI, Chat Completions',
    keys: ['OPENAI_API_KEY'],
    open: async (model, env, apiKey) =>
      (await import('@ai-sdk/openai')).createOpenAI({ apiKey, ...baseURL(env['OPENAI_BASE_URL']) }).chat(model),
  },
  anthropic: {
    package: '@ai-sdk/anthropic',
    says: 'Anthropic, Messages API',
    keys: ['ANTHROPIC_API_KEY'],
    open: async (model, env, apiKey) =>
      (await import('@ai-sdk/anthropic')).createAnthropic({
        apiKey,
        ...baseURL(env['ANTHROPIC_BASE_URL'] && `${env['ANTHROPIC_BASE_URL'].replace(/\/v1\/?$/, '')}/v1`),
      })(model),
  },
  google: {
    package: '@ai-sdk/google',
    says: 'Google, Gemini API',
    keys: ['GOOGLE_GENERATIVE_AI_API_KEY', 'GEMINI_API_KEY'],
    open: async (model, env, apiKey) =>
      (await import('@ai-sdk/google')).createGoogleGenerativeAI({
        apiKey,
        ...baseURL(env['GOOGLE_GEMINI_BASE_URL'] && `${env['GOOGLE_GEMINI_BASE_URL']}/v1beta`),
      })(model),
  },
  ollama: {
    package: '@ai-sdk/openai-compatible',
    says: 'Ollama on this machine, or at the host in OLLAMA_HOST',
    keys: [],
    open: async (model, env) =>
      (await import('@ai-sdk/openai-compatible')).createOpenAICompatible({ name: 'ollama', baseURL: `${ollamaHost(env)}/v1` })(
        model,
      ),
  },
  compatible: {
    package: '@ai-sdk/openai-compatible',
    says: 'any server with the OpenAI chat API, at OPENAI_COMPATIBLE_BASE_URL',
    keys: [],
    open: async (model, env) => {
      const url = env['OPENAI_COMPATIBLE_BASE_URL'];
      if (!url)
        throw new EarpieceError(
          'bad_config',
          `model "compatible:${model}" needs the URL of its server in OPENAI_COMPATIBLE_BASE_URL, e.g. http://127.0.0.1:8080/v1`,
        );
      const apiKey = env['OPENAI_COMPATIBLE_API_KEY'];
      return (await import('@ai-sdk/openai-compatible')).createOpenAICompatible({
        name: 'compatible',
        baseURL: url,
        ...defined({ apiKey }),
      })(model);
    },
  },
};

/** Opens a model. Throws `bad_argument` for an invalid name, and `bad_config` for a missing API key, URL or package. */
export async function openModel(name: string, env: Env): Promise<LanguageModelV4> {
  const colon = name.indexOf(':');
  const [providerName, model] = [name.slice(0, Math.max(colon, 0)), name.slice(colon + 1)];
  const provider = Object.hasOwn(PROVIDERS, providerName) ? PROVIDERS[providerName] : undefined;
  if (provider === undefined || model === '') {
    const near = didYouMean(providerName === '' ? name : providerName, Object.keys(PROVIDERS));
    throw new EarpieceError(
      'bad_argument',
      `model ${JSON.stringify(name)} is not "provider:model"${near === undefined ? '' : `, did you mean ${near}:…?`}; providers are ${Object.keys(PROVIDERS).join(', ')}`,
    );
  }
  const key = provider.keys.map((variable) => env[variable]).find((value) => value !== undefined && value !== '');
  if (provider.keys.length > 0 && key === undefined)
    throw new EarpieceError(
      'bad_config',
      `model ${JSON.stringify(name)} needs an API key in the environment variable ${provider.keys.join(' or ')}`,
    );
  try {
    return checkModel(await provider.open(model, env, key ?? ''), `${provider.package} is too old`);
  } catch (cause) {
    if (cause instanceof EarpieceError || (cause as NodeJS.ErrnoException).code !== 'ERR_MODULE_NOT_FOUND') throw cause;
    throw new EarpieceError(
      'bad_config',
      `model ${JSON.stringify(name)} needs the package ${provider.package}, which is not installed: ${addPackages([provider.package])}`,
      { cause },
    );
  }
}

const baseURL = (url: string | undefined): { baseURL: string } | Record<string, never> =>
  url ? { baseURL: url.replace(/\/$/, '') } : {};

function ollamaHost(env: Env): string {
  const host = env['OLLAMA_HOST'] ?? '127.0.0.1:11434';
  return (/^https?:\/\//.test(host) ? host : `http://${host}`).replace(/\/$/, '');
}

/** Returns the model unchanged. Throws `bad_argument` unless the model has version `v4`, which AI SDK 7 introduced. */
export function checkModel(model: LanguageModelV4, why: string): LanguageModelV4 {
  const version: unknown = typeof model === 'object' && model !== null ? model.specificationVersion : undefined;
  if (version === 'v4') return model;
  const got = typeof model === 'string' ? `the text ${JSON.stringify(model)}` : `a model of version ${String(version)}`;
  throw new EarpieceError(
    'bad_argument',
    `${why}: the agent needs a model of AI SDK 7 (version v4), got ${got}; use openModel("openai:gpt-5", process.env), or a provider's package of AI SDK 7`,
  );
}
