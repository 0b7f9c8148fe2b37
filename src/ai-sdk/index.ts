/**
 * Adds notifications and the gate to any agent of the AI SDK, versions 6 and 7. Instead of `generateText(options)`, call
 * `run(generateText, options)`. `run` also accepts `streamText` or an agent. `run` throws `bad_argument` if a turn is running.
 */
import { EarpieceError } from '../core/errors.ts';
import type { Conversation, ConversationOptions, Inbox } from '../inbox/index.ts';
import { Carriers } from './carriers.ts';
import { Run, type RunOptions, type Turn } from './run.ts';
import type { Agent, CallOptions, Message, SdkTool } from './shapes.ts';
import { wrapTools } from './tools.ts';

export { ToolRefused } from './tools.ts';
export type { RunOptions, Turn } from './run.ts';

/** An agent of the SDK, such as `ToolLoopAgent`. */
export type SdkAgent<O, R> = { stream(options: O): R };

type ElementOf<L> = L extends readonly (infer Each)[] ? Each : never;
// The options of the SDK are a union. In one of its members, `messages` is always undefined and adds nothing here.
type MessagesOf<O> = O extends { messages?: infer M } ? ElementOf<NonNullable<M>> : never;
/** The type of the messages in these options. */
export type MessageOf<O> = [MessagesOf<O>] extends [never] ? Message : MessagesOf<O> extends Message ? MessagesOf<O> : Message;

export type AiSdkOptions = {
  /**
   * Called at the first failure of the store. The agent continues, without notifications while the store fails. Default: prints a
   * line to stderr.
   */
  readonly onTrouble?: (line: string) => void;
};

export class AiSdk {
  readonly #conversation: Conversation;
  readonly #carriers: Carriers;
  #run: { readonly stopTools: AbortSignal } | undefined;

  constructor(conversation: Conversation, { onTrouble = toStderr }: AiSdkOptions = {}) {
    this.#conversation = conversation;
    let told = false;
    this.#carriers = new Carriers(conversation, (error) => {
      if (!told)
        onTrouble(
          `earpiece: ${conversation.address} gets no notifications while the store fails (${(error as Error).message ?? String(error)}); the agent continues`,
        );
      told = true;
    });
  }

  /** The conversation of this agent, for other uses in your program. */
  get conversation(): Conversation {
    return this.#conversation;
  }

  /**
   * Wraps tools so that each call checks the gate and the results carry notifications. `run` wraps the tools in its options by
   * itself. Call this method for an agent that has its own tools.
   */
  tools<T extends Readonly<Record<string, SdkTool>>>(tools: T): T {
    return wrapTools(tools, { carriers: this.#carriers, stop: () => this.#run?.stopTools ?? new AbortController().signal });
  }

  /**
   * Calls `call(options)`, and calls it again after an interrupt. New messages are added to `options.messages`, which is the
   * transcript to keep. Rejects with the error of the call or of `keep`. After an error, `options.messages` contains the finished
   * steps.
   */
  run<O extends object, R>(
    call: ((options: O) => R) | SdkAgent<O, R>,
    options: NoInfer<O>,
    more: RunOptions<MessageOf<O>, R> = {},
  ): Promise<Turn<MessageOf<O>, R>> {
    if (this.#run !== undefined)
      throw new EarpieceError(
        'bad_argument',
        `run: a turn of ${this.#conversation.address} is running; a conversation runs one turn at a time, so await the running turn first`,
      );
    const ask = (typeof call === 'function' ? call : call.stream.bind(call)) as (given: CallOptions) => R;
    const run = new Run<MessageOf<O>, R>(this.#carriers, ask, options, more, (call as Agent).settings?.model);
    this.#run = run;
    return run.turn().finally(() => {
      this.#run = undefined;
    });
  }
}

/** Makes the adapter for one agent: `aiSdk(ear, 'shop/coder')`. */
export const aiSdk = (ear: Pick<Inbox, 'conversation' | 'owner'>, address: string, options: AiSdkOptions = {}): AiSdk =>
  new AiSdk(ear.conversation(address, { ...AS, process: ear.owner }), options);

const AS: ConversationOptions = { host: 'ai-sdk', carrier: 'ai-sdk', points: ['turn_start', 'tool_result', 'forced'] };

const toStderr = (line: string): void => void process.stderr.write(`${line}\n`);
