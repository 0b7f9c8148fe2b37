import fs from 'node:fs';
import http from 'node:http';
import net from 'node:net';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import zlib from 'node:zlib';
import { asObject, parseJson, type Json, type JsonObject } from './json.ts';

/** One request as received. */
export interface Recorded {
  /** The number of the request, counted from 1. */
  readonly n: number;
  readonly at: string;
  readonly method: string;
  readonly path: string;
  /** The received bytes. `text` is decoded. */
  readonly raw: Buffer;
  readonly text: string;
  readonly body: JsonObject | undefined;
  status: number | null;
  /** The number of bytes of the answer that the tap passed on. */
  bytes: number;
  aborted: 'client' | 'tap' | null;
}

/** An attempt to reach another machine, which the tap has refused. */
export interface Egress {
  readonly at: string;
  readonly how: string;
  readonly target: string;
}

/** An instruction to change or stop a request. */
export type Order =
  | { readonly kind: 'answer'; readonly status: number; readonly headers?: Record<string, string>; readonly body: Json }
  | { readonly kind: 'abort'; readonly afterBytes?: number };

export interface TapOptions {
  readonly upstream: string;
  /** The file that gets a JSON line for each request, each answer (without its text) and each refusal. */
  readonly log?: string | undefined;
  /** Awaited before the tap passes the request on. The returned order changes or stops the request. */
  readonly onRequest?: ((request: Recorded) => Order | undefined | Promise<Order | undefined>) | undefined;
  /** Returns the function that changes the lines of this request's answer, or undefined. */
  readonly rewrite?: (request: Recorded) => ((lines: string) => string) | undefined;
}

export interface Tap extends AsyncDisposable {
  readonly url: string;
  readonly requests: readonly Recorded[];
  readonly egress: readonly Egress[];
}

/**
 * Starts a recording proxy on 127.0.0.1, which keeps the exact bytes of every request and streams the answers through. As
 * HTTP_PROXY, the proxy also gets the client's other connections. The proxy opens tunnels to loopback, passes plain requests for
 * loopback to the upstream server, and refuses and records everything else.
 */
export async function startTap(options: TapOptions): Promise<Tap> {
  const requests: Recorded[] = [];
  const egress: Egress[] = [];
  let isClosed = false;
  const log = (entry: JsonObject): void => {
    // A response may close after the tap is closed, when the folder of the log may no longer exist.
    if (options.log && !isClosed) fs.appendFileSync(options.log, `${JSON.stringify(entry)}\n`);
  };
  const refuse = (how: string, target: string): void => {
    const refused: Egress = { at: new Date().toISOString(), how, target };
    egress.push(refused);
    log({ type: 'egress', ...refused });
  };

  const server = http.createServer((request, response) => {
    let url = request.url ?? '/';
    if (/^https?:\/\//.test(url)) {
      const { hostname, host, pathname, search } = new URL(url);
      if (!isLoopback(hostname)) {
        refuse(request.method ?? '?', host + pathname);
        response.writeHead(403).end('only loopback passes');
        return;
      }
      url = pathname + search;
    }
    record(request, url, requests).then(
      (recorded) => {
        log({ type: 'request', n: recorded.n, at: recorded.at, method: recorded.method, path: url, ...rawForLog(recorded) });
        response.on('close', () => {
          if (!response.writableFinished) recorded.aborted ??= 'client';
          const { n, status, bytes, aborted } = recorded;
          log({ type: 'response', n, at: new Date().toISOString(), status, bytes, aborted });
        });
        return passOn(recorded, request, response, options);
      },
      () => response.destroy(),
    );
  });
  server.on('connect', (request, socket) => connect(request.url ?? '', socket, refuse));
  // Some clients first try a websocket, and then fall back to a plain request.
  server.on('upgrade', (_request, socket) => socket.end('HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n'));
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(0, '127.0.0.1', resolve);
  });

  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    egress,
    [Symbol.asyncDispose]: () =>
      new Promise((resolve) => {
        server.close(() => {
          isClosed = true;
          resolve();
        });
        server.closeAllConnections();
      }),
  };
}

const isLoopback = (host: string): boolean => /^(127\.\d+\.\d+\.\d+|localhost|\[?::1\]?)$/.test(host);

