import type { LanguageModelV4, LanguageModelV4StreamPart } from '@ai-sdk/provider';

/** Makes a model without a network, which calls the tool `echo` in its first `calls` answers, and then says "done". */
export function toolCaller(calls: number): LanguageModelV4 {
  return {
    specificationVersion: 'v4',
    provider: 'bench',
    modelId: 'tool-caller',
    supportedUrls: {},
    doGenerate: () => Promise.reject(new Error('only streams')),
    doStream: async ({ prompt }) => {
      const n = prompt.filter(({ role }) => role === 'tool').length;
      return { stream: ReadableStream.from(n < calls ? call(n) : answer()) };
    },
  };
}

function call(n: number): LanguageModelV4StreamPart[] {
  return [
    { type: 'stream-start', warnings: [] },
    { type: 'tool-input-start', id: `c${n}`, toolName: 'echo' },
    { type: 'tool-input-delta', id: `c${n}`, delta: '{}' },
    { type: 'tool-input-end', id: `c${n}` },
    { type: 'tool-call', toolCallId: `c${n}`, toolName: 'echo', input: '{}' },
    finish('tool-calls'),
  ];
}

const answer = (): LanguageModelV4StreamPart[] => [
  { type: 'stream-start', warnings: [] },
  { type: 'text-start', id: 't' },
  { type: 'text-delta', id: 't', delta: 'done' },
  { type: 'text-end', id: 't' },
  finish('stop'),
];

const finish = (unified: 'stop' | 'tool-calls'): LanguageModelV4StreamPart => ({
  type: 'finish',
  finishReason: { unified, raw: undefined },
  usage: {
    inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
    outputTokens: { total: 1, text: 1, reasoning: 0 },
  },
});
