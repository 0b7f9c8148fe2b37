import type http from 'node:http';
import type { IncomingHttpHeaders, IncomingMessage, OutgoingHttpHeaders } from 'node:http';

export type HttpRequest = {
  readonly method: string;
  readonly headers: OutgoingHttpHeaders;
  readonly body?: Buffer;
  readonly signal?: AbortSignal;
  /** Whether the request must not be sent twice, because the server may run a tool for it. */
  readonly once?: boolean;
};

/**
 * How long an unused connection stays open. Most servers and networks close such a connection after 5 s or more, and a request
 * on a closed connection would fail.
 */
const IDLE_MS = 4_000;

/**
 * Sends requests to an HTTP server over connections that stay open. `fetch` is not used, because it adds headers and unpacks
 * bodies.
 *
 * If a reused connection is reset before the answer, the request is sent once more, over a new connection. A request with `once`
 * fails instead, because the server may have run it. RFC 9110 (9.2.2) advises against repeating a request that is not idempotent.
 */
export class HttpTarget {
  readonly url: URL;
  readonly #headers: Readonly<Record<string, string>>;
  /**
   * Node's `http` or `https`, taken from `process`. An `import` would read every export of the module and load undici. Loading
   * undici costs 55 ms and 5 MB.
   */
  readonly #http: Pick<typeof http, 'Agent' | 'request'>;
  readonly #agent: http.Agent;

  constructor(url: string, headers: Readonly<Record<string, string>> = {}) {
    this.url = new URL(url);
    this.#headers = headers;
    this.#http = process.getBuiltinModule(this.url.protocol === 'https:' ? 'node:https' : 'node:http');
    this.#agent = new this.#http.Agent({ keepAlive: true, timeout: IDLE_MS });
  }

  /** Sends a request and resolves to its answer, whose body is not read yet. Rejects if no answer arrives. */
  async send(request: HttpRequest): Promise<IncomingMessage> {
    try {
      return await this.#sendOnce(request);
    } catch (error) {
      // Another connection of the pool may be closed too, so the repetition uses a new connection.
      if (error instanceof StaleConnection) return this.#sendOnce(request, false);
      throw error;
    }
  }

  close(): void {
    this.#agent.destroy();
  }

  /** `agent`: the pool of connections, or false for a new connection. */
  #sendOnce(
    { method, headers, body, signal, once = false }: HttpRequest,
    agent: http.Agent | false = this.#agent,
  ): Promise<IncomingMessage> {
    const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
    const request = this.#http.request(this.url, {
      method,
      agent,
      headers: { ...headers, ...this.#headers, ...(body && { 'content-length': body.length }) },
      ...(signal && { signal }),
    });
    request.once('response', resolve);
    request.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'ECONNRESET') reject(error);
      else if (once) reject(new Error(`${error.message}; the call may have taken effect`));
      else reject(request.reusedSocket ? new StaleConnection() : error);
    });
    request.end(body);
    return promise;
  }
}

class StaleConnection extends Error {}

/** Reads the whole body. Undefined if the body is longer than `maxBytes`. */
export async function bodyOf(message: IncomingMessage, maxBytes: number): Promise<Buffer | undefined> {
  const parts: Buffer[] = [];
  let length = 0;
  for await (const part of message as AsyncIterable<Buffer>) {
    length += part.length;
    if (length > maxBytes) return undefined;
    parts.push(part);
  }
  return parts.length === 1 ? parts[0]! : Buffer.concat(parts);
}

export function mediaTypeOf(headers: IncomingHttpHeaders): string {
  return (headers['content-type'] ?? '').split(';')[0]!.trim().toLowerCase();
}

/**
 * Explains why a request got no answer. If the connections to several IP addresses failed, the AggregateError itself has no
 * message.
 */
export function networkReason(error: unknown): string {
  const cause = error instanceof AggregateError ? (error.errors as unknown[])[0] : error;
  if (!(cause instanceof Error)) return String(cause);
  const { code } = cause as NodeJS.ErrnoException;
  return cause.message === '' && code !== undefined ? code : cause.message;
}
