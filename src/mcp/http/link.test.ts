import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { frameOf } from '../frames/frame.ts';
import { HttpLink } from './link.ts';

const INITIALIZE = { jsonrpc: '2.0', id: 0, method: 'initialize', params: { protocolVersion: '2025-11-25' } };
const INITIALIZED = { jsonrpc: '2.0', method: 'notifications/initialized' };
const ask = (id: number, method = 'tools/list') => ({ jsonrpc: '2.0', id, method });
const answerTo = (id: unknown) => ({ jsonrpc: '2.0', id, result: {} });

type Message = { readonly id?: unknown; readonly method: string };
type Exchange = { readonly request: IncomingMessage; readonly message: Message; readonly response: ServerResponse };

const ending: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const end of ending.splice(0)) await end();
});

/** Starts a server whose POSTs go to `post`, and a link to this server. `said` contains everything that the link reports. */
async function linked(post: (exchange: Exchange) => void) {
  let open = 0;
  const server = createServer((request, response) => {
    if (request.method !== 'POST') return void response.writeHead(405).end();
    let text = '';
    request.setEncoding('utf8').on('data', (part: string) => (text += part));
    request.on('end', () => post({ request, response, message: JSON.parse(text) as Message }));
  });
  server.keepAliveTimeout = 0; // Neither the server nor its header limits how long a connection stays open.
  server.on('connection', (socket) => {
    open += 1;
    socket.on('close', () => (open -= 1));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const said: string[] = [];
  const none = (): void => {};
  const link = new HttpLink(
    { kind: 'http', name: 'web', url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/` },
    {
      frame: ({ bytes }) => said.push(bytes.toString().trim()),
      lost: (id, why) => said.push(`lost ${id}: ${why}`),
      away: () => said.push('away'),
      back: () => said.push('back'),
      tooLong: none,
      up: none,
      down: none,
      failed: none,
      drain: none,
    },
  );
  ending.push(async () => {
    await link.stop();
    server.closeAllConnections();
    server.close();
  });
  return {
    link,
    said,
    open: () => open,
    send: (message: object) => void link.send(frameOf(Buffer.from(`${JSON.stringify(message)}\n`))),
  };
}

const json = (response: ServerResponse, body: unknown, headers: Record<string, string> = {}): void =>
  void response.writeHead(200, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));

describe('a lost session', () => {
  it.each<[string, (response: ServerResponse) => void]>([
    ['the server closes the connection', (response) => void response.destroy()],
    ['the server answers with an error', (response) => void response.writeHead(503).end()],
  ])('is renewed by a later request if the repeated handshake fails because %s', async (_, fail) => {
    let session: string | undefined;
    let isBroken = false;
    const got: string[] = [];
    const { send, said } = await linked(({ request, message, response }) => {
      got.push(message.method);
      if (message.method === 'initialize') {
        if (isBroken) return fail(response);
        session = `s${got.length}`;
        return json(response, answerTo(message.id), { 'mcp-session-id': session });
      }
      if (request.headers['mcp-session-id'] !== session) return void response.writeHead(404).end();
      return message.id === undefined ? void response.writeHead(202).end() : json(response, answerTo(message.id));
    });
    send(INITIALIZE);
    await expect.poll(() => said).toEqual([JSON.stringify(answerTo(0))]);
    send(INITIALIZED);
    send(ask(1));
    await expect.poll(() => said).toContain(JSON.stringify(answerTo(1)));

    session = undefined;
    isBroken = true;
    send(ask(2));
    await expect.poll(() => said.some((line) => line.startsWith('lost 2: '))).toBe(true);
    isBroken = false;
    got.length = 0;
    send(ask(3));
    await expect.poll(() => said).toContain(JSON.stringify(answerTo(3)));
    expect(got).toEqual(['tools/list', 'initialize', 'notifications/initialized', 'tools/list']);
  });
});

describe('the handshake', () => {
  const events = (response: ServerResponse, body: unknown): void => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write(`data: ${JSON.stringify(body)}\n\n`);
  };

  it('a server may need the answer to its own request before the server answers initialize', async () => {
    let greeting: ServerResponse | undefined;
    const { send, said } = await linked(({ message, response }) => {
      if (message.method === 'initialize') return events((greeting = response), ask(7, 'ping'));
      response.writeHead(202).end();
      if (message.id === 7) greeting?.end(`data: ${JSON.stringify(answerTo(0))}\n\n`);
    });
    send(INITIALIZE);
    await expect.poll(() => said).toEqual([JSON.stringify(ask(7, 'ping'))]);
    send(answerTo(7));
    await expect.poll(() => said).toContain(JSON.stringify(answerTo(0)));
  });

  it('later requests do not wait for the end of a stream with a failed initialize', async () => {
    const failure = { jsonrpc: '2.0', id: 0, error: { code: -32601, message: 'no' } };
    const { send, said } = await linked(({ message, response }) =>
      message.method === 'initialize' ? events(response, failure) : json(response, answerTo(message.id)),
    );
    send(INITIALIZE);
    await expect.poll(() => said).toEqual([JSON.stringify(failure)]);
    send(ask(1, 'server/discover'));
    await expect.poll(() => said).toContain(JSON.stringify(answerTo(1)));
  });

  it('requests also wait for the answer to a second initialize', async () => {
    const got: string[] = [];
    let answer = (): void => {};
    const { send, said } = await linked(({ message, response }) => {
      got.push(message.method);
      if (message.id === 2) answer = () => json(response, answerTo(2));
      else json(response, answerTo(message.id));
    });
    send(INITIALIZE);
    await expect.poll(() => said).toEqual([JSON.stringify(answerTo(0))]);
    send({ ...INITIALIZE, id: 2 });
    await expect.poll(() => got).toHaveLength(2);
    send(ask(3));
    send(answerTo(9));
    await expect.poll(() => got).toHaveLength(3);
    expect(got).not.toContain('tools/list');
    answer();
    await expect.poll(() => said).toContain(JSON.stringify(answerTo(3)));
  });
});

describe('the response to a POST', () => {
  it.each<[string, unknown]>([
    ['another id', answerTo(9)],
    ['a batch without the id', [answerTo(9), { jsonrpc: '2.0', method: 'n' }]],
    ['an empty batch', []],
  ])('loses the request if no message in the response answers the request: %s', async (_, body) => {
    const { send, said } = await linked(({ response }) => json(response, body));
    send(ask(1));
    await expect
      .poll(() => said)
      .toContain('lost 1: The MCP server "web" answered a different request. Restart or update the server.');
  });

  it.each([
    [401, "Check the server's token and headers in the configuration."],
    [404, "Check the server's URL in the configuration."],
    [500, "The server's log may name the cause."],
  ])('an error with HTTP %i says what to do', async (status, way) => {
    const { send, said } = await linked(({ response }) => void response.writeHead(status).end('no'));
    send(ask(1));
    await expect.poll(() => said).toEqual([`lost 1: The MCP server "web" answered with HTTP ${status}. ${way} The answer: no`]);
  });

  it('may be a batch that contains the answer', async () => {
    const { send, said } = await linked(({ response, message }) => json(response, [answerTo(message.id)]));
    send(ask(1));
    await expect.poll(() => said).toEqual([JSON.stringify(answerTo(1))]);
  });
});

describe('stop', () => {
  it.each([
    ['waits for an open answer within its grace time', { graceMs: 30_000 }, [JSON.stringify(answerTo(1))]],
    ['does not wait without a grace time', {}, []],
  ])('%s', async (_, options, expected) => {
    let answer: (() => void) | undefined;
    const { link, send, said } = await linked(({ message, response }) => (answer = () => json(response, answerTo(message.id))));
    send(ask(1));
    await expect.poll(() => answer).toBeDefined();
    const stopped = link.stop(options);
    answer?.();
    await stopped;
    expect(said).toEqual(expected);
  });

  it('again without a grace time ends the wait', async () => {
    let got = 0;
    const { link, send, said } = await linked(() => (got += 1));
    send(ask(1));
    await expect.poll(() => got).toBe(1);
    const stopped = link.stop({ graceMs: 600_000 });
    await link.stop();
    await stopped;
    expect(said).toEqual([]);
  });
});

describe('a reused connection that is reset before the answer', () => {
  it('a tools/call is not sent twice, but any other request is sent again', async () => {
    const got: string[] = [];
    const { send, said } = await linked(({ message, response }) => {
      got.push(message.method);
      // The server runs the request and crashes.
      if (got.length === 2 || got.length === 4) return void response.destroy();
      return json(response, answerTo(message.id));
    });
    send(ask(1, 'ping'));
    await expect.poll(() => said).toHaveLength(1);
    send(ask(2, 'tools/list'));
    await expect.poll(() => said).toHaveLength(2);
    expect(got).toEqual(['ping', 'tools/list', 'tools/list']);
    send(ask(3, 'tools/call'));
    await expect.poll(() => said.at(-1)).toMatch(/^lost 3: .*the call may have taken effect\. Check that the server runs\.$/u);
    expect(got).toEqual(['ping', 'tools/list', 'tools/list', 'tools/call']);
  });

  it('a request that is sent again uses a new connection, because every unused connection may be closed', async () => {
    const held: Exchange[] = [];
    const used = new Set<unknown>();
    let ends = false;
    const { send, said } = await linked((exchange) => {
      const { message, request, response } = exchange;
      if (ends || used.has(request.socket)) return void response.destroy();
      if (message.method !== 'ping') return json(response, answerTo(message.id));
      // The server answers both pings at the same time. After that, the link has two unused connections.
      if (held.push(exchange) === 2)
        for (const ping of held) {
          used.add(ping.request.socket);
          json(ping.response, answerTo(ping.message.id));
        }
    });
    send(ask(1, 'ping'));
    send(ask(2, 'ping'));
    await expect.poll(() => said).toHaveLength(2);
    const about = (id: number): string | undefined =>
      said.find((line) => line.includes(`"id":${id}`) || line.includes(`lost ${id}`));
    send(ask(3));
    await expect.poll(() => about(3)).toBe(JSON.stringify(answerTo(3)));
    ends = true;
    send(ask(4));
    await expect.poll(() => about(4)).toMatch(/^lost 4: .*: socket hang up\. Check that the server runs\.$/u);
  });

  it('an unused connection is closed before most servers close it', async () => {
    const { send, said, open } = await linked(({ message, response }) => json(response, answerTo(message.id)));
    send(ask(1));
    await expect.poll(() => said).toHaveLength(1);
    expect(open()).toBe(1);
    await expect.poll(open, { timeout: 15_000 }).toBe(0);
  });
});
