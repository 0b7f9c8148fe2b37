/**
 * Connects a program to one MCP server, whose tools the program itself calls. The client speaks the protocol generation that
 * the server supports. After a restart of the server, the client repeats the handshake. Requests wait up to 5 s for the
 * handshake.
 *
 * States: starting → ready → down (the process ended) → ready again …. If a new process does not accept the handshake, each
 * request fails until that process ends. The client has ended for good if the server never worked, or after `close`.
 */
import { errorFrame, frameOf, messageIn, resultFrame, type Failure, type Frame, type Success } from './frames/frame.ts';
import { parsed } from './frames/json.ts';
import { METHOD_NOT_FOUND, type ClientInfo } from './frames/protocol.ts';
import { DISCOVER_MS, envelope, initializeParams, isWelcome, type Generation } from './handshake.ts';
import type { Link, StopOptions } from './link.ts';
import type { MakeLink } from './links.ts';
import { idIn, tooLongMessage } from './too-long.ts';
import type { Upstream } from './upstream.ts';

export type ServerEvent = {
  readonly server: string;
  readonly state: 'failed' | 'disconnected' | 'reconnected';
  readonly detail: string;
};

export type McpClientOptions = {
  readonly upstream: Upstream;
  readonly link: MakeLink;
  readonly info: ClientInfo;
  readonly tell: (event: ServerEvent) => void;
  readonly report: (line: string) => void;
};

/**
 * The error for a request that the server did not answer. The message gives the reason, for example that the server has stopped.
 */
export class Unanswered extends Error {}

/** How long a request waits while its server restarts. */
const HOLD_MS = 5_000;
/** How long a restarted process may take for the handshake. */
const START_MS = 30_000;

type Answer = PromiseWithResolvers<Success | Failure>;

export class McpClient {
  readonly #options: McpClientOptions;
  readonly #link: Link;
  readonly #waiting = new Map<string, Answer>();
  #generation: Generation | undefined;
  /** Resolves when the server can be used. */
  #ready = open();
  /** The reason why the server will never answer. Undefined while the server may answer. */
  #whyEnded: string | undefined;
  /** Whether `#ready` has resolved or rejected. */
  #settled = false;
  /** How many processes have ended. */
  #downs = 0;
  #asked = 0;

