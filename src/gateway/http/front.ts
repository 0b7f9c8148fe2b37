import { createHash, timingSafeEqual } from 'node:crypto';
import { once } from 'node:events';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

import { EarpieceError } from '../../core/errors.ts';
import { MAX_FRAME_BYTES } from '../../mcp/frames/framing.ts';
import { bodyOf, mediaTypeOf } from '../../mcp/http/target.ts';
import { reasonOf } from '../riding/guarded.ts';

export type HttpFrontOptions = {
  /**
   * The host name or IP address to listen on. Default: 127.0.0.1. Any value other than 127.0.0.1, ::1 and localhost needs a
   * token.
   */
  readonly host?: string;
  /** The port to listen on. By default, any free port. */
  readonly port?: number;
  /** The path of the MCP endpoint, `/mcp` by default. */
  readonly path?: string;
  /** The token that a client must send as `Authorization: Bearer …`. */
  readonly token?: string;
  /** Host names allowed in `Host` and `Origin`, in addition to the loopback names and `host`. */
  readonly allowedHosts?: readonly string[];
};

/** Answers the requests that passed the front's checks. */
export interface HttpEndpoint {
  /**
   * Answers one request. For a GET or DELETE, `body` is empty. The promise must always settle. If the promise rejects, the front
   * answers with status 500, or destroys a response whose head is already sent.
   */
  handle(exchange: Exchange): Promise<void>;
  close(options?: { readonly now?: boolean }): Promise<void>;
}

export type Exchange = { readonly request: IncomingMessage; readonly response: ServerResponse; readonly body: Buffer };

/**
 * How long a closing gateway waits for the last answers to be written. A client that does not read must not keep the gateway
 * alive.
 */
const LAST_ANSWER_MS = 500;

const LOOPBACK = ['127.0.0.1', 'localhost', '::1', '[::1]'];

/**
 * Serves MCP over streamable HTTP on this machine. `Host` must be a loopback name, `host` or an allowed host, and so must the
 * host of an `Origin`. Otherwise, a page in a browser could reach the server through DNS rebinding. If a token is set, requests
 * without the token are refused.
 */
export class HttpFront {
  readonly #options: HttpFrontOptions;
  readonly #endpoint: HttpEndpoint;
  readonly #server: Server;
  readonly #report: (line: string) => void;
  readonly #allowed: ReadonlySet<string>;
  readonly #path: string;
  /** The responses that are not closed yet. */
  readonly #open = new Set<ServerResponse>();

  constructor(options: HttpFrontOptions, endpoint: HttpEndpoint, report: (line: string) => void) {
    const { host = '127.0.0.1', path = '/mcp', allowedHosts = [], token } = options;
    if (!LOOPBACK.includes(host) && token === undefined) {
      throw new EarpieceError(
        'bad_argument',
        `listening on "${host}" would let other machines connect: set a token, or listen on 127.0.0.1`,
      );
    }
    this.#options = options;
    this.#endpoint = endpoint;
    this.#report = report;
    this.#path = path;
    this.#allowed = new Set([...LOOPBACK, host, ...allowedHosts].map((name) => name.toLowerCase()));
    // An `import` would read every export and thereby load undici, which costs 55 ms and 5 MB.
    const { createServer } = process.getBuiltinModule('node:http');
    this.#server = createServer((request, response) => void this.#serve(request, response));
    // A request and its answer have no time limit, because a tool may take as long as it needs, and an event stream stays open.
    this.#server.requestTimeout = 0;
    this.#server.timeout = 0;
  }

