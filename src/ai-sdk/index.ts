/**
 * Adds notifications and the gate to any agent of the AI SDK, versions 6 and 7. Instead of `generateText(options)`, call
 * `run(generateText, options)`. `run` also accepts `streamText` or an agent. `run` throws `bad_argument` if a turn is running.
 */
import { EarpieceError } from '../core/errors.ts';
import type { Conversation, ConversationOptions, Inbox } from '../inbox/index.ts';
import { checkName, GET_NOTIFICATIONS, getNotifications } from './get-notifications.ts';
import { Run, type RunOptions, type Turn } from './run.ts';
import type { Agent, CallOptions, Message, SdkTool } from './shapes.ts';
import { stateOf, type State } from './state.ts';
import { unwrapped, wrapTools, type Calls } from './tools.ts';

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
   * Called with a line at the first failure of the store, and with a line if the tools of an agent are not wrapped. The agent
   * continues, without notifications while the store fails. Default: prints the line to stderr.
   */
  readonly onTrouble?: (line: string) => void;
  /**
   * Whether the model gets the tool `get_notifications`, with which the model reads notifications that a message only counted or
   * cut. `tools` and `run` add this tool. Default: false.
   */
  readonly pulls?: boolean;
};

export class AiSdk {
  readonly #conversation: Conversation;
  readonly #state: State;
  readonly #report: (line: string) => void;
  readonly #reported = new Set<string>();
  readonly #trouble: (error: unknown) => void;
  readonly #calls: Calls;
  readonly #pull: SdkTool | undefined;

  /** `mustBeOpen` throws if the program has closed the inbox. */
  constructor(
    conversation: Conversation,
    { onTrouble = toStderr, pulls = false }: AiSdkOptions = {},
    mustBeOpen: () => void = () => {},
  ) {
    this.#conversation = conversation;
    this.#report = onTrouble;
    this.#trouble = (error) => this.#reportOnce('no notifications', `gets no notifications: ${reasonOf(error, mustBeOpen)}`);
    const state = stateOf(conversation, this.#trouble);
    this.#state = state;
    this.#calls = { carriers: state.carriers, stop: () => state.run?.stopTools() ?? new AbortController().signal };
    this.#pull = pulls ? getNotifications(this.#calls) : undefined;
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
    if (this.#pull === undefined) return wrapTools(tools, this.#calls);
    checkName(tools);
    return { ...wrapTools(tools, this.#calls), [GET_NOTIFICATIONS]: this.#pull };
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
    const state = this.#state;
    const { address } = this.#conversation;
    if (state.run !== undefined)
      throw new EarpieceError(
        'bad_argument',
        `run: a turn of ${address} is running; await this turn first, or give each conversation a separate address, such as ${address.split('#')[0]}#42`,
      );
    const { tools = {}, settings } = call as Agent;
    const bare = unwrapped(tools);
    if (bare.length > 0)
      this.#reportOnce(
        'tools',
        `has an agent with tools that carry no notifications and are never refused: ${bare.join(', ')}; wrap them with tools() of the adapter`,
      );
    const isFunction = typeof call === 'function';
    const ask = (isFunction ? call : call.stream.bind(call)) as (given: CallOptions) => R;
    state.carriers.useFor({ conversation: this.#conversation, trouble: this.#trouble });
    // An agent replaces its own tools with the tools of the options.
    const { tools: given = isFunction && this.#pull !== undefined ? {} : undefined } = options as CallOptions;
    const wrapped = given && this.tools(given);
    const parts = { carriers: state.carriers, call: ask, tools: wrapped, model: settings?.model };
    const run = new Run<MessageOf<O>, R>(parts, options, more);
    state.run = run;
    return run.turn().finally(() => {
      state.run = undefined;
    });
  }

  /** Reports one line for each topic. */
  #reportOnce(topic: string, line: string): void {
    if (!this.#reported.has(topic)) this.#report(`earpiece: ${this.#conversation.address} ${line}`);
    this.#reported.add(topic);
  }
}

/** Returns the message of the error. After the program has closed the inbox, this fact is the reason. */
function reasonOf(error: unknown, mustBeOpen: () => void): string {
  try {
    mustBeOpen();
  } catch (closed) {
    return (closed as Error).message;
  }
  return (error as Error).message ?? String(error);
}

/** Makes the adapter for one agent: `aiSdk(ear, 'shop/coder')`. */
export const aiSdk = (
  ear: Pick<Inbox, 'conversation' | 'owner'>,
  address: string,
  options: AiSdkOptions = {},
  mustBeOpen?: () => void,
): AiSdk =>
  new AiSdk(
    ear.conversation(address, { ...AS, process: ear.owner, ...(options.pulls ? { pulls: true } : {}) }),
    options,
    mustBeOpen,
  );

const AS: ConversationOptions = { host: 'ai-sdk', carrier: 'ai-sdk', points: ['turn_start', 'tool_result', 'forced'] };

const toStderr = (line: string): void => void process.stderr.write(`${line}\n`);
