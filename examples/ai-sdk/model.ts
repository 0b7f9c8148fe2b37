// A mock in place of `anthropic('…')` or `openai('…')`. If the model has tools, it calls two tools in one answer. Then the model
// answers in words, to which a program can react.
import { MockLanguageModelV4 } from 'ai/test';

let [words, then] = ['', async (): Promise<unknown> => undefined];

/** Calls `what` when the model has written this text. */
export function whenItSays(said: string, what: () => Promise<unknown>): void {
  [words, then] = [said, what];
}

type Part = Awaited<ReturnType<MockLanguageModelV4['doStream']>>['stream'] extends ReadableStream<infer P> ? P : never;

export const model = new MockLanguageModelV4({
  doStream: async ({ prompt, tools = [], abortSignal }) => {
    const asked = JSON.stringify(prompt);
    if (tools.length > 0 && !asked.includes('tool-result')) return { stream: ReadableStream.from(calls()) };
    if (asked.includes('Thanks')) return { stream: ReadableStream.from(says(['Well.'])) };
    if (asked.includes('production is down')) return { stream: ReadableStream.from(says(['I have stopped.'])) };
    return { stream: ReadableStream.from(says(['I would change ', 'line 12', ' of the file'], abortSignal)) };
  },
});

function* calls(): Generator<Part> {
  yield { type: 'tool-call', toolCallId: 'call_1', toolName: 'start_build', input: '{}' };
  yield { type: 'tool-call', toolCallId: 'call_2', toolName: 'read_file', input: '{"path":"cart.ts"}' };
  yield finish('tool-calls');
}

async function* says(parts: readonly string[], signal?: AbortSignal): AsyncGenerator<Part> {
  yield { type: 'text-start', id: 't' };
  for (const delta of parts) {
    yield { type: 'text-delta', id: 't', delta };
    if (delta !== words) continue;
    await then();
    // The mock waits until the adapter aborts the request, which would close the connection to a real provider.
    if (signal?.aborted === false) await new Promise((resolve) => signal.addEventListener('abort', resolve));
    signal?.throwIfAborted();
  }
  yield { type: 'text-end', id: 't' };
  yield finish('stop');
}

function finish(unified: 'stop' | 'tool-calls'): Part {
  const none = { total: undefined, noCache: undefined, cacheRead: undefined, cacheWrite: undefined };
  return {
    type: 'finish',
    finishReason: { unified, raw: undefined },
    usage: { inputTokens: none, outputTokens: { total: undefined, text: undefined, reasoning: undefined } },
  };
}
