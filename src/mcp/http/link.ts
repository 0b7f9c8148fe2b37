import type { IncomingMessage } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';

import {
  asLine,
  errorFrame,
  frameOf,
  param,
  runsTool,
  type Failure,
  type Frame,
  type Request,
  type Success,
  cancelledBy,
} from '../frames/frame.ts';
import { MAX_FRAME_BYTES, SseReader } from '../frames/framing.ts';
import { arrayAt, edited, objectAt, parsed, stringAt, textOf, valueAt } from '../frames/json.ts';
import { bodyOf, HttpTarget, mediaTypeOf, networkReason } from './target.ts';
import {
  headerParams,
  headerValue,
  METHOD,
  NAME,
  nameIn,
  paramHeaders,
  PROTOCOL_VERSION,
  SESSION_ID,
  type HeaderParam,
} from './headers.ts';
import type { Link, LinkEvents, StopOptions } from '../link.ts';
import { INTERNAL_ERROR, isStateless, toolOf, versionOf } from '../frames/protocol.ts';
import type { HttpUpstream } from '../upstream.ts';

const RETRY_MS = 1_000;
const MAX_RETRY_MS = 30_000;

/** The maximum number of GETs for the missing part of an answer. A server that has ended cannot send this part. */
const RESUME_TRIES = 2;

const WAYS_OUT = new Map([
  [401, "Check the server's token and headers in the configuration."],
  [403, "Check the server's token and headers in the configuration."],
  [404, "Check the server's URL in the configuration."],
  [429, 'Wait before you send the request again.'],
]);

const wayOut = (status: number): string => WAYS_OUT.get(status) ?? "The server's log may name the cause.";

/**
 * Connects to a server over streamable HTTP. Each frame is sent in a separate POST. Answers arrive as JSON or as events. In the
 * older generation, the server sends its own frames in the response to a GET that stays open. If the server has lost the session,
 * the link begins a new session. The link also resumes broken event streams. In the stateless generation, the link cancels a
 * request by aborting its POST.
 */
export class HttpLink implements Link {
  readonly #name: string;
  readonly #target: HttpTarget;
  readonly #events: LinkEvents;
  readonly #stop = new AbortController();
  /** The requests that have no answer yet, each with its controller for an abort. */
  readonly #waiting = new Map<string, { readonly request: Request; readonly abort: AbortController }>();
  readonly #headerParams = new Map<string, readonly HeaderParam[]>();
  #handshake: { initialize?: Request; initialized?: Frame; session?: string; version?: string } = {};
  #renewing: Promise<boolean> | undefined;
  /** Resolves when the handshake has ended. POSTs may overtake each other, but wait for the handshake. */
  #ready: Promise<void> | undefined;
  /** Resolves with the answer to the last `initialize`. The stream of this answer may stay open. */
  #greeted = Promise.withResolvers<void>();
  #listening = false;
  #away = false;

  constructor(upstream: HttpUpstream, events: LinkEvents) {
    this.#name = upstream.name;
    this.#target = new HttpTarget(upstream.url, upstream.headers);
    this.#events = events;
  }

  start(): void {}

