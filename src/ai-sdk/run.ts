/**
 * Runs one turn: calls `generateText`, `streamText` or an agent, and calls it again after an interrupt, until the model has
 * answered. The caller gets the messages of each step when the step has finished.
 */
import { defined } from '../core/defined.ts';
import { EarpieceError } from '../core/errors.ts';
import type { Item } from '../core/items.ts';
import type { Carriers } from './carriers.ts';
import { Interrupts, undelivered } from './interrupts.ts';
import { keepsParts } from './outputs.ts';
import type { CallOptions, Message, Model, Step, StreamResult } from './shapes.ts';
import { assistant, Transcript, type Keep } from './transcript.ts';

export type Call<O, R> = (options: O) => R;

export type RunOptions<M extends Message, R> = {
  /**
   * Saves the messages. A notification counts as delivered when this function has resolved. Without this function, a notification
   * counts as delivered when it is in `messages`.
   */
  readonly keep?: Keep<M>;
  /**
   * Called with the result of each call: the first call, and one more after each interrupt. Use this function to forward streams.
   * `run` waits for the returned promise before the next call, and rejects with its error. After an abort, the error is ignored.
   */
  readonly onResult?: (result: Awaited<R>) => unknown;
};

export type Turn<M extends Message, R> = {
  /** The whole conversation: the given messages with their notifications, and the new messages. */
  readonly messages: M[];
  /** The final answer. */
  readonly text: string;
  /** `stopped`: the caller's `abortSignal` ended the turn. */
  readonly how: 'complete' | 'stopped';
  /** How often an interrupt was added and the model was called again. */
  readonly interrupts: number;
  /** The result of the last call. */
  readonly result: Awaited<R> | undefined;
};

export type RunParts<R> = {
  readonly carriers: Carriers;
  readonly call: Call<CallOptions, R>;
  /** The wrapped tools of the call. */
  readonly tools: CallOptions['tools'];
  /** The model of an agent that has its own model. */
  readonly model: Model | undefined;
};

/** The maximum number of interrupts after which a turn continues. Later interrupts wait for the next tool result or turn. */
const INTERRUPTS_A_TURN = 8;

export class Run<M extends Message, R> {
  readonly #carriers: Carriers;
  readonly #options: CallOptions;
  readonly #call: Call<CallOptions, R>;
  readonly #onResult: RunOptions<M, R>['onResult'];
  readonly #transcript: Transcript<M>;
  #stopTools = new AbortController();
  #request = new AbortController();
  /** Whether an interrupt may abort the current step. After an interrupt, the model first finishes one step. */
  #mayAbort = true;
  #interrupts = 0;
  #steps = 0;
  #text = '';
  #result: Awaited<R> | undefined;
  /** The error of `keep` or `onResult`. */
  #callbackFailed: { readonly error: unknown } | undefined;

  constructor({ carriers, call, tools, model }: RunParts<R>, options: CallOptions, more: RunOptions<M, R>) {
    this.#carriers = carriers;
    this.#call = call;
    this.#options = { ...options, ...defined({ tools }) };
    this.#onResult = more.onResult;
    this.#transcript = new Transcript(messagesOf<M>(options), more.keep, options.model ?? model);
    carriers.parts = keepsParts(typeof options.model === 'string' ? '' : (options.model?.provider ?? ''));
  }

