/** Passes headers and bodies of HTTP messages between the client and the server. */
import type { IncomingHttpHeaders, IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { pipeline } from 'node:stream/promises';

import type { HttpClient } from '../clients.ts';
import type { Outgoing } from '../riding/carry.ts';
import { deliver } from './delivering.ts';
import { CONVERSATION } from '../../mcp/http/headers.ts';

/**
 * Headers that are not passed on: headers of one hop, headers that this process writes itself, `origin`, and the gateway's own
 * header.
 */
const NOT_PASSED = [
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'host',
  'content-length',
  'expect',
  'accept-encoding',
  'origin',
  CONVERSATION,
];

/**
 * Writes bytes to the client. A delivery in these bytes is settled after the bytes have left this process: see `deliver`. With
 * `last`, the response ends.
 */
export function write(
  response: ServerResponse,
  client: HttpClient | undefined,
  { bytes, requestId, delivery }: Outgoing,
  last: boolean,
): void {
  if (client === undefined || delivery === undefined || requestId === undefined) {
    if (last) response.end(bytes);
    else response.write(bytes);
    return;
  }
  deliver(response, { settling: client.settling, requestId, delivery }, (written) => {
    if (last) response.end(bytes, written);
    else response.write(bytes, written);
  });
}

/** Passes an answer on: the status, the headers (see `passed`) with `more`, and the unchanged body. */
export async function forward(
  upstream: IncomingMessage,
  response: ServerResponse,
  more: OutgoingHttpHeaders = {},
): Promise<void> {
  response.writeHead(upstream.statusCode ?? 502, { ...passed(upstream.headers), ...more });
  response.flushHeaders();
  try {
    await pipeline(upstream, response);
  } catch {
    response.destroy(); // One side has disconnected, so the other side is closed too.
  }
}

export function drained(response: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      response.off('drain', done).off('close', done);
      resolve();
    };
    response.on('drain', done).on('close', done);
  });
}

/** Returns the headers to pass to the other side. */
export function passed(headers: IncomingHttpHeaders): OutgoingHttpHeaders {
  const out: OutgoingHttpHeaders = {};
  for (const [name, value] of Object.entries(headers)) if (!NOT_PASSED.includes(name)) out[name] = value;
  return out;
}
