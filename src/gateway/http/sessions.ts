import { randomUUID } from 'node:crypto';
import type { IncomingHttpHeaders, ServerResponse } from 'node:http';
import { defined } from '../../core/defined.ts';

import type { Outgoing } from '../riding/carry.ts';
import { deliver } from './delivering.ts';
import {
  asLine,
  editedRequest,
  frameOf,
  idOf,
  param,
  soundFrameOf,
  type Frame,
  type Request,
  cancelledBy,
} from '../../mcp/frames/frame.ts';
import { sseEvent } from '../../mcp/frames/framing.ts';
import { refuse, type Exchange, type HttpEndpoint } from './front.ts';
import { CONVERSATION, headerText, METHOD, NAME, nameIn, PROTOCOL_VERSION, SESSION_ID } from '../../mcp/http/headers.ts';
import { edited, textOf, valueAt, type Edit } from '../../mcp/frames/json.ts';
import {
  clientInfoAt,
  INVALID_REQUEST,
  isStateless,
  META_SUBSCRIPTION,
  staysOpen,
  versionOf,
} from '../../mcp/frames/protocol.ts';
import { Settling } from '../riding/settling.ts';
import { failing, STOPPED } from '../failing.ts';
import type { Endpoint, MakeEndpoint } from '../session.ts';

const IDLE_MS = 30 * 60_000;
/** How long an idle session lasts after its client closed the event stream. After status 404, a client begins a new session. */
const HUNG_UP_MS = 2 * 60_000;
const SWEEP_MS = 60_000;
const KEEP_ALIVE_MS = 15_000;
const MAX_SESSIONS = 200;
/** The maximum number of frames that are kept for a client whose event stream is not open. */
const MAX_KEPT = 1_000;

const HEADER_MISMATCH = -32020;
const SESSION_NOT_FOUND = -32001;

/**
 * Serves streamable HTTP, unless there is only one server, over HTTP and without prefixes (see `HttpPassthrough`). In the older
 * protocol generation, `initialize` begins a session with a separate endpoint. In the stateless generation, all requests with the
 * same `clientInfo` and conversation share a session. Two windows of one program may use the same ids and progress tokens. So
 * such a session makes ids and tokens unique for its endpoint, and restores them in the answers.
 */
export class HttpSessions implements HttpEndpoint {
  readonly #make: MakeEndpoint;
  readonly #sessions = new Map<string, HttpSession>();
  readonly #sweep: NodeJS.Timeout;

  constructor(make: MakeEndpoint) {
    this.#make = make;
    this.#sweep = setInterval(() => this.#endIdle(), SWEEP_MS);
    this.#sweep.unref();
  }

  async handle({ request, response, body }: Exchange): Promise<void> {
    const id = header(request.headers, SESSION_ID);
    const session = id === undefined ? undefined : this.#sessions.get(id);
    if (request.method === 'POST') {
      const frame = soundFrameOf(asLine(body));
      if (frame.kind === 'opaque') return refuse(response, 400, `the body is not a JSON-RPC message: ${frame.reason}`, -32700);
      if (frame.kind === 'batch')
        return refuse(response, 400, 'the body must be one message, got a batch; send each message separately', INVALID_REQUEST);
      if (frame.kind === 'request' && isStateless(frame)) return this.#stateless(frame, request.headers, response);
      if (frame.kind === 'request' && frame.method === 'initialize' && id === undefined) {
        return this.#open(randomUUID(), header(request.headers, CONVERSATION), response)?.post(frame, response);
      }
      if (session) return session.post(frame, response);
    }
    if (id === undefined) {
      const status = request.method === 'POST' ? 400 : 405; // A stateless client learns from status 405 that there is no event stream.
      return refuse(response, status, 'the header Mcp-Session-Id is missing: send initialize first');
    }
    if (session === undefined)
      return refuse(response, 404, `there is no open session "${id}": send initialize first`, SESSION_NOT_FOUND);
    if (request.method === 'GET') return session.listen(response);
    this.#sessions.delete(id);
    await session.close(undefined, 'The session was ended during this call. The call may have taken effect.');
    response.writeHead(200).end();
  }

