/**
 * The environment of a tool's process: the agent's environment without keys and tokens. A tool that needs one of them gets it by
 * naming it.
 */
export type Environment = Readonly<Record<string, string | undefined>>;

/** Keys of model providers, and Earpiece tokens. */
const SECRETS: readonly RegExp[] = [
  /^(OPENAI|OPENAI_COMPATIBLE|AZURE_OPENAI|ANTHROPIC|GEMINI|GOOGLE|GOOGLE_GENERATIVE_AI|OPENROUTER|MISTRAL|GROQ|XAI|DEEPSEEK|TOGETHER|FIREWORKS|COHERE|PERPLEXITY|CEREBRAS)_API_KEY$/,
  /^(ANTHROPIC_AUTH_TOKEN|CLAUDE_CODE_OAUTH_TOKEN|OPENAI_ADMIN_KEY)$/,
  /^EARPIECE_(.*_)?(TOKEN|SECRET|PASSWORD)$/,
];

export const isSecret = (name: string): boolean => SECRETS.some((pattern) => pattern.test(name));

/** `pass`: names of variables to keep. */
export function withoutSecrets(env: Environment, pass: readonly string[] = []): Environment {
  return Object.fromEntries(
    Object.entries(env).filter(([name, value]) => value !== undefined && (pass.includes(name) || !isSecret(name))),
  );
}
