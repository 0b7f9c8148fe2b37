/**
 * Makes the environment of a tool's process: the agent's environment without the keys of model providers and the secrets of
 * Earpiece. A tool gets such a variable only if the tool names the variable.
 */
export type Environment = Readonly<Record<string, string | undefined>>;

/** Variables that contain keys of model providers, or tokens, secrets or passwords of Earpiece. */
const SECRETS: readonly RegExp[] = [
  /^(OPENAI|OPENAI_COMPATIBLE|AZURE_OPENAI|ANTHROPIC|GEMINI|GOOGLE|GOOGLE_GENERATIVE_AI|OPENROUTER|MISTRAL|GROQ|XAI|DEEPSEEK|TOGETHER|FIREWORKS|COHERE|PERPLEXITY|CEREBRAS)_API_KEY$/,
  /^(ANTHROPIC_AUTH_TOKEN|CLAUDE_CODE_OAUTH_TOKEN|OPENAI_ADMIN_KEY)$/,
  /^EARPIECE_(.*_)?(TOKEN|SECRET|PASSWORD)$/,
];

export const isSecret = (name: string): boolean => SECRETS.some((pattern) => pattern.test(name));

/** Returns the environment without secrets, except those variables that `pass` names. */
export function withoutSecrets(env: Environment, pass: readonly string[] = []): Environment {
  return Object.fromEntries(
    Object.entries(env).filter(([name, value]) => value !== undefined && (pass.includes(name) || !isSecret(name))),
  );
}
