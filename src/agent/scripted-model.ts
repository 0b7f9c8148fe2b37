/** Makes a language model for tests, which follows a script. The package does not contain this file. */
import type { LanguageModelV4, LanguageModelV4CallOptions, LanguageModelV4StreamPart } from '@ai-sdk/provider';

export type Step = {
  readonly text?: string;
  readonly reasoning?: { readonly text: string; readonly signature?: string };
  readonly calls?: readonly { readonly id: string; readonly name: string; readonly args?: object | string }[];
  /** An error in place of the answer. */
  readonly error?: unknown;
  /** Called with the request, and awaited, before the answer begins. */
  readonly before?: (options: LanguageModelV4CallOptions) => Promise<void> | void;
  /**
   * Called after each part except the last, and awaited before the next part. `n` counts the parts from 0, and `aborted`
   * resolves when the request is aborted.
   */
  readonly between?: (n: number, aborted: Promise<void>) => Promise<void> | void;
  /** Whether the stream ends without a `finish` part. */
  readonly breaksOff?: true;
};

export type ScriptedModel = LanguageModelV4 & { readonly requests: LanguageModelV4CallOptions[]; readonly aborted: number[] };

/** Makes a model that follows the steps, and then repeats the last step. */
export function scriptedModel(steps: readonly Step[], provider = 'openai.chat'): ScriptedModel {
  const requests: LanguageModelV4CallOptions[] = [];
  const aborted: number[] = [];
  return {
    specificationVersion: 'v4',
    provider,
    modelId: 'scripted',
    supportedUrls: {},
    requests,
    aborted,
    doGenerate: () => Promise.reject(new Error('only streams')),
    async doStream(options) {
      const n = requests.length;
      requests.push(structuredClone({ ...options, abortSignal: undefined }) as unknown as LanguageModelV4CallOptions);
      const step = steps[Math.min(n, steps.length - 1)] ?? {};
      await step.before?.(options);
      if (step.error !== undefined) throw step.error;
      options.abortSignal?.throwIfAborted();
      const parts = partsOf(step);
      const gone = Promise.withResolvers<void>();
      let at = 0;
      return {
        stream: new ReadableStream<LanguageModelV4StreamPart>(
          {
            start(controller) {
              options.abortSignal?.addEventListener('abort', () => {
                aborted.push(n);
                controller.error(options.abortSignal?.reason);
                gone.resolve();
              });
            },
            async pull(controller) {
              const part = parts[at++];
              if (part === undefined) return controller.close();
              if (at > 1) await step.between?.(at - 2, gone.promise);
              if (!options.abortSignal?.aborted) controller.enqueue(part);
            },
          },
          { highWaterMark: 0 },
        ),
      };
    },
  };
}

function partsOf({ text, reasoning, calls = [], breaksOff }: Step): LanguageModelV4StreamPart[] {
  const words = (all: string): string[] => all.split(/(?<= )/);
  return [
    { type: 'stream-start', warnings: [] },
    ...(reasoning === undefined
      ? []
      : [
          { type: 'reasoning-start' as const, id: 'r' },
          ...words(reasoning.text).map((delta) => ({ type: 'reasoning-delta' as const, id: 'r', delta })),
          {
            type: 'reasoning-end' as const,
            id: 'r',
            ...(reasoning.signature === undefined ? {} : { providerMetadata: { anthropic: { signature: reasoning.signature } } }),
          },
        ]),
    ...(text === undefined
      ? []
      : [
          { type: 'text-start' as const, id: 't' },
          ...words(text).map((delta) => ({ type: 'text-delta' as const, id: 't', delta })),
          { type: 'text-end' as const, id: 't' },
        ]),
    ...calls.flatMap(({ id, name, args = {} }): LanguageModelV4StreamPart[] => {
      const input = typeof args === 'string' ? args : JSON.stringify(args);
      return [
        { type: 'tool-input-start', id, toolName: name },
        { type: 'tool-input-delta', id, delta: input.slice(0, 5) },
        { type: 'tool-input-delta', id, delta: input.slice(5) },
        { type: 'tool-input-end', id },
        { type: 'tool-call', toolCallId: id, toolName: name, input },
      ];
    }),
    ...(breaksOff
      ? []
      : [
          {
            type: 'finish' as const,
            finishReason: { unified: calls.length > 0 ? ('tool-calls' as const) : ('stop' as const), raw: undefined },
            usage: {
              inputTokens: { total: 10, noCache: 10, cacheRead: 0, cacheWrite: 0 },
              outputTokens: { total: 5, text: 5, reasoning: 0 },
            },
          },
        ]),
  ];
}