  async listen(): Promise<string> {
    const { host = '127.0.0.1', port = 0 } = this.#options;
    await new Promise<void>((resolve, reject) => {
      this.#server.once('error', (error: NodeJS.ErrnoException) => {
        const why =
          error.code === 'EADDRINUSE'
            ? `port ${port} of ${host} is in use: choose another port, or 0 for any free port`
            : `cannot listen on port ${port} of ${JSON.stringify(host)} (${error.code}): choose another port or host`;
        reject(new EarpieceError('bad_argument', why, { cause: error }));
      });
      this.#server.listen(port, host, resolve);
    });
    const { port: actual } = this.#server.address() as AddressInfo;
    return `http://${host.includes(':') ? `[${host}]` : host}:${actual}${this.#path}`;
  }

  async close(options?: { readonly now?: boolean }): Promise<void> {
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    await this.#endpoint.close(options);
    // The last answers to requests in flight must still be written.
    const late = new AbortController();
    const left = [...this.#open].map((response) => once(response, 'close', { signal: late.signal }).catch(() => {}));
    await Promise.race([Promise.all(left), sleep(LAST_ANSWER_MS, undefined, { signal: late.signal }).catch(() => {})]);
    late.abort();
    this.#server.closeAllConnections();
    await closed;
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    this.#open.add(response);
    response.once('close', () => this.#open.delete(response));
    response.on('error', () => {}); // The client has disconnected, which the `close` event handles.
    try {
      const refused = this.#refusal(request);
      if (refused) {
        request.resume();
        return refuse(response, ...refused);
      }
      const body = request.method === 'POST' ? await bodyOf(request, MAX_FRAME_BYTES) : Buffer.alloc(0);
      if (body === undefined) {
        request.resume();
        response.setHeader('connection', 'close');
        return refuse(response, 413, `the body must be at most ${MAX_FRAME_BYTES / 1024 / 1024} MiB`);
      }
      await this.#endpoint.handle({ request, response, body });
    } catch (error) {
      this.#report(`${request.method} ${request.url}: ${reasonOf(error)}`);
      if (response.headersSent) response.destroy();
      else refuse(response, 500, reasonOf(error), -32603);
    }
  }

  #refusal(request: IncomingMessage): [status: number, why: string] | undefined {
    const { host, origin, authorization } = request.headers;
    const named = hostName(`http://${host ?? ''}`);
    if (named === undefined || !this.#allowed.has(named))
      return [
        403,
        `Host "${host ?? ''}" is not a known name of this machine; if the name is right, add the name to the allowed hosts`,
      ];
    if (origin !== undefined) {
      const from = hostName(origin);
      if (from === undefined || !this.#allowed.has(from))
        return [403, `Origin "${origin}" is not allowed; add the host of this origin to the allowed hosts`];
    }
    const given = bearerIn(authorization);
    if (this.#options.token !== undefined && (given === undefined || !sameText(given, this.#options.token))) {
      return [401, 'the token is missing or wrong; send the header Authorization: Bearer <token>'];
    }
    if (request.url?.split('?')[0] !== this.#path) return [404, `this path does not exist; MCP is served at ${this.#path}`];
    if (request.method !== 'POST' && request.method !== 'GET' && request.method !== 'DELETE')
      return [405, `the method must be POST, GET or DELETE, got ${request.method}`];
    if (request.method === 'POST' && mediaTypeOf(request.headers) !== 'application/json')
      return [415, 'Content-Type must be application/json'];
    return undefined;
  }
}

/** Answers with a JSON-RPC error. `id` is the JSON text of the request's id, or `null` if the id is not known. */
export function refuse(response: ServerResponse, status: number, message: string, code = -32000, id = 'null'): void {
  if (response.destroyed || response.writableEnded) return;
  if (status === 401) response.setHeader('www-authenticate', 'Bearer');
  if (status === 405) response.setHeader('allow', 'GET, POST, DELETE');
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(`{"jsonrpc":"2.0","error":${JSON.stringify({ code, message })},"id":${id}}`);
}

function hostName(url: string): string | undefined {
  return URL.canParse(url) ? new URL(url).hostname.toLowerCase() : undefined;
}

/** Reads the token from a Bearer header. The scheme's name is case-insensitive (RFC 9110). */
const bearerIn = (authorization = ''): string | undefined => /^bearer +(.*)$/i.exec(authorization)?.[1];

/** Compares two texts in a time that reveals nothing about the texts. */
function sameText(a: string, b: string): boolean {
  const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(a), digest(b));
}