async function record(request: http.IncomingMessage, path: string, requests: Recorded[]): Promise<Recorded> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const raw = Buffer.concat(chunks);
  const text = decode(raw, request.headers['content-encoding']).toString('utf8');
  const recorded: Recorded = {
    n: requests.length + 1,
    at: new Date().toISOString(),
    method: request.method ?? '?',
    path,
    raw,
    text,
    body: asObject(parseJson(text)),
    status: null,
    bytes: 0,
    aborted: null,
  };
  requests.push(recorded);
  return recorded;
}

function decode(raw: Buffer, encoding: string | undefined): Buffer {
  switch (encoding) {
    case 'gzip':
      return zlib.gunzipSync(raw);
    case 'br':
      return zlib.brotliDecompressSync(raw);
    case 'deflate':
      return zlib.inflateSync(raw);
    case 'zstd':
      return zlib.zstdDecompressSync(raw);
    case undefined:
    default:
      return raw;
  }
}

const rawForLog = ({ raw, text }: Recorded): JsonObject =>
  Buffer.from(text, 'utf8').equals(raw) ? { raw: text } : { rawBase64: raw.toString('base64') };

async function passOn(
  recorded: Recorded,
  request: http.IncomingMessage,
  response: http.ServerResponse,
  { upstream, onRequest, rewrite }: TapOptions,
): Promise<void> {
  let order: Order | undefined;
  try {
    order = await onRequest?.(recorded);
  } catch (error) {
    order = { kind: 'answer', status: 500, body: String(error) };
  }
  if (response.destroyed) return;
  if (order?.kind === 'answer') {
    recorded.status = order.status;
    const body = typeof order.body === 'string' ? order.body : JSON.stringify(order.body);
    response.writeHead(order.status, order.headers ?? { 'content-type': 'application/json' }).end(body);
    return;
  }
  const abort = (): void => {
    recorded.aborted ??= 'tap';
    response.destroy();
  };
  const limit = order?.kind === 'abort' ? (order.afterBytes ?? 0) : Infinity;
  if (limit === 0) return abort();

  const target = new URL(upstream);
  const plain = Buffer.from(recorded.text, 'utf8');
  const headers: http.OutgoingHttpHeaders = { ...request.headers, host: target.host };
  for (const name of [
    'accept-encoding',
    'content-encoding',
    'content-length',
    'transfer-encoding',
    'connection',
    'proxy-connection',
  ])
    delete headers[name];
  if (plain.length) headers['content-length'] = plain.length;

  const { hostname: host, port } = target;
  const out = http.request({ host, port, path: recorded.path, method: recorded.method, headers }, (answer) => {
    const change = rewrite?.(recorded);
    recorded.status = answer.statusCode ?? 502;
    const answerHeaders = { ...answer.headers };
    delete answerHeaders['transfer-encoding'];
    delete answerHeaders.connection;
    if (change) delete answerHeaders['content-length'];
    response.writeHead(recorded.status, answerHeaders);

    const put = (data: Buffer): void => {
      if (recorded.bytes >= limit) return;
      const part = data.subarray(0, limit - recorded.bytes);
      recorded.bytes += part.length;
      response.write(part, () => {
        if (recorded.bytes >= limit) abort();
      });
    };
    let rest = '';
    if (change) answer.setEncoding('utf8');
    answer.on('data', (data: Buffer | string) => {
      if (!change || typeof data !== 'string') return put(Buffer.from(data));
      rest += data;
      const whole = rest.lastIndexOf('\n') + 1;
      if (whole) put(Buffer.from(change(rest.slice(0, whole))));
      rest = rest.slice(whole);
    });
    answer.on('end', () => {
      if (change && rest) put(Buffer.from(change(rest)));
      if (recorded.bytes < limit) response.end();
    });
  });
  response.on('close', () => out.destroy());
  out.on('error', (error) => {
    if (response.destroyed) return;
    if (response.headersSent) return response.destroy();
    recorded.status = 502;
    response.writeHead(502).end(error.message);
  });
  out.end(plain);
}

function connect(target: string, socket: Duplex, refuse: (how: string, target: string) => void): void {
  socket.on('error', () => socket.destroy());
  const port = /:(\d+)$/.exec(target)?.[1];
  if (!port || !isLoopback(target.slice(0, -port.length - 1))) {
    refuse('CONNECT', target);
    socket.end('HTTP/1.1 403 Forbidden\r\ncontent-length: 0\r\n\r\n');
    return;
  }
  const upstream = net.connect(Number(port), '127.0.0.1', () => {
    socket.write('HTTP/1.1 200 OK\r\n\r\n');
    upstream.pipe(socket).pipe(upstream);
  });
  upstream.on('error', () => socket.destroy());
}
