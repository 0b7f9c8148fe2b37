/** Tests a gateway on HTTP that is stopped during a call: the client gets an answer from every kind of server. */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { proves } from '../verifies.ts';
import { PLAIN_GATEWAY } from './raw-client.ts';
import { HttpProcess } from './servers.ts';

const JSON_HEADERS = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
const RESULT = {
  content: [{ type: 'text', text: 'The gateway was stopped during this call. The call may have taken effect.' }],
  isError: true,
};

/** A stdio server that answers every request except a call. */
const NEVER = `require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method } = JSON.parse(line);
  if (method === 'tools/call') return;
  const result = { protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo: { name: 'never', version: '1' }, tools: [] };
  if (id !== undefined) console.log(JSON.stringify({ jsonrpc: '2.0', id, result }));
});`;

let upstream: Server | undefined;
afterEach(() => {
  upstream?.closeAllConnections();
  upstream?.close();
  upstream = undefined;
});

/**
 * Starts an HTTP server that never completes the answer to a call. `begun` is the content type of an answer that starts and never
 * continues.
 */
async function never(begun?: string): Promise<string> {
  upstream = createServer((request, response) => void answer(request, response));
  upstream.listen(0, '127.0.0.1');
  await once(upstream, 'listening');
  return `http://127.0.0.1:${(upstream.address() as AddressInfo).port}/mcp`;

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    let body = '';
    for await (const part of request.setEncoding('utf8') as AsyncIterable<string>) body += part;
    const { id, method } = JSON.parse(body) as { id?: number; method: string };
    if (id === undefined) return void response.writeHead(202).end();
    if (method === 'tools/call') {
      if (begun !== undefined)
        response.writeHead(200, { 'content-type': begun }).write(begun === 'application/json' ? '{' : ':\n\n');
      return;
    }
    const result = { protocolVersion: '2025-11-25', capabilities: {}, serverInfo: { name: 'never', version: '1' } };
    response.writeHead(200, { 'content-type': 'application/json', 'mcp-session-id': 's' });
    response.end(JSON.stringify({ jsonrpc: '2.0', id, result }));
  }
}

const post = (url: string, body: object, session?: string): Promise<Response> =>
  fetch(url, {
    method: 'POST',
    headers: { ...JSON_HEADERS, ...(session === undefined ? {} : { 'mcp-session-id': session }) },
    body: JSON.stringify({ jsonrpc: '2.0', ...body }),
  });

const BEHIND = {
  'a server on stdio': async () => ['--', process.execPath, '-e', NEVER],
  'a server on HTTP': async () => ['--url', await never()],
  'a server on HTTP that has begun an event stream': async () => ['--url', await never('text/event-stream')],
  'a server on HTTP that has begun its answer': async () => ['--url', await never('application/json')],
} as const;

test.for(Object.entries(BEHIND))('a gateway that is stopped answers an open call to %s with an error', async ([, args]) => {
  proves('gateway:stopping');
  await using gateway = await HttpProcess.start([PLAIN_GATEWAY, '--http', '0', ...(await args())]);
  const hello = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'raw', version: '1' } };
  const opened = await post(gateway.url, { id: 0, method: 'initialize', params: hello });
  const session = opened.headers.get('mcp-session-id') ?? undefined;
  await opened.text();
  const call = post(gateway.url, { id: 7, method: 'tools/call', params: { name: 'x', arguments: {} } }, session);
  // The gateway accepts requests in the order of their arrival. So after the answer to this ping, the call is open.
  await (await post(gateway.url, { id: 8, method: 'ping' }, session)).text();
  gateway.process.kill('SIGTERM');
  const text = await (await call).text();
  const frame = text.startsWith('{') ? text : /^data: (.*)$/mu.exec(text)?.[1];
  expect(JSON.parse(frame ?? '')).toEqual({ jsonrpc: '2.0', id: 7, result: RESULT });
});