  constructor(options: McpClientOptions) {
    const { name } = options.upstream;
    this.#options = options;
    this.#link = options.link(options.upstream, {
      frame: (frame) => this.#receive(frame),
      tooLong: ({ bytes, head, tail }) => {
        const why = tooLongMessage(`the MCP server "${name}"`, bytes);
        options.report(why);
        const id = idIn(head, tail);
        if (id !== undefined) this.#lose(id, why);
      },
      lost: (id, why) => this.#lose(id, why),
      drain: () => {},
      away: (why) => this.#tell('disconnected', why),
      back: () => this.#tell('reconnected', 'it answers again'),
      down: (why, againInMs) => {
        this.#tell('disconnected', `${why}; trying again in ${againInMs / 1000} s`);
        if (this.#settled) this.#ready = open();
        this.#settled = false;
        this.#downs += 1;
        this.#loseAll(
          `The MCP server "${name}" stopped during this call (${why}). The server is being restarted. The call may have taken effect.`,
        );
      },
      up: () => void this.#greetAgain(),
      failed: (why) => {
        this.#tell('failed', why);
        this.#end(`The MCP server "${name}" does not work: ${why}.`);
      },
    });
  }

  /** Resolves when the server can be used. Rejects if the server refuses the client or ends, or if `signal` aborts. */
  async start(signal: AbortSignal): Promise<void> {
    this.#link.start();
    await this.#shakeHands(signal);
    this.#became();
  }

  /**
   * Sends a request and resolves to its result. Rejects with `Unanswered`, with the server's error, or with the signal's reason.
   */
  async request(method: string, params: object, signal: AbortSignal): Promise<unknown> {
    signal.throwIfAborted();
    await this.#whenReady(signal);
    const meta = this.#generation === 'stateless' ? { _meta: envelope(this.#options.info) } : {};
    const answer = await this.#ask(method, { ...params, ...meta }, signal);
    if (answer.kind === 'failure') throw new Error(messageIn(answer));
    const result = parsed(answer.bytes, answer.result);
    if (this.#generation === 'stateless' && (result as { resultType?: unknown } | null)?.resultType === 'input_required')
      throw new Unanswered(`the MCP server "${this.#options.upstream.name}" asks for input, which an agent cannot give`);
    return result;
  }

  async close(options?: StopOptions): Promise<void> {
    await this.#link.stop(options);
    this.#end(`The MCP server "${this.#options.upstream.name}" was ended.`);
  }

  async #shakeHands(signal: AbortSignal): Promise<void> {
    const { info } = this.#options;
    const refused = await this.#greet('legacy', 'initialize', initializeParams(info), signal);
    if (refused === undefined)
      return void this.#link.send(frameOf(Buffer.from('{"jsonrpc":"2.0","method":"notifications/initialized"}\n')));
    const soon = AbortSignal.any([signal, AbortSignal.timeout(DISCOVER_MS)]);
    const discovered = await this.#greet('stateless', 'server/discover', { _meta: envelope(info) }, soon).catch(() => refused);
    if (discovered !== undefined) throw new Error(refused);
  }

  /** Makes the handshake. Resolves to the reason why the server refused the client, or to undefined if the server accepted it. */
  async #greet(generation: Generation, method: string, params: object, signal: AbortSignal): Promise<string | undefined> {
    const answer = await this.#ask(method, params, signal);
    if (answer.kind === 'failure') return messageIn(answer);
    if (!isWelcome(generation, parsed(answer.bytes, answer.result)))
      return `the server answered ${method} with an unexpected result`;
    this.#generation = generation;
    return undefined;
  }

  async #greetAgain(): Promise<void> {
    const downs = this.#downs;
    const late = AbortSignal.timeout(START_MS);
    try {
      await this.#shakeHands(late);
    } catch (error) {
      // If the process has ended again, the next process makes the handshake.
      if (this.#whyEnded !== undefined || downs !== this.#downs) return;
      const refused = `refused the repeated handshake: ${error instanceof Error ? error.message : String(error)}`;
      const why = `the server runs again, but ${late.aborted ? `did not answer the repeated handshake within ${START_MS / 1000} s` : refused}`;
      this.#tell('failed', why);
      this.#ready.reject(new Unanswered(`The MCP server "${this.#options.upstream.name}" does not work: ${why}.`));
      this.#settled = true;
      return;
    }
    this.#became();
    this.#tell('reconnected', 'it runs again');
  }

  async #whenReady(signal: AbortSignal): Promise<void> {
    const { name } = this.#options.upstream;
    const { promise: over, resolve, reject } = Promise.withResolvers<void>();
    const late = `The MCP server "${name}" has stopped and did not return within ${HOLD_MS / 1000} s. Try again later.`;
    const timer = setTimeout(() => reject(new Unanswered(late)), HOLD_MS);
    const abort = (): void => reject(signal.reason);
    signal.addEventListener('abort', abort, { once: true });
    this.#ready.promise.then(resolve, reject);
    try {
      await over;
    } finally {
      clearTimeout(timer);
      signal.removeEventListener('abort', abort);
    }
  }

  async #ask(method: string, params: object, signal: AbortSignal): Promise<Success | Failure> {
    signal.throwIfAborted();
    if (this.#whyEnded !== undefined) throw new Unanswered(this.#whyEnded);
    this.#asked += 1;
    const number = this.#asked;
    const id = String(number);
    const answer: Answer = Promise.withResolvers();
    this.#waiting.set(id, answer);
    const abort = (): void => {
      this.#waiting.delete(id);
      this.#send({ method: 'notifications/cancelled', params: { requestId: number, reason: 'interrupted' } });
      answer.reject(signal.reason);
    };
    signal.addEventListener('abort', abort, { once: true });
    this.#send({ id: number, method, params });
    try {
      return await answer.promise;
    } finally {
      signal.removeEventListener('abort', abort);
    }
  }

  #send(message: object): void {
    this.#link.send(frameOf(Buffer.from(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)));
  }

  #receive(frame: Frame): void {
    switch (frame.kind) {
      case 'request':
        // An agent does not support roots, sampling or elicitation.
        this.#link.send(
          frameOf(
            frame.method === 'ping'
              ? resultFrame(frame.id, {})
              : errorFrame(frame.id, METHOD_NOT_FOUND, `${frame.method} is not supported`),
          ),
        );
        return;
      case 'success':
      case 'failure':
        this.#waiting.get(frame.id)?.resolve(frame);
        this.#waiting.delete(frame.id);
        return;
      case 'batch':
        for (const { start, end } of frame.elements) this.#receive(frameOf(frame.bytes.subarray(start, end)));
        return;
      case 'note':
      case 'opaque':
        return;
      default:
        frame satisfies never;
    }
  }

  #became(): void {
    this.#settled = true;
    this.#ready.resolve();
  }

  #end(why: string): void {
    this.#whyEnded ??= why;
    this.#ready.reject(new Unanswered(why));
    this.#loseAll(why);
  }

  #lose(id: string, why: string): void {
    this.#waiting.get(id)?.reject(new Unanswered(why));
    this.#waiting.delete(id);
  }

  #loseAll(why: string): void {
    for (const id of this.#waiting.keys()) this.#lose(id, why);
  }

  #tell(state: ServerEvent['state'], detail: string): void {
    const { name: server } = this.#options.upstream;
    this.#options.report(`MCP server "${server}" ${state}: ${detail}`);
    this.#options.tell({ server, state, detail });
  }
}

/** Makes a promise with its functions. If no caller waits, a rejection of this promise does not count as unhandled. */
function open(): PromiseWithResolvers<void> {
  const ready = Promise.withResolvers<void>();
  ready.promise.catch(() => undefined);
  return ready;
}