  async close(options: { readonly now?: boolean } = {}): Promise<void> {
    clearInterval(this.#sweep);
    const sessions = [...this.#sessions.values()];
    this.#sessions.clear();
    await Promise.all(sessions.map((session) => session.close(options.now ? 0 : undefined)));
  }

  #stateless(frame: Request, headers: IncomingHttpHeaders, response: ServerResponse): void {
    const mismatch = headerMismatch(frame, headers);
    if (mismatch !== undefined) return refuse(response, 400, `headers and body differ: ${mismatch}`, HEADER_MISMATCH, frame.id);
    const at = clientInfoAt(frame);
    const conversation = header(headers, CONVERSATION);
    const key = JSON.stringify([at ? textOf(frame.bytes, at) : '', conversation ?? '']);
    const session = this.#sessions.get(key) ?? this.#open(key, conversation, response, { stateless: true });
    session?.post(frame, response);
  }

  #open(
    id: string,
    conversation: string | undefined,
    response: ServerResponse,
    { stateless = false } = {},
  ): HttpSession | undefined {
    if (this.#sessions.size >= MAX_SESSIONS) this.#endIdle();
    if (this.#sessions.size >= MAX_SESSIONS) {
      refuse(
        response,
        503,
        `there are already ${MAX_SESSIONS} sessions, the maximum: end a session, or wait until a session is idle`,
      );
      return undefined;
    }
    const session: HttpSession = new HttpSession({
      id,
      stateless,
      make: (client) => this.#make({ ...client, ...(conversation !== undefined && { session: conversation }) }),
      ended: () => {
        if (this.#sessions.get(id) === session) this.#sessions.delete(id);
      },
    });
    this.#sessions.set(id, session);
    session.start();
    return session;
  }

  #endIdle(): void {
    for (const [id, session] of this.#sessions) {
      if (!session.idle) continue;
      this.#sessions.delete(id);
      void session.close();
    }
  }
}

/** A POST that waits for its answer. `id` and `token` are the client's own values, restored in the answer. */
type Post = {
  readonly response: ServerResponse;
  readonly request: Request;
  readonly id: string;
  readonly token?: string;
  readonly method: string;
  streaming: boolean;
};

class HttpSession {
  readonly #options: { readonly id: string; readonly stateless: boolean; readonly ended: () => void };
  readonly #endpoint: Endpoint;
  readonly #settling = new Settling();
  /** Open POSTs, by the id with which the endpoint gets the request. */
  readonly #posts = new Map<string, Post>();
  #stream: { readonly response: ServerResponse; readonly keepAlive: NodeJS.Timeout } | undefined;
  #listened = false;
  #kept: Buffer[] = [];
  #seenAt = performance.now();
  #made = 0;
  #whyEnded: string | undefined;