  /** Returns the stop signal for a call that begins now. An earlier interrupt stops only the calls that ran at its time. */
  stopTools(): AbortSignal {
    if (this.#stopTools.signal.aborted) this.#stopTools = new AbortController();
    return this.#stopTools.signal;
  }

  async turn(): Promise<Turn<M, R>> {
    const { conversation } = this.#carriers;
    await this.#openTurn();
    await using _watch = new Interrupts(conversation, (found) => this.#interrupt(found));
    try {
      for (;;) {
        const { how, partial } = await this.#ask();
        const waits = how !== 'stopped' && this.#mayInterrupt && (await this.#interrupted(partial));
        if (waits) this.#interrupts++;
        if (how === 'stopped' && partial.trim() !== '') await this.#transcript.add(assistant(partial));
        if (how === 'interrupted' || waits) continue;
        const { messages } = this.#transcript;
        return { messages, text: this.#text || partial, how, interrupts: this.#interrupts, result: this.#result };
      }
    } finally {
      await this.#carriers.dropped(this.#transcript.messages);
    }
  }

  /** Begins the turn. If the last message is a user message, it carries the due notifications. */
  async #openTurn(): Promise<void> {
    // If an earlier turn could not save its messages, the list may contain or lack the carriers of that turn.
    await this.#carriers.kept(this.#transcript.messages);
    await this.#carriers.dropped(this.#transcript.messages);
    if (this.#transcript.last?.role !== 'user') return;
    const view = await this.#carriers.offer({ at: 'turn_start', on: 'message' });
    if (view === undefined) return;
    await this.#transcript.addView(view);
    await this.#carriers.kept(this.#transcript.messages);
  }

  get #mayInterrupt(): boolean {
    return this.#interrupts < INTERRUPTS_A_TURN;
  }

  #interrupt(found: readonly Item[]): void {
    if (!this.#carriers.called) {
      if (this.#mayAbort && this.#mayInterrupt) this.#request.abort();
      return;
    }
    // A cancel or a pause aborts the running tools. The results of these tools carry the interrupt, so that the model also reads
    // what the tools have done.
    if (found.some(({ notification }) => notification.action !== undefined)) this.#stopTools.abort();
  }

  /**
   * Adds the undelivered interrupts to the transcript, after the model's partial answer. Resolves to false if there is none or
   * the store fails.
   */
  async #interrupted(partial: string): Promise<boolean> {
    const { conversation } = this.#carriers;
    this.#mayAbort = false;
    const waiting = await this.#carriers.try(() => undelivered(conversation));
    if (waiting === undefined || waiting.length === 0) return false;
    const view = await this.#carriers.offer({ at: 'forced', on: 'message' });
    if (view === undefined) return false;
    await this.#transcript.addView(view, partial);
    await this.#carriers.kept(this.#transcript.messages);
    return true;
  }

  /** Makes one call of the SDK, which may have several steps. */
  async #ask(): Promise<{ readonly how: 'complete' | 'stopped' | 'interrupted'; readonly partial: string }> {
    const request = (this.#request = new AbortController());
    const { abortSignal, prompt: _prompt, onStepEnd, onStepFinish, ...rest } = this.#options;
    const finished = onStepEnd ?? onStepFinish;
    const signal = AbortSignal.any([request.signal, ...(abortSignal ? [abortSignal] : [])]);
    const firstStep = this.#steps;
    let [begun, partial, failed]: [number, string, { error: unknown } | undefined] = [0, '', undefined];
    let forwarded: Promise<void> | undefined;
    const messages = this.#transcript.beginCall();
    try {
      const made = await this.#call({
        ...rest,
        messages,
        abortSignal: signal,
        onStepFinish: async (step: Step) => {
          await this.#stepFinished(step);
          await finished?.(step);
        },
      });
      this.#result = made;
      forwarded = this.#forward(made, signal);
      if (isStream(made))
        for await (const part of made.fullStream) {
          if (part.type === 'start-step') [begun, partial] = [begun + 1, ''];
          else if (part.type === 'text-delta') partial += part.text ?? '';
          else if (part.type === 'error') failed = { error: part.error };
        }
    } catch (error) {
      failed = { error };
    }
    await forwarded;
    if (this.#callbackFailed !== undefined) throw this.#callbackFailed.error;
    // If the step has finished, the transcript already contains its answer.
    if (begun <= this.#steps - firstStep) partial = '';
    await this.#carriers.dropped(this.#transcript.messages);
    if (abortSignal?.aborted) return { how: 'stopped', partial };
    if (request.signal.aborted) return { how: 'interrupted', partial };
    if (failed) throw withoutModel(failed.error, this.#options);
    if (begun === 0 && this.#steps === firstStep) throw withoutMessages();
    return { how: 'complete', partial: '' };
  }

  /** Passes the result of a call to `onResult`. */
  async #forward(made: Awaited<R>, signal: AbortSignal): Promise<void> {
    try {
      await this.#onResult?.(made);
    } catch (error) {
      // The promises of an aborted result reject. The program may await them and need not know about the abort.
      if (!signal.aborted) this.#fail(error);
    }
  }

  /** Ends the call because of the error of a callback. The SDK swallows exceptions of its callbacks, so the error is kept here. */
  #fail(error: unknown): void {
    this.#callbackFailed ??= { error };
    this.#request.abort();
  }

  /** Keeps the messages of a finished step. The SDK waits for this function before it asks the model again. */
  async #stepFinished(step: Step): Promise<void> {
    this.#steps++;
    this.#mayAbort = true;
    this.#text = step.text ?? '';
    try {
      if (step.response.messages === undefined) throw withoutMessages();
      const added = await this.#transcript.addStep(step.response.messages);
      await this.#carriers.kept(added);
    } catch (error) {
      this.#fail(error);
    }
    this.#carriers.stepped();
  }
}

/**
 * Explains the error of the SDK for a call without a model. Earpiece does not refuse such a call in advance, because the caller's
 * `call` function may set the model.
 */
function withoutModel(error: unknown, { model }: CallOptions): unknown {
  if (model != null || !(error instanceof TypeError) || !error.message.includes('specificationVersion')) return error;
  return new EarpieceError(
    'bad_argument',
    `run: model must be a model of the AI SDK, got ${String(model)}; pass a model in the options, such as openai('gpt-5')`,
    { cause: error },
  );
}

/** The error for a function of the SDK that is not for agents. Some of these functions have steps, but never messages. */
const withoutMessages = (): EarpieceError =>
  new EarpieceError(
    'bad_argument',
    'run: this function returns no messages; pass generateText, streamText or an agent of the AI SDK. For an object, pass generateText with output: Output.object({ schema })',
  );

const isStream = (result: unknown): result is StreamResult =>
  typeof result === 'object' && result !== null && 'fullStream' in result;

/** Returns the list of messages: the caller's own list if there is one. New messages are added to this list. */
function messagesOf<M extends Message>({ messages, prompt }: CallOptions): M[] {
  if (messages !== undefined) {
    if (!Array.isArray(messages) || Object.isFrozen(messages))
      throw new EarpieceError(
        'bad_argument',
        `run: messages must be a list to which run can add messages, got ${Array.isArray(messages) ? 'a frozen list' : typeof messages}; pass [...messages]`,
      );
    return messages;
  }
  if (typeof prompt === 'string') return [{ role: 'user', content: prompt }] as unknown as M[];
  return [...((prompt ?? []) as readonly M[])];
}
