/**
 * Carries notifications in the messages of one conversation. Notifications are leased when their message is composed, confirmed
 * when the caller keeps the message, and released when the message is dropped. A receipt therefore says `delivered` only for a
 * message that exists.
 */
import type { Conversation, Offer, OfferOptions } from '../inbox/index.ts';
import { errorWithView, withView } from './outputs.ts';
import type { Message, ModelOutput } from './shapes.ts';

/**
 * A message that carries notifications: the result of the tool call `call`, or without `call` a user message that contains `text`.
 */
type Carrier = { readonly call: string | undefined; readonly text: string; readonly settle: Pick<Offer, 'confirm' | 'release'> };

export class Carriers {
  #conversation: Conversation;
  /** Whether the provider keeps the parts of a tool's result separate. */
  parts = false;
  #trouble: (error: unknown) => void;
  /** Carriers whose message the caller has not kept yet. */
  #unkept: Carrier[] = [];
  /** Calls whose results contain notifications, until a later request proves that the model has read them. */
  readonly #unread = new Set<string>();
  /** Whether the last user message contains notifications and no later request proves that the model has read them. */
  #unreadMessage = false;
  /** The added text of each result, because the SDK asks for a result's output more than once. */
  readonly #views = new Map<string, string>();
  /** The running calls of the current step. */
  readonly #running = new Set<string>();
  readonly #landed = new Set<string>();
  #called = false;
  #asked: Promise<void> = Promise.resolve();

  constructor(conversation: Conversation, trouble: (error: unknown) => void) {
    this.#conversation = conversation;
    this.#trouble = trouble;
  }

  get conversation(): Conversation {
    return this.#conversation;
  }

  /** Uses the options of the adapter that begins a turn. */
  useFor({ conversation, trouble }: { readonly conversation: Conversation; readonly trouble: (error: unknown) => void }): void {
    this.#conversation = conversation;
    this.#trouble = trouble;
  }

  /** Whether a call of this step has begun. Such a step is not aborted, because the effects of a call cannot be undone. */
  get called(): boolean {
    return this.#called;
  }

  /** Whether a call of this step runs, or has a result that is not composed yet. */
  get #busy(): boolean {
    return this.#running.size + this.#landed.size > 0;
  }

  begin(call: string): void {
    this.#called = true;
    this.#running.add(call);
  }

  landed(call: string): void {
    this.#running.delete(call);
    this.#landed.add(call);
  }

  /**
   * Returns the error to throw for a failed call. The error carries due notifications only if no other call of the batch can
   * carry them.
   */
  async failed(call: string, on: string, error: unknown): Promise<unknown> {
    this.#running.delete(call);
    if (this.#busy || errorWithView(error, '') === undefined) return error;
    const view = await this.offer({ at: 'tool_result', on }, call);
    return view === undefined ? error : errorWithView(error, view);
  }

  /** Returns the result of this call for the model. The result of the last call of a batch carries the notifications. */
  async output(call: string, on: string, output: ModelOutput): Promise<ModelOutput> {
    const said = this.#views.get(call);
    if (said !== undefined) return withView(output, said, this.parts) ?? output;
    const last = this.#landed.delete(call) && !this.#busy;
    if (!last || withView(output, '', this.parts) === undefined) return output;
    const view = await this.offer({ at: 'tool_result', on }, call);
    if (view === undefined) return output;
    this.#views.set(call, view);
    return withView(output, view, this.parts) ?? output;
  }

  /**
   * Leases due notifications, and returns the text for the message. Resolves to undefined if no notification is due or the store
   * fails.
   */
  async offer(options: OfferOptions, call?: string): Promise<string | undefined> {
    const offer = await this.try(() => this.conversation.offer(options));
    if (offer === undefined) return undefined;
    this.refused(call, offer);
    return offer.view.text;
  }

  /**
   * Records that the result of this call, or without a call the last user message, contains notifications. `offer` is the lease
   * of these notifications, or undefined if an earlier message has leased or delivered them.
   */
  refused(call: string | undefined, offer: Offer | undefined): void {
    if (offer !== undefined) this.#unkept.push({ call, text: offer.view.text, settle: offer });
    if (call === undefined) this.#unreadMessage = true;
    else this.#unread.add(call);
  }

  /** Confirms the carriers that these messages contain, because the caller keeps the messages. */
  async kept(messages: readonly Message[]): Promise<void> {
    const mine = this.#unkept.filter(areIn(messages));
    this.#unkept = this.#unkept.filter((carrier) => !mine.includes(carrier));
    for (const { settle } of mine) await this.try(() => settle.confirm());
  }

  /**
   * Ends a call of the SDK, whose transcript is `messages`. Releases the notifications of unconfirmed carriers that the transcript
   * lacks. A later message carries these notifications.
   */
  async dropped(messages: readonly Message[]): Promise<void> {
    this.stepped();
    const isIn = areIn(messages);
    const mine = this.#unkept.filter((carrier) => !isIn(carrier));
    this.#unkept = this.#unkept.filter((carrier) => !mine.includes(carrier));
    for (const { call, settle } of mine) {
      if (call !== undefined) this.#views.delete(call);
      await this.try(() => settle.release('cancelled'));
    }
  }

  /** Ends the current step. */
  stepped(): void {
    this.#running.clear();
    this.#landed.clear();
    this.#called = false;
  }

  /**
   * Marks the notifications in these messages as read, because the model has answered a request with them. The gate then goes
   * down, unless a pause or another unread interrupt keeps it up.
   */
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

  /**
   * Runs work on the store. If the work fails, reports the failure and resolves to undefined, because a failing store must not
   * stop an agent.
   */
  async try<T>(what: () => Promise<T>): Promise<T | undefined> {
    try {
      return await what();
    } catch (error) {
      this.#trouble(error);
      return undefined;
    }
  }
}

/** Returns a function that says whether these messages contain the text of a carrier. */
function areIn(messages: readonly Message[]): (carrier: Carrier) => boolean {
  const calls = callsIn(messages);
  return ({ call, text }) => (call === undefined ? messages.some((message) => hasText(message, text)) : calls.has(call));
}

const hasText = ({ role, content }: Message, text: string): boolean =>
  role === 'user' &&
  (typeof content === 'string'
    ? content.includes(text)
    : Array.isArray(content) && (content as readonly { text?: unknown }[]).some((part) => part.text === text));

/** Returns the ids of the calls whose results are in these messages. */
function callsIn(messages: readonly Message[]): ReadonlySet<string> {
  const calls = new Set<string>();
  for (const { role, content } of messages)
    if (role === 'tool' && Array.isArray(content))
      for (const part of content as readonly { toolCallId?: string }[]) if (part.toolCallId) calls.add(part.toolCallId);
  return calls;
}
