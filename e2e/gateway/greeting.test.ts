/** Tests servers over HTTP whose answer to `initialize` is a stream that stays open. */
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

import { expect, test } from 'vitest';

import { STATELESS_SINCE } from '../../src/mcp/frames/protocol.ts';
import { PLAIN_GATEWAY, RawClient, ServersFile } from './raw-client.ts';

type Message = { readonly id?: string | number; readonly method?: string };
const result = (id: unknown, body: object): object => ({ jsonrpc: '2.0', id, result: body });
const TOOLS = { tools: [{ name: 'late', inputSchema: { type: 'object' } }], resultType: 'complete' };

const event = (response: ServerResponse, frame: object): void => void response.write(`data: ${JSON.stringify(frame)}\n\n`);

/** Starts a server. `initialize` gets the open stream of its response. `answer` answers the other requests. */
async function serve(
  initialize: (stream: ServerResponse, message: Message) => void,
  answer: (message: Message) => object | undefined,
): Promise<{ readonly url: string } & AsyncDisposable> {
  const server = createServer((request, response) => {
    let body = '';
    request.setEncoding('utf8').on('data', (part: string) => (body += part));
    request.on('end', () => {
      if (request.method !== 'POST') return void response.writeHead(405).end();
      const message = JSON.parse(body) as Message;
      if (message.method === 'initialize') {
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        return initialize(response, message);
      }
      const said = answer(message);
      if (said === undefined) return void response.writeHead(202).end();
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(said));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

test('a server over HTTP may ping the client before the server answers initialize', async () => {
  let greet = (): void => {};
  await using server = await serve(
    (stream, { id }) => {
      greet = () =>
        void stream.end(`data: ${JSON.stringify(result(id, { protocolVersion: '2025-11-25', capabilities: {} }))}\n\n`);
      event(stream, { jsonrpc: '2.0', id: 'p', method: 'ping' });
    },
    ({ id }) => {
      if (id === 'p') greet();
      return undefined;
    },
  );
  await using client = new RawClient([PLAIN_GATEWAY, '--url', server.url]);
  void client.line((line) => line.includes('"ping"')).then(() => client.send(JSON.stringify(result('p', {}))));
  expect(await client.initialize()).toContain('2025-11-25');
});

test('a server over HTTP that refuses initialize, and keeps the stream open, gets the handshake of the stateless protocol', async () => {
  await using server = await serve(
    (stream, { id }) => event(stream, { jsonrpc: '2.0', id, error: { code: -32601, message: 'no such method' } }),
    ({ id, method }) =>
      method === 'server/discover'
        ? result(id, { supportedVersions: [STATELESS_SINCE], capabilities: { tools: {} }, resultType: 'complete' })
        : result(id, TOOLS),
  );
  const upstream = { kind: 'http', name: 'new', url: server.url };
  await using several = await ServersFile.make([upstream, { ...upstream, name: 'other' }]);
  await using client = new RawClient([PLAIN_GATEWAY, '--servers', several.path]);
  await client.initialize();
  client.send('{"jsonrpc":"2.0","id":1,"method":"tools/list"}');
  expect(await client.answer(1)).toContain('"new__late"');
});
