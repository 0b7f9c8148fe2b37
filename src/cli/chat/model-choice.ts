/** Chooses the model of Earpiece's own agent, and advises a person who has named no model. */
import { openModel, PROVIDERS } from '../../agent/index.ts';
import type { Env } from '../../config/index.ts';
import { EarpieceError } from '../../core/errors.ts';

export type Model = { readonly name: string; readonly model: Awaited<ReturnType<typeof openModel>> };

const OLLAMA_WITHIN_MS = 500;

/**
 * Opens the model with the first of these names that is set. Throws `bad_argument` if no name is set. The message lists the ways
 * to name a model.
 */
export async function chooseModel(names: readonly (string | undefined)[], env: Env): Promise<Model> {
  const name = names.find((each) => each !== undefined && each !== '');
  if (name === undefined) throw new EarpieceError('bad_argument', await noModel(env));
  return { name, model: await openModel(name, env) };
}

async function noModel(env: Env): Promise<string> {
  const known = new Map<string, string[]>();
  for (const [provider, { keys }] of Object.entries(PROVIDERS)) {
    const key = keys.find((variable) => env[variable]);
    if (key !== undefined) known.set(key, [...(known.get(key) ?? []), provider]);
  }
  const ollama = await ollamaModels(env);
  const here = [
    ...[...known].map(([key, providers]) => `${key} is set (${providers.join(', ')})`),
    ...(ollama === undefined
      ? []
      : [ollama.length === 0 ? 'Ollama runs here, without a model' : `Ollama runs here, with ${ollama.slice(0, 5).join(', ')}`]),
  ];
  const provider = [...known.values()][0]?.[0];
  const example =
    provider !== undefined
      ? `${provider}:${EXAMPLES[provider] ?? '<model>'}`
      : ollama?.[0] !== undefined
        ? `ollama:${ollama[0]}`
        : 'anthropic:claude-sonnet-5';
  const providers = Object.entries(PROVIDERS).map(
    ([name, { says, keys }]) =>
      `  ${`${name}:<model>`.padEnd(22)}${says}${keys.length === 0 ? '' : `; key in ${keys.join(' or ')}`}`,
  );
  return [
    'no model is chosen; choose a model in one of these ways:',
    `  --model ${example}`,
    `  EARPIECE_AGENT_MODEL=${example}`,
    `  [agent] model = "${example}"   in earpiece.toml`,
    `${here.length === 0 ? 'This environment has no API key of a provider, and Ollama does not answer.' : `${here.join('; ')}.`} Providers:`,
    ...providers,
  ].join('\n');
}

/** Example models of the providers, only for the advice. */
const EXAMPLES: Readonly<Record<string, string>> = {
  openai: 'gpt-5',
  'openai-chat': 'gpt-5',
  anthropic: 'claude-sonnet-5',
  google: 'gemini-3-pro-preview',
};

/** Lists the models of Ollama on this machine, or at OLLAMA_HOST. Returns undefined if Ollama does not answer. */
export async function ollamaModels(env: Env): Promise<readonly string[] | undefined> {
  const host = env['OLLAMA_HOST'] ?? '127.0.0.1:11434';
  try {
    const answer = await fetch(`${/^https?:\/\//u.test(host) ? host : `http://${host}`}/api/tags`, {
      signal: AbortSignal.timeout(OLLAMA_WITHIN_MS),
    });
    const { models } = (await answer.json()) as { models?: readonly { readonly name?: unknown }[] };
    return (models ?? []).flatMap(({ name }) => (typeof name === 'string' ? [name] : []));
  } catch {
    return undefined;
  }
}
