/**
 * Carries notifications in the messages of one conversation. Each view is leased when its message is composed, confirmed when the caller
 * keeps that message, and released when the message is dropped. So a receipt says `delivered` only for a message that exists.
 */
import type { Conversation, Offer, OfferOptions } from '../inbox/index.ts';
import { errorWithView, withView } from './outputs.ts';
import type { Message, ModelOutput } from './shapes.ts';

/** `call`: the tool call whose result carries it. */
type Carrier = { readonly call: string | undefined; readonly settle: Pick<Offer, 'confirm' | 'release'> };

export class Carriers {
  readonly conversation: Conversation;
  /** The provider keeps the parts of a tool's result apart. */
  parts = false;
  readonly #trouble: (error: unknown) => void;
  /** Composed, and in no message yet that the caller keeps. */
  #unkept: Carrier[] = [];
  /** Calls whose results delivered something that no later request has proven to be read. */
  readonly #unread = new Set<string>();
  /** The same for a message of the user. */
  #unreadMessage = false;
  /** The SDK asks for a result's output more than once: it gets the same text. */
  readonly #views = new Map<string, string>();
  /** The calls of the current step: those that run, and those that have a result which can carry. */
  readonly #running = new Set<string>();
  readonly #landed = new Set<string>();
  #asked: Promise<void> = Promise.resolve();

  constructor(conversation: Conversation, trouble: (error: unknown) => void) {
    this.conversation = conversation;
    this.#trouble = trouble;
  }

  /** A tool was called in this step, and its effects cannot be undone. */
  get called(): boolean {
    return this.#running.size + this.#landed.size > 0;
  }

  begin(call: string): void {
    this.#running.add(call);
  }

  landed(call: string): void {
    this.#running.delete(call);
    this.#landed.add(call);
  }

  /** The error to throw. It carries when no other call of the batch can. */
  async failed(call: string, on: string, error: unknown): Promise<unknown> {
    this.#running.delete(call);
    if (this.called || errorWithView(error, '') === undefined) return error;
    const view = await this.offer({ at: 'tool_result', on }, call);
    return view === undefined ? error : errorWithView(error, view);
  }

  /** Returns the result of this call as the model reads it. The last call of a batch carries for all of them. */
  async output(call: string, on: string, output: ModelOutput): Promise<ModelOutput> {
    const said = this.#views.get(call);
    if (said !== undefined) return withView(output, said, this.parts) ?? output;
    const last = this.#landed.delete(call) && !this.called;
    if (!last || withView(output, '', this.parts) === undefined) return output;
    const view = await this.offer({ at: 'tool_result', on }, call);
    if (view === undefined) return output;
    this.#views.set(call, view);
    return withView(output, view, this.parts) ?? output;
  }

  /** Leases what is due; the text to put into the message. Without its store it carries nothing. */
  async offer(options: OfferOptions, call?: string): Promise<string | undefined> {
    const offer = await this.try(() => this.conversation.offer(options));
    if (offer === undefined) return undefined;
    this.refused(call, offer);
    return offer.view.text;
  }

  /** This call was answered with an interrupt, or carries one. */
  refused(call: string | undefined, offer: Offer | undefined): void {
    if (offer !== undefined) this.#unkept.push({ call, settle: offer });
    if (call === undefined) this.#unreadMessage = true;
    else this.#unread.add(call);
  }

  /** The caller keeps these messages. */
  async kept(messages: readonly Message[]): Promise<void> {
    const calls = callsIn(messages);
    const mine = this.#unkept.filter(({ call }) => call === undefined || calls.has(call));
    this.#unkept = this.#unkept.filter((carrier) => !mine.includes(carrier));
    for (const { settle } of mine) await this.try(() => settle.confirm());
  }

  /** The call has ended with these messages. A notification that none of them holds rides again. */
  async dropped(messages: readonly Message[]): Promise<void> {
    this.stepped();
    const calls = callsIn(messages);
    const mine = this.#unkept.filter(({ call }) => call === undefined || !calls.has(call));
    this.#unkept = this.#unkept.filter((carrier) => !mine.includes(carrier));
    for (const { call, settle } of mine) {
      if (call !== undefined) this.#views.delete(call);
      await this.try(() => settle.release('cancelled'));
    }
  }

  /** The step is over. */
  stepped(): void {
    this.#running.clear();
    this.#landed.clear();
  }

  /** The model was sent these messages and answered: it has read what their results carry, and the gate of that falls. */
  asked(messages: readonly Message[]): Promise<void> {
    this.#asked = this.#asked.then(async () => {
      const calls = callsIn(messages);
      const read = [...this.#unread].filter((call) => calls.has(call));
      await this.kept(messages);
      if (read.length === 0 && !this.#unreadMessage) return;
      this.#unreadMessage = false;
      for (const call of read) this.#unread.delete(call);
      await this.try(() => this.conversation.answered('tool_batch_end'));
    });
    return this.#asked;
  }

  /** Trouble with the store never stops an agent. */
  async try<T>(what: () => Promise<T>): Promise<T | undefined> {
    try {
      return await what();
    } catch (error) {
      this.#trouble(error);
      return undefined;
    }
  }
}

/** The calls whose results are in these messages. */
function callsIn(messages: readonly Message[]): ReadonlySet<string> {
  const calls = new Set<string>();
  for (const { role, content } of messages)
    if (role === 'tool' && Array.isArray(content))
      for (const part of content as readonly { toolCallId?: string }[]) if (part.toolCallId) calls.add(part.toolCallId);
  return calls;
}