  send(frame: Frame): boolean {
    const cancelled = cancelledBy(frame);
    const waiting = cancelled === undefined ? undefined : this.#waiting.get(cancelled);
    if (waiting && isStateless(waiting.request)) waiting.abort.abort();
    else if (frame.kind === 'request' && frame.method === 'initialize') {
      this.#greeted = Promise.withResolvers();
      this.#ready = Promise.race([this.#greeted.promise, this.#post(frame)]);
    } else if (frame.kind === 'note' && frame.method === 'notifications/initialized')
      this.#ready = this.#postAfter(this.#ready, frame);
    // The client's answers do not wait, because a server may need an answer before the server answers `initialize`.
    else if (this.#ready && !isAnswer(frame)) void this.#postAfter(this.#ready, frame);
    else void this.#post(frame);
    return true;
  }

  pause(): void {}
  resume(): void {}

  async stop({ graceMs = 0 }: StopOptions = {}): Promise<void> {
    const endsAt = performance.now() + graceMs;
    while (this.#waiting.size > 0 && performance.now() < endsAt && !this.#stop.signal.aborted) await sleep(10);
    if (this.#stop.signal.aborted) return;
    this.#stop.abort();
    if (this.#handshake.session !== undefined) {
      try {
        const signal = AbortSignal.timeout(1_000);
        const response = await this.#target.send({ method: 'DELETE', headers: this.#sessionHeaders(), signal });
        response.resume();
      } catch {
        // The server may have ended or may refuse the DELETE. In both cases, the session expires by itself.
      }
    }
    this.#target.close();
  }

  async #postAfter(ready: Promise<void> | undefined, frame: Frame): Promise<void> {
    await ready;
    await this.#post(frame);
  }

  async #post(frame: Frame, again = false): Promise<void> {
    const request = frame.kind === 'request' ? frame : undefined;
    const abort = new AbortController();
    if (request) this.#waiting.set(request.id, { request, abort });
    try {
      const response = await this.#target.send({
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          accept: 'application/json, text/event-stream',
          ...this.#sessionHeaders(),
          ...this.#bodyHeaders(frame),
        },
        body: frame.bytes,
        once: runsTool(frame),
        signal: AbortSignal.any([this.#stop.signal, abort.signal]),
      });
      this.#back();
      if (response.statusCode === 404 && this.#handshake.session !== undefined && !again && request?.method !== 'initialize') {
        response.resume();
        if (await this.#renewSession()) {
          await this.#post(frame, true);
          return;
        }
      }
      await this.#answer(frame, response);
    } catch (error) {
      if (this.#stop.signal.aborted || abort.signal.aborted) return;
      const why = networkReason(error);
      this.#goneAway(why);
      if (request)
        this.#events.lost(
          request.id,
          `The MCP server "${this.#name}" at ${this.#target.url.origin} cannot be reached: ${why}. Check that the server runs.`,
        );
    } finally {
      if (request) this.#waiting.delete(request.id);
    }
  }

