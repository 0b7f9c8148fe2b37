import { LLMock } from '@copilotkit/aimock';
import { nextStep, since, type NativeCall, type Script } from './script.ts';
import { startTap, type Order, type Recorded } from './tap.ts';

export interface MockOptions {
  readonly script: Script<NativeCall>;
  /**
   * The script starts after the last user message that contains this text. By default, the script starts with the conversation.
   */
  readonly from?: string | undefined;
  /**
   * The model waits for this function before it answers with the calls of a step, so the effects of the function precede the
   * client's calls.
   */
  readonly onToolStep?: (step: number) => void | Promise<void>;
  /** Milliseconds between the chunks of an answer. */
  readonly latency?: number;
}

export interface Mock extends AsyncDisposable {
  readonly url: string;
}

/**
 * Starts the scripted model, in the formats of OpenAI chat, OpenAI responses, Anthropic and Gemini. The mock has no state: the
 * mock derives the step from each request. A request without tools (a title, a summary) gets a fixed text and costs no step.
 */
export async function startMock({ script, from, onToolStep, latency = 0 }: MockOptions): Promise<Mock> {
  const mock = new LLMock({ port: 0, host: '127.0.0.1', logLevel: 'silent', chunkSize: 24, latency });
  mock.on({ predicate: () => true }, async (request) => {
    if (!request.tools?.length) return { content: 'ok' };
    const at = nextStep(since(request.messages, from), script);
    const step = script[at];
    if (!step) return { content: `SCRIPT-END after ${script.length} steps` };
    if (!step.calls?.length) return { content: step.text ?? '' };
    await onToolStep?.(at);
    const toolCalls = step.calls.map(({ name, namespace, args = {} }) => ({
      name: namespace ? `ns|${namespace}|${name}` : name,
      arguments: JSON.stringify(args),
    }));
    return step.text ? { content: step.text, toolCalls } : { toolCalls };
  });
  const upstream = await mock.start();
  const front = await startTap({ upstream, onRequest: countTokens, rewrite: fixAnswer });
  return {
    url: front.url,
    [Symbol.asyncDispose]: async () => {
      await front[Symbol.asyncDispose]();
      await mock.stop();
    },
  };
}

// Claude Code calls this route, which the mock server lacks.
const countTokens = (request: Recorded): Order | undefined =>
  request.path.includes('/count_tokens')
    ? { kind: 'answer', status: 200, body: { input_tokens: Math.ceil(request.raw.length / 4) } }
    : undefined;

// Codex needs the name and the namespace of a call in two fields, but the mock server has only a name. The mock server also sends
// FUNCTION_CALL, which is not a finish reason of Gemini.
function fixAnswer(request: Recorded): ((lines: string) => string) | undefined {
  if (request.path.includes('/responses'))
    return (lines) => lines.replace(/"name":"ns\|([^|"]+)\|([^|"]+)"/g, '"name":"$2","namespace":"$1"');
  if (request.path.startsWith('/v1beta'))
    return (lines) => lines.replaceAll('"finishReason":"FUNCTION_CALL"', '"finishReason":"STOP"');
  return undefined;
}
