import { randomUUID } from 'node:crypto';
import type { IncomingHttpHeaders, IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http';

import { carry, leaving, type OpenCall, type Outgoing } from './riding/carry.ts';
import { HttpClients, type ClientsOptions, type HttpClient, type OpenRequest } from './clients.ts';
import {
  errorFrame,
  frameOf,
  runsTool,
  type Failure,
  type Frame,
  type Request,
  type Success,
  cancelledBy,
} from '../mcp/frames/frame.ts';
import { MAX_FRAME_BYTES, sseEvent, SseReader, type SseEvent } from '../mcp/frames/framing.ts';
import { reasonOf, type GuardedRider } from './riding/guarded.ts';
import { isHandshake, withInstructions } from './riding/instructions.ts';
import { refuse, type Exchange, type HttpEndpoint } from './http/front.ts';
import { CONVERSATION, SESSION_ID } from '../mcp/http/headers.ts';
import { drained, forward, passed, write } from './http/passing.ts';
import { bodyOf, HttpTarget, mediaTypeOf, networkReason } from '../mcp/http/target.ts';
import { answerOwn, OwnTools } from './riding/own-tools.ts';
import { clientInfoOf, INTERNAL_ERROR, INVALID_REQUEST, toolOf } from '../mcp/frames/protocol.ts';
import { Catalog } from './riding/tools.ts';
import { failing, refusal, STOPPED } from './failing.ts';
import { idsIn, sifted, Unanswered, Unasked } from './unasked.ts';
import type { HttpUpstream } from '../mcp/upstream.ts';

/** The prefix of session ids that the gateway makes if the server has no sessions. These ids distinguish clients. */
const OUR_SESSION = 'earpiece-';

export type PassthroughOptions = ClientsOptions & {
  readonly upstream: HttpUpstream;
  readonly report: (line: string) => void;
  /** Whether the gateway checks the client's Authorization header. If so, the header is not passed to the server. */
  readonly ownsAuthorization: boolean;
};

/**
 * Passes requests of HTTP clients with their headers to an HTTP server, and the answers with their status, headers and events
 * back to the clients. Changes results of tools/list and tools/call, the instructions in the handshake, the content length, and
 * some headers: see `passed`.
 */
export class HttpPassthrough implements HttpEndpoint {
  readonly #options: PassthroughOptions;
  readonly #rider: GuardedRider;
  readonly #target: HttpTarget;
  readonly #clients: HttpClients;
  readonly #catalog = new Catalog();
  readonly #own: OwnTools;
  readonly #exchanges = new WeakMap<Request, Exchange>();
  readonly #unasked: Unasked;
  readonly #running = new Set<AbortController>();
  #away = false;
  #stopped = false;

  constructor(options: PassthroughOptions) {
    this.#options = options;
    this.#rider = options.rider;
    this.#target = new HttpTarget(options.upstream.url, options.upstream.headers);
    this.#unasked = new Unasked(options.upstream.name, options.report);
    this.#clients = new HttpClients({ ...options, nameOf: (connection, tool) => this.#own.nameOf(connection, tool) });
    this.#own = new OwnTools(options.rider, this.#catalog, (params, like) => this.#ask(this.#exchanges.get(like)!, params));
  }

  async handle(exchange: Exchange): Promise<void> {
    const { request, response, body } = exchange;
    const session = header(request.headers, SESSION_ID);
    const conversation = header(request.headers, CONVERSATION);
    if (request.method === 'DELETE' && session !== undefined) {
      this.#clients.end(session);
      if (session.startsWith(OUR_SESSION)) {
        response.writeHead(200).end();
        return;
      }
    }
    if (request.method !== 'POST')
      return this.#pass(exchange, session === undefined ? undefined : this.#clients.ofSession(session, conversation));

    const frame = frameOf(body);
    if (frame.kind === 'request') {
      const client =
        frame.method === 'initialize'
          ? undefined
          : session === undefined
            ? this.#clients.ofRequest(frame, conversation)
            : this.#clients.ofSession(session, conversation);
      if (client === undefined) return this.#initialize(exchange, frame, conversation);
      client.settling.clientSent(frame);
      client.unanswered.forget(frame.id);
      if (frame.method === 'tools/call') return this.#call(exchange, frame, client);
      if (isHandshake(frame.method)) client.open.set(frame.id, { kind: 'handshake', request: frame });
      if (frame.method === 'tools/list') client.open.set(frame.id, { kind: 'list', request: frame });
      return this.#pass(exchange, client, frame);
    }
    const client = session === undefined ? undefined : this.#clients.ofSession(session, conversation);
    client?.settling.clientSent(frame);
    const cancelled = client && cancelledBy(frame);
    const open = cancelled === undefined ? undefined : client?.open.get(cancelled);
    if (open?.kind === 'call') open.call.cancelled = true;
    if (runsTool(frame))
      return refuse(response, 400, 'a tools/call must have an id, because the answer needs this id', INVALID_REQUEST);
    if (frame.kind === 'batch' && frame.elements.some(({ start, end }) => runsTool(frameOf(frame.bytes.subarray(start, end))))) {
      return refuse(response, 400, 'a batch must not contain a tools/call: send each call separately', INVALID_REQUEST);
    }
    return this.#pass(exchange, client, undefined, idsIn(frame));
  }

  async close(): Promise<void> {
    this.#stopped = true;
    for (const abort of this.#running) abort.abort();
    this.#clients.close();
    this.#unasked.end();
    this.#target.close();
  }

  async #call(exchange: Exchange, frame: Request, client: HttpClient): Promise<void> {
    const { response } = exchange;
    const name = toolOf(frame);
    if (name === undefined) return this.#pass(exchange, client, frame);
    const connection = this.#rider.callerOf(client.connection, frame);
    const server = this.#options.upstream.name;
    const call: OpenCall = { server, tool: name, requestId: frame.id, beganAt: performance.now(), connection, cancelled: false };
    client.open.set(frame.id, { kind: 'call', call, request: frame });
    response.once('close', () => {
      // If the stream ended regularly but without the answer, the client resumes the stream with a GET.
      if (response.writableFinished) return;
      call.cancelled = true;
      client.open.delete(frame.id);
    });
    this.#exchanges.set(frame, exchange);
    const meant = await this.#own.meant(frame, client.connection, name);
    if (meant !== undefined) {
      return answerOwn(this.#rider, frame, { call, tool: meant }, (out) => {
        client.open.delete(frame.id);
        this.#say(response, client, out);
      });
    }
    const verdict = await this.#rider.before(connection, call);
    if (call.cancelled || verdict.kind === 'refuse') client.open.delete(frame.id);
    if (call.cancelled) {
      if (verdict.kind === 'refuse') verdict.delivery?.release('late');
      return this.#say(response, client, undefined);
    }
    if (verdict.kind === 'refuse') return this.#say(response, client, leaving(refusal(frame, verdict)));
    return this.#pass(exchange, client, frame);
  }

  /** Sends an answer that the gateway made. For a cancelled call (`out` is undefined), sends status 202 without a body. */
  #say(response: ServerResponse, client: HttpClient, out: Outgoing | undefined): void {
    if (out === undefined) return void response.writeHead(202).end();
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': out.bytes.length });
    write(response, client, out, true);
  }

  async #initialize(exchange: Exchange, frame: Request, conversation: string | undefined): Promise<void> {
    const upstream = await this.#send(exchange, frame);
    if (upstream === undefined) return;
    const ok = (upstream.statusCode ?? 500) < 300;
    const given = header(upstream.headers, SESSION_ID);
    const session = given ?? `${OUR_SESSION}${randomUUID()}`;
    if (!ok) return forward(upstream, exchange.response);
    const client = this.#clients.open(session, clientInfoOf(frame), conversation);
    client.open.set(frame.id, { kind: 'handshake', request: frame });
    client.unanswered.add(frame.id);
    await this.#answer(
      upstream,
      { response: exchange.response, client, frame, waits: client.unanswered },
      given === undefined ? { [SESSION_ID]: session } : {},
    );
  }

  /**
   * Sends a request to the server and passes the answer on. If `client` is given, this method changes the answers to the client's
   * open requests, as a relay does.
   */
  async #pass(
    exchange: Exchange,
    client: HttpClient | undefined,
    frame?: Request,
    ids: readonly string[] = frame ? [frame.id] : [],
  ): Promise<void> {
    const waits = client?.unanswered ?? new Unanswered();
    for (const id of ids) waits.add(id);
    const upstream = await this.#send(exchange, frame, client);
    if (upstream !== undefined) await this.#answer(upstream, { response: exchange.response, client, frame, waits });
  }

  async #answer(upstream: IncomingMessage, to: AnswerTo, more: OutgoingHttpHeaders = {}): Promise<void> {
    const { response, client, frame, waits } = to;
    const type = mediaTypeOf(upstream.headers);
    if ((upstream.statusCode ?? 500) >= 300) return forward(upstream, response, more);
    if (type === 'text/event-stream') return this.#passEvents(upstream, to, more);
    if (type !== 'application/json') return forward(upstream, response, more);
    let body: Buffer | undefined;
    try {
      body = await bodyOf(upstream, MAX_FRAME_BYTES);
    } catch (error) {
      if (this.#answeredStopped(response, frame)) return;
      throw error;
    }
    if (body === undefined) {
      const why = `The MCP server "${this.#options.upstream.name}" answered with more than ${MAX_FRAME_BYTES / 1024 / 1024} MiB. Ask for less data.`;
      return refuse(response, 502, why, INTERNAL_ERROR, frame?.id);
    }
    const kept = sifted(frameOf(body), waits, this.#unasked);
    if (kept === undefined) {
      const why = `The MCP server "${this.#options.upstream.name}" answered a different request. Restart or update the server.`;
      return refuse(response, 502, why, INTERNAL_ERROR, frame?.id);
    }
    const out = leaving((await this.#changed(kept, client)) ?? { bytes: kept.bytes });
    response.writeHead(upstream.statusCode ?? 200, { ...passed(upstream.headers), ...more, 'content-length': out.bytes.length });
    write(response, client, out, true);
  }

  async #passEvents(upstream: IncomingMessage, to: AnswerTo, more: OutgoingHttpHeaders): Promise<void> {
    const { response, client, frame, waits } = to;
    response.writeHead(upstream.statusCode ?? 200, { ...passed(upstream.headers), ...more });
    response.flushHeaders();
    let events: SseEvent[] = [];
    const reader = new SseReader({
      event: (event) => events.push(event),
      tooLong: (bytes) =>
        this.#options.report(
          `an event of ${bytes} bytes was dropped: at most ${MAX_FRAME_BYTES / 1024 / 1024} MiB are passed on`,
        ),
    });
    const passEvents = async (): Promise<void> => {
      const some = events;
      events = [];
      for (const event of some) {
        const kept = event.data && sifted(frameOf(event.data), waits, this.#unasked);
        if (event.data !== undefined && kept === undefined) continue;
        const out = kept && leaving((await this.#changed(kept, client)) ?? { bytes: kept.bytes });
        if (out === undefined || out.bytes === event.data) response.write(withLf(event.raw));
        else write(response, client, { ...out, bytes: sseEvent(out.bytes, event) }, false);
        if (response.writableNeedDrain && !response.destroyed) await drained(response);
      }
    };
    try {
      for await (const chunk of upstream as AsyncIterable<Buffer>) {
        reader.push(chunk);
        await passEvents();
      }
      reader.end();
      await passEvents();
      response.end();
    } catch {
      const answered = frame === undefined || !waits.has(frame.id);
      // The server's answer was cut off, so the connection to the client is cut off too.
      if (answered || !this.#answeredStopped(response, frame)) response.destroy();
    }
  }

  /**
   * Answers a request that was cut off by the end of this gateway. Returns false if the gateway has not ended, or if there is no
   * request to answer.
   */
  #answeredStopped(response: ServerResponse, frame: Request | undefined): boolean {
    if (!this.#stopped || frame === undefined) return false;
    const { bytes } = failing(frame, STOPPED);
    // If the head was already sent, the response is an event stream.
    if (response.headersSent) response.end(sseEvent(bytes));
    else response.writeHead(200, { 'content-type': 'application/json' }).end(bytes);
    return true;
  }

  /**
   * Returns the server's answer, changed for this client. Undefined for a frame that passes unchanged, such as an error or a
   * frame that answers no open request.
   */
  async #changed(frame: Frame, client: HttpClient | undefined): Promise<Outgoing | undefined> {
    if (client === undefined || (frame.kind !== 'success' && frame.kind !== 'failure')) return undefined;
    const open: OpenRequest | undefined = client.open.get(frame.id);
    if (open === undefined) return undefined;
    const carries = frame.kind === 'success' && open.kind === 'call';
    const out = carries && (await carry(this.#rider, open.call, this.#catalog.schemaOf(open.call.tool), frame));
    client.open.delete(frame.id);
    if (out) return out;
    if (frame.kind === 'failure') return undefined;
    if (open.kind === 'handshake') {
      const text = await this.#rider.instructions(client.connection);
      return { bytes: text === undefined ? frame.bytes : withInstructions(frame, text) };
    }
    return { bytes: await this.#own.listed(client.connection, frame) };
  }

  /**
   * Sends a request to the server and returns the answer, whose body is not read yet. If the server does not answer, the client
   * gets an error, or for a tools/call a failing result, and this method returns undefined.
   */
  async #send(exchange: Exchange, frame?: Request, client?: HttpClient): Promise<IncomingMessage | undefined> {
    const { request, response, body } = exchange;
    const abort = new AbortController();
    this.#running.add(abort);
    response.once('close', () => {
      this.#running.delete(abort);
      if (!response.writableFinished) abort.abort();
    });
    try {
      const upstream = await this.#target.send({
        method: request.method ?? 'GET',
        headers: this.#headersFor(request.headers),
        signal: abort.signal,
        ...(request.method === 'POST' && { body }),
        once: frame !== undefined && runsTool(frame),
      });
      if (this.#away) this.#tell('reconnected', 'it answers again');
      this.#away = false;
      return upstream;
    } catch (error) {
      if (!abort.signal.aborted) await this.#unreachable(response, networkReason(error), frame, client);
      else this.#answeredStopped(response, frame);
      return undefined;
    }
  }

  async #unreachable(
    response: ServerResponse,
    reason: string,
    frame: Request | undefined,
    client: HttpClient | undefined,
  ): Promise<void> {
    if (!this.#away) this.#tell('disconnected', reason);
    this.#away = true;
    const why = `The MCP server "${this.#options.upstream.name}" at ${this.#target.url.origin} cannot be reached: ${reason}. Check that the server runs.`;
    const open = frame && client?.open.get(frame.id);
    if (frame === undefined) return refuse(response, 502, why, INTERNAL_ERROR);
    if (client === undefined || open?.kind !== 'call') {
      response.writeHead(200, { 'content-type': 'application/json' }).end(errorFrame(frame.id, INTERNAL_ERROR, why));
      return;
    }
    const out = await carry(this.#rider, open.call, 'none', frameOf(failing(frame, why).bytes) as Success);
    client.open.delete(frame.id);
    this.#say(response, client, leaving(out));
  }

  /** Asks the server for its tools/list, with the headers of the client's request. */
  async #ask(exchange: Exchange, params: object): Promise<Success | Failure | undefined> {
    const body = Buffer.from(`{"jsonrpc":"2.0","id":"earpiece-1","method":"tools/list","params":${JSON.stringify(params)}}`);
    const headers = this.#headersFor(exchange.request.headers);
    delete headers['mcp-name'];
    if (headers['mcp-method'] !== undefined) headers['mcp-method'] = 'tools/list';
    try {
      const upstream = await this.#target.send({ method: 'POST', headers, body, signal: AbortSignal.timeout(2_000) });
      const answer = await bodyOf(upstream, MAX_FRAME_BYTES);
      if (answer === undefined) return undefined;
      if (mediaTypeOf(upstream.headers) !== 'text/event-stream') return answerIn(answer);
      let found: Success | Failure | undefined;
      const reader = new SseReader({ event: ({ data }) => (found ??= data && answerIn(data)), tooLong: () => {} });
      reader.push(answer);
      reader.end();
      return found;
    } catch (error) {
      this.#options.report(`tools/list of "${this.#options.upstream.name}": ${reasonOf(error)}`);
      return undefined;
    }
  }

  #headersFor(given: IncomingHttpHeaders): OutgoingHttpHeaders {
    const headers = passed(given);
    headers['accept-encoding'] = 'identity';
    if (this.#options.ownsAuthorization) delete headers.authorization;
    if (header(given, SESSION_ID)?.startsWith(OUR_SESSION)) delete headers[SESSION_ID];
    return headers;
  }

  #tell(state: 'disconnected' | 'reconnected', detail: string): void {
    const server = this.#options.upstream.name;
    this.#options.report(`MCP server "${server}" ${state}: ${detail}`);
    this.#rider.upstream({ server, state, detail });
  }
}

/** The receiver of an answer. `waits` contains the ids of the requests without an answer. */
type AnswerTo = {
  readonly response: ServerResponse;
  readonly client: HttpClient | undefined;
  readonly frame: Request | undefined;
  readonly waits: Unanswered;
};

/**
 * Ends each line of an event with LF or CRLF. Some clients do not end a line at a lone CR, and would read other lines than the
 * gateway has checked.
 */
function withLf(raw: Buffer): Buffer {
  return raw.includes(0x0d) ? Buffer.from(raw.toString('latin1').replaceAll(/\r(?!\n)/g, '\n'), 'latin1') : raw;
}

function header(headers: IncomingHttpHeaders, name: string): string | undefined {
  const value = headers[name];
  return Array.isArray(value) ? value[0] : value;
}

function answerIn(bytes: Buffer): Success | Failure | undefined {
  const frame = frameOf(bytes);
  return (frame.kind === 'success' || frame.kind === 'failure') && frame.id === '"earpiece-1"' ? frame : undefined;
}
