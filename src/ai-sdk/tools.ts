/** Wraps tools, so that the gate is checked before each call and the last result of a batch carries the due notifications. */
import type { Carriers } from './carriers.ts';
import { plainOutput } from './outputs.ts';
import type { CallableTool, ModelOutput, SdkTool, ToolCallOptions } from './shapes.ts';

/**
 * The error that is thrown instead of running a tool while the gate is up. The SDK answers the call with the error's text.
 */
export class ToolRefused extends Error {
  override readonly name = 'ToolRefused';

  /** AI SDK 7 sends this text to the model, and AI SDK 6 sends the message. */
  override toString(): string {
    return this.message;
  }
}

/** The carriers and the stop signal of the run to which wrapped tools belong. */
export type Calls = {
  readonly carriers: Carriers;
  /** Returns the signal for a call that begins now. The signal aborts when an interrupt asks the agent to cancel or pause. */
  readonly stop: () => AbortSignal;
};

/** Wraps the tools, except those that the client or the provider runs. */
export function wrapTools<T extends Readonly<Record<string, SdkTool>>>(tools: T, calls: Calls): T {
  const wrapped = Object.entries(tools).map(([name, tool]) => [name, WRAPPED.has(tool) ? tool : wrap(name, tool, calls)]);
  return Object.fromEntries(wrapped) as T;
}

/** Returns the names of the tools that carry no notifications and are never refused, because nobody has wrapped these tools. */
export const unwrapped = (tools: Readonly<Record<string, SdkTool>>): readonly string[] =>
  Object.entries(tools).flatMap(([name, tool]) => (tool.execute !== undefined && !WRAPPED.has(tool) ? [name] : []));

const WRAPPED = new WeakSet<object>();

/** `gated`: whether an interrupt refuses the tool. */
export function wrap(name: string, given: SdkTool, { carriers, stop }: Calls, { gated = true } = {}): SdkTool {
  if (given.execute === undefined) return given;
  const tool = given as unknown as Required<CallableTool>;

  /** Begins the call and returns its stop signal, or throws the error that the SDK turns into the call's answer. */
  async function enter({ toolCallId, messages }: ToolCallOptions): Promise<AbortSignal> {
    const { conversation } = carriers;
    const stopped = stop();
    await carriers.asked(messages);
    const refusal = gated ? await carriers.try(() => conversation.refuse({ on: name })) : undefined;
    if (refusal !== undefined) {
      carriers.refused(toolCallId, refusal.offer);
      throw new ToolRefused(refusal.text);
    }
    carriers.begin(toolCallId);
    return stopped;
  }

  const optionsOf = (options: ToolCallOptions, stopped: AbortSignal): ToolCallOptions => ({
    ...options,
    abortSignal: AbortSignal.any([stopped, ...(options.abortSignal ? [options.abortSignal] : [])]),
  });

  async function one(input: unknown, options: ToolCallOptions): Promise<unknown> {
    const stopped = await enter(options);
    try {
      const output = await untilStopped(stopped, async () => lastOf(tool.execute(input, optionsOf(options, stopped))));
      carriers.landed(options.toolCallId);
      return output;
    } catch (error) {
      throw await carriers.failed(options.toolCallId, name, error);
    }
  }

  async function* several(input: unknown, options: ToolCallOptions): AsyncGenerator {
    const stopped = await enter(options);
    try {
      yield* tool.execute(input, optionsOf(options, stopped)) as AsyncIterable<unknown>;
      carriers.landed(options.toolCallId);
    } catch (error) {
      throw await carriers.failed(options.toolCallId, name, error);
    }
  }

  const wrapped = {
    ...given,
    execute: isGenerator(tool.execute) ? several : one,
    async toModelOutput(options: { toolCallId: string; input: unknown; output: unknown }): Promise<ModelOutput> {
      const own = tool.toModelOutput === undefined ? plainOutput(options.output) : await tool.toModelOutput(options);
      return carriers.output(options.toolCallId, name, own as ModelOutput);
    },
  };
  WRAPPED.add(wrapped);
  return wrapped;
}

async function untilStopped<T>(stop: AbortSignal, make: () => Promise<T>): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>();
  const cut = (): void => reject(new Error('This call was aborted by an interrupt, and may have had effects.'));
  stop.addEventListener('abort', cut, { once: true });
  if (stop.aborted) cut();
  try {
    return await Promise.race([promise, make()]);
  } finally {
    stop.removeEventListener('abort', cut);
  }
}

const isGenerator = (execute: object): boolean => Object.prototype.toString.call(execute) === '[object AsyncGeneratorFunction]';

/** Returns the result of an execute function. If the function returns a stream of outputs, the last output is the result. */
async function lastOf(made: unknown): Promise<unknown> {
  const output: unknown = await made;
  if (typeof output !== 'object' || output === null || !(Symbol.asyncIterator in output)) return output;
  let last: unknown;
  for await (const each of output as AsyncIterable<unknown>) last = each;
  return last;
}