  async #answer(frame: Frame, response: IncomingMessage): Promise<void> {
    const request = frame.kind === 'request' ? frame : undefined;
    const status = response.statusCode ?? 0;
    const type = mediaTypeOf(response.headers);
    if (request?.method === 'initialize') this.#handshake = { initialize: request, ...sessionOf(response) };
    if (type === 'text/event-stream' && status < 300) return this.#readEvents(response, request);
    const body = await bodyOf(response, MAX_FRAME_BYTES);
    if (body === undefined) {
      if (request)
        this.#events.lost(
          request.id,
          `The MCP server "${this.#name}" answered with more than ${MAX_FRAME_BYTES / 1024 / 1024} MiB. Ask for less data.`,
        );
      return;
    }
    if (frame.kind === 'note' && frame.method === 'notifications/initialized' && status < 300) {
      this.#handshake.initialized = frame;
      void this.#listen();
    }
    if (type === 'application/json' && body.length > 0 && this.#take(body, request)) return;
    if (request === undefined || status === 202) return;
    const said = body.toString('utf8', 0, 500).trim();
    this.#events.lost(
      request.id,
      `The MCP server "${this.#name}" answered with HTTP ${status}. ${wayOut(status)}${said === '' ? '' : ` The answer: ${said}`}`,
    );
  }

  /**
   * Passes on the frames of a JSON body. If no frame answers the request, reports that the answer is lost. Returns false for a
   * body that is neither an answer nor a batch, and drops that body.
   */
  #take(body: Buffer, request: Request | undefined): boolean {
    const array = arrayAt(body, 0);
    if (array) {
      this.#passAll(
        array.elements.map(({ start, end }) => lineFrom(body.subarray(start, end))),
        request,
      );
      return true;
    }
    const frame = lineFrom(body);
    if (frame.kind === 'failure' && request && frame.id !== request.id) {
      // The server refused the request before it read the id, so the answer gets the id of the client's request.
      const { bytes, error } = frame;
      const code = valueAt(bytes, error.start, ['code']);
      const message = stringAt(bytes, valueAt(bytes, error.start, ['message']));
      this.#events.frame(
        frameOf(errorFrame(request.id, code ? Number(textOf(bytes, code)) : INTERNAL_ERROR, message ?? 'error')),
      );
      return true;
    }
    if (!isAnswer(frame)) return false;
    this.#passAll([frame], request);
    return true;
  }

  #passAll(frames: readonly Frame[], request: Request | undefined): void {
    for (const frame of frames) this.#pass(frame);
    if (request && !frames.some((frame) => answers(frame, request)))
      this.#events.lost(request.id, `The MCP server "${this.#name}" answered a different request. Restart or update the server.`);
  }

  #pass(frame: Frame): void {
    if (frame.kind === 'opaque') return; // The frame may be incomplete, because the stream ended within it.
    if (frame.kind === 'success') this.#learn(frame);
    if (isAnswer(frame) && this.#waiting.get(frame.id)?.request.method === 'initialize') this.#greeted.resolve();
    this.#events.frame(frame);
  }

  /**
   * Stores the data of an answer that later requests need. From `initialize`, these data are the agreed protocol version. From
   * tools/list, these data are the arguments that clients must repeat in HTTP headers.
   */
  #learn({ id, bytes, result }: Success): void {
    const request = this.#waiting.get(id)?.request;
    if (request === undefined) return;
    if (request.method === 'initialize') {
      const version = stringAt(bytes, valueAt(bytes, result.start, ['protocolVersion']));
      if (version !== undefined) this.#handshake.version = version;
    }
    if (request.method === 'tools/list' && isStateless(request)) {
      const { tools = [] } = (parsed(bytes, result) ?? {}) as { tools?: { name?: unknown; inputSchema?: unknown }[] };
      for (const { name, inputSchema } of tools)
        if (typeof name === 'string') this.#headerParams.set(name, headerParams(inputSchema));
    }
  }

  /**
   * Reads an event stream to its end. Resumes the stream of the server's own frames, and a stream with event ids that ends
   * without the expected answer.
   */
  async #readEvents(response: IncomingMessage, request: Request | undefined): Promise<void> {
    let stream: IncomingMessage | undefined = response;
    let lastEventId: string | undefined;
    let retryMs = RETRY_MS;
    let answered = false;
    while (stream) {
      const reader = new SseReader({
        event: ({ data, id, retry }) => {
          if (id !== undefined) lastEventId = id;
          if (retry !== undefined && /^\d+$/.test(retry)) retryMs = Number(retry);
          if (data === undefined || data.length === 0) return;
          const frame = lineFrom(data);
          if (request && answers(frame, request)) answered = true;
          this.#pass(frame);
        },
        tooLong: (bytes) => this.#events.tooLong({ bytes, head: Buffer.alloc(0), tail: Buffer.alloc(0) }),
      });
      try {
        for await (const chunk of stream as AsyncIterable<Buffer>) reader.push(chunk);
        reader.end();
      } catch {
        // The stream broke. The events before the break are valid.
      }
      if (this.#stop.signal.aborted || answered || (request && !this.#waiting.has(request.id))) return;
      if (request && lastEventId === undefined) break;
      stream = await this.#resume(lastEventId, retryMs, request && RESUME_TRIES);
    }
    if (request)
      this.#events.lost(
        request.id,
        `The MCP server "${this.#name}" broke off its answer. The request may have taken effect, so check before you send it again.`,
      );
  }

  /**
   * Sends a GET for the server's own frames, or for the missing part of a broken stream. Resolves to undefined if the server
   * offers no stream, or cannot be reached in `tries` attempts.
   */
  async #resume(
    lastEventId: string | undefined,
    firstDelayMs: number,
    tries: number = Number.POSITIVE_INFINITY,
  ): Promise<IncomingMessage | undefined> {
    for (let delay = firstDelayMs, tried = 1; ; delay = Math.min(delay * 2, MAX_RETRY_MS), tried += 1) {
      try {
        await sleep(delay, undefined, { signal: this.#stop.signal });
        const headers = {
          accept: 'text/event-stream',
          ...this.#sessionHeaders(),
          ...(lastEventId !== undefined && { 'last-event-id': lastEventId }),
        };
        const response = await this.#target.send({ method: 'GET', headers, signal: this.#stop.signal });
        this.#back();
        if (response.statusCode === 200 && mediaTypeOf(response.headers) === 'text/event-stream') return response;
        response.resume();
        return undefined;
      } catch (error) {
        if (this.#stop.signal.aborted) return undefined;
        this.#goneAway(networkReason(error));
        if (tried >= tries) return undefined;
      }
    }
  }

  async #listen(): Promise<void> {
    if (this.#listening) return;
    this.#listening = true;
    const stream = await this.#resume(undefined, 0);
    if (stream) await this.#readEvents(stream, undefined);
    this.#listening = false;
  }

  /**
   * Repeats the handshake, because the server has lost the session. The client already has an answer to its handshake, so the new
   * answer is not passed on. If the handshake fails, the link keeps the old session, so that the next request repeats the
   * handshake.
   */
  #renewSession(): Promise<boolean> {
    this.#renewing ??= (async () => {
      const { initialize, initialized } = this.#handshake;
      if (initialize === undefined) return false;
      const body = edited(initialize.bytes, [{ at: initialize.idAt, put: '"earpiece-renew"' }]);
      const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
      const response = await this.#target.send({ method: 'POST', headers, body, signal: this.#stop.signal });
      const answer = await bodyOf(response, MAX_FRAME_BYTES);
      if ((response.statusCode ?? 500) >= 300 || answer === undefined) return false;
      const version = versionOf(initialize);
      this.#handshake = {
        initialize,
        ...(initialized && { initialized }),
        ...sessionOf(response),
        ...(version !== undefined && { version }),
      };
      if (initialized) await this.#post(initialized, true);
      return true;
    })();
    const renewing = this.#renewing;
    return renewing.finally(() => {
      this.#renewing = undefined;
    });
  }

  #sessionHeaders(): Record<string, string> {
    const { session, version } = this.#handshake;
    return {
      ...(session !== undefined && { [SESSION_ID]: session }),
      ...(version !== undefined && { [PROTOCOL_VERSION]: version }),
    };
  }

  #bodyHeaders(frame: Frame): Record<string, string> {
    if (frame.kind !== 'request' || !isStateless(frame)) return {};
    const name = nameIn(frame);
    const wanted = this.#headerParams.get(toolOf(frame) ?? '') ?? [];
    const args = wanted.length > 0 ? param(frame, 'arguments') : undefined;
    return {
      [PROTOCOL_VERSION]: versionOf(frame) ?? '',
      [METHOD]: headerValue(frame.method),
      ...(name !== undefined && { [NAME]: headerValue(name) }),
      ...(args && objectAt(frame.bytes, args.start) && paramHeaders(wanted, parsed(frame.bytes, args))),
    };
  }

  #goneAway(why: string): void {
    if (this.#away) return;
    this.#away = true;
    this.#events.away(why);
  }

  #back(): void {
    if (!this.#away) return;
    this.#away = false;
    this.#events.back();
  }
}

/** Makes a frame of an HTTP message, without line breaks inside. */
const lineFrom = (bytes: Buffer): Frame => frameOf(asLine(bytes));

const isAnswer = (frame: Frame): frame is Success | Failure => frame.kind === 'success' || frame.kind === 'failure';

const answers = (frame: Frame, request: Request): boolean => isAnswer(frame) && frame.id === request.id;

function sessionOf(response: IncomingMessage): { session?: string } {
  const session = response.headers[SESSION_ID];
  return typeof session === 'string' ? { session } : {};
}
