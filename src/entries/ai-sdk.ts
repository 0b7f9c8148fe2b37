/** `earpiece/ai-sdk`: notifications and the gate for agents of the AI SDK. */
import '../node-version.ts';

import { aiSdk as inner, type AiSdkOptions, type MessageOf, type RunOptions, type SdkAgent, type Turn } from '../ai-sdk/index.ts';
import type { Message, SdkTool } from '../ai-sdk/shapes.ts';
import { EarpieceError } from '../core/errors.ts';
import { check, fullName, innerOf, mustBeOpen, type Earpiece } from '../library/index.ts';

export interface AiSdk {
  /** Wraps the tools of an agent that has its own tools. `run` wraps the tools in its options by itself. */
  tools<T extends Readonly<Record<string, SdkTool>>>(tools: T): T;
  /**
   * Calls `call(options)`, and repeats the call after an interrupt. New messages are added to `options.messages`, which is the
   * transcript to keep. Rejects with the error of the call or of `keep`. After an error, `options.messages` contains the finished
   * steps.
   */
  run<O extends object, R>(
    call: ((options: O) => R) | SdkAgent<O, R>,
    options: NoInfer<O>,
    more?: RunOptions<MessageOf<O>, R>,
  ): Promise<Turn<MessageOf<O>, R>>;
}

/** Makes the adapter for one agent: `aiSdk(ear, 'coder')`. */
export function aiSdk(earpiece: Earpiece, agent: string, options: AiSdkOptions = {}): AiSdk {
  const inbox = innerOf(earpiece);
  check('aiSdk', options, { onTrouble: 'function', pulls: 'flag' });
  const sdk = inner(inbox, fullName('aiSdk', earpiece.project, agent), options, () => mustBeOpen(inbox));
  return {
    tools: (tools) => {
      check('tools', { tools }, { tools: { needed: 'object' } });
      return sdk.tools(tools);
    },
    run: async (call, given, more = {}) => {
      if (typeof call !== 'function' && typeof (call as { stream?: unknown } | undefined)?.stream !== 'function')
        throw new EarpieceError(
          'bad_argument',
          'run: pass generateText, streamText or an agent with stream() as the first argument',
        );
      check('run', { options: given }, { options: { needed: 'object' } });
      check<RunOptions<Message, unknown>>('run', more as RunOptions<Message, unknown>, {
        keep: 'function',
        onResult: 'function',
      });
      return sdk.run(call, given, more);
    },
  };
}

export { ToolRefused } from '../ai-sdk/index.ts';
export type { AiSdkOptions, RunOptions, SdkAgent, Turn };
