/** Adds the messages of each finished step to the caller's list of messages. */
import type { Message, Model } from './shapes.ts';
import { textPart } from './outputs.ts';

export type Keep<M extends Message> = (messages: readonly M[]) => unknown;

/**
 * Whether the model may refuse two user messages in a row, as Gemini does. True for an unknown model, because a refused message
 * would end the conversation.
 */
const mustAlternate = (model: Model | undefined): boolean =>
  model === undefined ||
  /google|gemini|gemma/i.test(typeof model === 'string' ? model : `${model.provider ?? ''} ${model.modelId ?? ''}`);

/** The messages that a request has contained. A change of such a message invalidates the provider's cache. */
const SENT = new WeakSet<Message>();

export class Transcript<M extends Message> {
  readonly messages: M[];
  readonly #keep: Keep<M> | undefined;
  readonly #alternates: boolean;
  /** The messages of the current call, which distinguish a step's messages from the messages of earlier steps. */
  #ofCall: Message[] = [];

  constructor(messages: M[], keep: Keep<M> | undefined, model: Model | undefined) {
    this.messages = messages;
    this.#keep = keep;
    this.#alternates = mustAlternate(model);
  }

  get last(): Message | undefined {
    return this.messages.at(-1);
  }

  /** Begins a call, and returns the messages for its first request. */
  beginCall(): readonly M[] {
    this.#ofCall = [];
    for (const message of this.messages) SENT.add(message);
    return [...this.messages];
  }

  /**
   * Adds and returns a step's messages. With each step, AI SDK 6 passes the messages of all steps of the call, and AI SDK 7
   * passes only the step's messages.
   */
  async addStep(response: readonly Message[]): Promise<readonly Message[]> {
    const before = this.#ofCall.length;
    const all = before > 0 && response.length > before && same(response.slice(0, before), this.#ofCall);
    const added = all ? response.slice(before) : response;
    this.#ofCall.push(...added);
    await this.add(...added);
    return added;
  }

  async add(...messages: readonly Message[]): Promise<void> {
    this.messages.push(...(messages as readonly M[]));
    await this.#keep?.(this.messages);
  }

  /**
   * Adds the model's partial answer and the view. The view becomes a part of the last message if this message is a user message
   * that no request has contained. The same applies if the provider may refuse two user messages in a row. Otherwise, the view
   * becomes a user message.
   */
  async addView(view: string, partial = ''): Promise<void> {
    const { last } = this;
    if (partial.trim() !== '') await this.add(assistant(partial), user(view));
    else if (last?.role === 'user' && (this.#alternates || !SENT.has(last))) await this.#addToLast(view);
    else await this.add(user(view));
  }

  async #addToLast(view: string): Promise<void> {
    const last = this.messages.at(-1) as M;
    const own = typeof last.content === 'string' ? [textPart(last.content)] : (last.content as readonly unknown[]);
    this.messages[this.messages.length - 1] = { ...last, content: [...own, textPart(view)] };
    await this.#keep?.(this.messages);
  }
}

export const assistant = (text: string): Message => ({ role: 'assistant', content: [textPart(text.trimEnd())] });
const user = (text: string): Message => ({ role: 'user', content: [textPart(text)] });

const same = (some: readonly Message[], others: readonly Message[]): boolean => JSON.stringify(some) === JSON.stringify(others);
