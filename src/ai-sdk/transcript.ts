/** Adds the messages of each finished step to the caller's list of messages. */
import type { Message, Model } from './shapes.ts';
import { textPart } from './outputs.ts';

export type Keep<M extends Message> = (messages: readonly M[]) => unknown;

/**
 * Whether the model may refuse two user messages in a row, as Gemini does. For such a model, text is added to the last user
 * message, which changes a message that was sent. True for an unknown model, because a refused message would end the conversation.
 */
export const mustAlternate = (model: Model | undefined): boolean =>
  model === undefined ||
  /google|gemini|gemma/i.test(typeof model === 'string' ? model : `${model.provider ?? ''} ${model.modelId ?? ''}`);

export class Transcript<M extends Message> {
  readonly messages: M[];
  readonly #keep: Keep<M> | undefined;
  /** The messages of the current call so far, with which `addStep` recognizes the messages of earlier steps. */
  #ofCall: Message[] = [];

  constructor(messages: M[], keep: Keep<M> | undefined) {
    this.messages = messages;
    this.#keep = keep;
  }

  get last(): Message | undefined {
    return this.messages.at(-1);
  }

  beginCall(): void {
    this.#ofCall = [];
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

  /** Adds the view as a separate part to the last message, which is a user message. */
  async addToLast(view: string): Promise<void> {
    const last = this.messages.at(-1) as M;
    const own = typeof last.content === 'string' ? [textPart(last.content)] : (last.content as readonly unknown[]);
    this.messages[this.messages.length - 1] = { ...last, content: [...own, textPart(view)] };
    await this.#keep?.(this.messages);
  }
}

const same = (some: readonly Message[], others: readonly Message[]): boolean => JSON.stringify(some) === JSON.stringify(others);