  constructor(options: {
    readonly id: string;
    readonly stateless: boolean;
    readonly make: MakeEndpoint;
    readonly ended: () => void;
  }) {
    this.#options = options;
    this.#endpoint = options.make({
      key: options.id,
      settling: this.#settling,
      channel: {
        send: (out) => this.#send(out),
        pause: () => {}, // There is no input to stop, because each request has its own connection.
        resume: () => {},
        ended: (why) => this.#end(why),
      },
    });
  }

  get idle(): boolean {
    if (this.#posts.size > 0 || this.#stream) return false;
    return performance.now() - this.#seenAt > (this.#listened ? HUNG_UP_MS : IDLE_MS);
  }

  start(): void {
    this.#endpoint.start();
  }

  post(frame: Frame, response: ServerResponse): void {
    this.#seenAt = performance.now();
    if (frame.kind !== 'request') {
      this.#endpoint.fromClient(this.#options.stateless ? this.#renamed(frame) : frame);
      response.writeHead(202).end();
      return;
    }
    const { request, post } = this.#admitted(frame, response);
    this.#posts.set(request.id, post);
    response.once('close', () => {
      if (this.#posts.get(request.id) !== post) return;
      this.#posts.delete(request.id);
      this.#seenAt = performance.now();
      if (response.writableFinished) return;
      if (this.#options.stateless) this.#endpoint.fromClient(cancelOf(request.id));
      else this.#endpoint.abandon(request.id);
    });
    this.#endpoint.fromClient(request);
  }

  listen(response: ServerResponse): void {
    if (this.#stream) return refuse(response, 409, 'this session already has an event stream: close that stream first');
    response.writeHead(200, {
      'content-type': 'text/event-stream',
      'cache-control': 'no-cache, no-transform',
      [SESSION_ID]: this.#options.id,
    });
    response.flushHeaders();
    const keepAlive = setInterval(() => response.write(': still here\n\n'), KEEP_ALIVE_MS);
    keepAlive.unref();
    this.#stream = { response, keepAlive };
    this.#listened = true;
    response.once('close', () => {
      clearInterval(keepAlive);
      this.#seenAt = performance.now();
      if (this.#stream?.response === response) this.#stream = undefined;
    });
    for (const bytes of this.#kept) response.write(sseEvent(bytes));
    this.#kept = [];
  }

  /** Ends the session. A `tools/call` in flight gets a failing result with the text `why`. Any other request gets an error. */
  async close(graceMs?: number, why = STOPPED): Promise<void> {
    await this.#endpoint.close(defined({ graceMs }));
    for (const { response, request, streaming } of this.#posts.values()) {
      const { bytes } = failing(request, why);
      if (streaming) response.end(sseEvent(bytes));
      else response.writeHead(200, { 'content-type': 'application/json' }).end(bytes);
    }
    this.#posts.clear();
    this.#stream?.response.end();
  }

  /** In the stateless generation, makes the request's id and progress token unique at this endpoint. */
  #admitted(frame: Request, response: ServerResponse): { request: Request; post: Post } {
    const post = { response, request: frame, method: frame.method, streaming: false };
    const token = param(frame, '_meta', 'progressToken');
    const tokenText = token && textOf(frame.bytes, token);
    if (!this.#options.stateless)
      return { request: frame, post: { ...post, id: frame.id, ...(tokenText !== undefined && { token: tokenText }) } };
    this.#made += 1;
    const edits: Edit[] = [{ at: frame.idAt, put: `"s${this.#made}"` }];
    if (token) edits.push({ at: token, put: `"s${this.#made}"` });
    const request = editedRequest(frame, edits);
    const id = textOf(frame.bytes, frame.idAt);
    return { request, post: { ...post, id, ...(tokenText !== undefined && { token: tokenText }) } };
  }

  /** Replaces the client's id in a cancel by the id at the endpoint, if exactly one open request has the client's id. */
  #renamed(frame: Frame): Frame {
    const cancelled = cancelledBy(frame);
    if (cancelled === undefined) return frame;
    const meant = [...this.#posts].filter(([, { id }]) => id === cancelled);
    return meant.length === 1 ? cancelOf(meant[0]![0]) : frame;
  }

  #send(out: Outgoing): boolean {
    const frame = out.frame ?? frameOf(out.bytes);
    if (frame.kind === 'success' || frame.kind === 'failure') return this.#answer(frame, out);
    const post = this.#postFor(frame);
    if (post) return this.#write(post.response, this.#event(frame, post), out, () => this.#streamed(post));
    if (this.#stream) return this.#write(this.#stream.response, sseEvent(frame.bytes), out);
    if (this.#kept.length < MAX_KEPT && !this.#options.stateless) this.#kept.push(frame.bytes);
    return true;
  }

  #answer(frame: Frame & { kind: 'success' | 'failure' }, out: Outgoing): boolean {
    const post = this.#posts.get(frame.id);
    if (post === undefined) {
      out.delivery?.release('cancelled'); // The client has disconnected during this request.
      return true;
    }
    this.#posts.delete(frame.id);
    const { response } = post;
    const bytes = this.#options.stateless ? givenBack(frame, post) : frame.bytes;
    if (post.method === 'initialize' && !this.#options.stateless) response.setHeader(SESSION_ID, this.#options.id);
    if (post.streaming) {
      this.#write(response, sseEvent(bytes), out);
      response.end();
    } else {
      const body = bytes.at(-1) === 0x0a ? bytes.subarray(0, -1) : bytes;
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': body.length });
      this.#write(response, body, out);
      response.end();
    }
    // With `server/discover`, the client only probed the protocol generation. After this error, the client uses the older
    // generation, and not this endpoint.
    if (frame.kind === 'failure' && post.method === 'server/discover' && this.#posts.size === 0)
      this.#end('the server does not know the stateless protocol');
    return true;
  }

  #streamed(post: Post): void {
    if (post.streaming) return;
    post.streaming = true;
    post.response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache, no-transform' });
    post.response.flushHeaders();
  }

  #write(response: ServerResponse, bytes: Buffer, { requestId, delivery }: Outgoing, first?: () => void): boolean {
    if (response.destroyed) {
      delivery?.release('write_error');
      return true;
    }
    first?.();
    if (delivery && requestId !== undefined)
      deliver(response, { settling: this.#settling, requestId, delivery }, (written) => response.write(bytes, written));
    else response.write(bytes);
    if (!response.writableNeedDrain) return true;
    const resume = (): void => {
      response.off('drain', resume).off('close', resume);
      this.#endpoint.resume();
    };
    response.on('drain', resume).on('close', resume);
    return false;
  }

  /**
   * Returns the POST whose response gets a server's frame. A frame that names no POST goes to the only waiting POST. If several
   * POSTs wait and there is no event stream, the frame goes to the newest. Otherwise the result is undefined.
   */
  #postFor(frame: Frame): Post | undefined {
    if (frame.kind !== 'request' && frame.kind !== 'note') return undefined;
    const subscription = param(frame, '_meta', META_SUBSCRIPTION);
    if (subscription) return this.#posts.get(idOf(frame.bytes, subscription));
    const token = frame.method === 'notifications/progress' ? param(frame, 'progressToken') : undefined;
    if (token) {
      const text = textOf(frame.bytes, token);
      const id = this.#options.stateless ? text : [...this.#posts].find(([, post]) => post.token === text)?.[0];
      if (id !== undefined) return this.#posts.get(id);
    }
    const waiting = [...this.#posts.values()].filter((post) => !staysOpen(post));
    if (waiting.length === 1 || (waiting.length > 0 && !this.#stream)) return waiting.at(-1);
    return undefined;
  }

  #event(frame: Frame, post: Post): Buffer {
    if (!this.#options.stateless || (frame.kind !== 'request' && frame.kind !== 'note')) return sseEvent(frame.bytes);
    const edits: Edit[] = [];
    const subscription = param(frame, '_meta', META_SUBSCRIPTION);
    if (subscription) edits.push({ at: subscription, put: post.id });
    const token = frame.method === 'notifications/progress' ? param(frame, 'progressToken') : undefined;
    if (token && post.token !== undefined) edits.push({ at: token, put: post.token });
    return sseEvent(edited(frame.bytes, edits));
  }

  /** Ends the session, because its server has ended or its client will not use it again. */
  #end(why: string): void {
    if (this.#whyEnded !== undefined) return;
    this.#whyEnded = why;
    this.#options.ended();
    void this.close(0);
  }
}

function givenBack(frame: Frame & { kind: 'success' | 'failure' }, post: Post): Buffer {
  const edits: Edit[] = [{ at: frame.idAt, put: post.id }];
  const subscription =
    frame.kind === 'success' ? valueAt(frame.bytes, frame.result.start, ['_meta', META_SUBSCRIPTION]) : undefined;
  if (subscription) edits.push({ at: subscription, put: post.id });
  return edited(frame.bytes, edits);
}

function cancelOf(id: string): Frame {
  return frameOf(
    Buffer.from(
      `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":${id},"reason":"the client hung up"}}\n`,
    ),
  );
}

function headerMismatch(frame: Request, headers: IncomingHttpHeaders): string | undefined {
  const version = header(headers, PROTOCOL_VERSION);
  if (version !== versionOf(frame)) return `MCP-Protocol-Version is ${version ?? 'missing'}, the body says ${versionOf(frame)}`;
  const method = header(headers, METHOD);
  if (method !== frame.method) return `Mcp-Method is ${method ?? 'missing'}, the body says ${frame.method}`;
  const name = nameIn(frame);
  const given = header(headers, NAME);
  if (name !== undefined && (given === undefined || headerText(given) !== name))
    return `Mcp-Name is ${given ?? 'missing'}, the body says ${name}`;
  return undefined;
}

function header(headers: IncomingHttpHeaders, name: string): string | undefined {
  const value = headers[name];
  return Array.isArray(value) ? value[0] : value;
}
