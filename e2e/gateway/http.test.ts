import { request as httpRequest } from 'node:http';
import { join } from 'node:path';

import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { noRider, startGateway } from '../../src/gateway/index.ts';
import { proves } from '../verifies.ts';
import { ODDITIES } from './oddities.ts';
import { alive, ODD_SERVER, PLAIN_GATEWAY, RawClient, ScriptFiles, untilDead } from './raw-client.ts';
import { HttpProcess } from './servers.ts';

const FIXTURE = join(import.meta.dirname, 'fixture-server.ts');
const STATELESS = join(import.meta.dirname, 'stateless-server.ts');

const JSON_HEADERS = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
const INITIALIZE =
  '{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"opencode","version":"1"}}}';
const PING = '{"jsonrpc":"2.0","id":"p","method":"ping"}';
const call = (id: number | string, name: string, args = '{}'): string =>
  `{"jsonrpc":"2.0","id":${id},"method":"tools/call","params":{"name":"${name}","arguments":${args}}}`;

type Answer = { status: number; headers: Record<string, unknown>; text: string };

/** Sends a request with exactly these headers. `fetch` would not send a chosen Host header. */
function ask(
  url: string,
  {
    method = 'POST',
    headers = JSON_HEADERS,
    body = PING,
  }: { method?: string; headers?: Record<string, string>; body?: string } = {},
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const request = httpRequest(url, { method, headers }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (part: string) => (text += part));
      response.on('end', () => resolve({ status: response.statusCode ?? 0, headers: response.headers, text }));
    });
    request.on('error', reject);
    request.end(method === 'POST' ? body : undefined);
  });
}

async function session(
  url: string,
  headers: Record<string, string> = {},
): Promise<{ post: (body: string) => Promise<Answer>; headers: Record<string, string> }> {
  const answer = await ask(url, { body: INITIALIZE, headers: { ...JSON_HEADERS, ...headers } });
  expect(answer.status).toBe(200);
  const own = { ...JSON_HEADERS, ...headers, 'mcp-session-id': String(answer.headers['mcp-session-id']) };
  expect((await ask(url, { body: '{"jsonrpc":"2.0","method":"notifications/initialized"}', headers: own })).status).toBe(202);
  return { headers: own, post: (body) => ask(url, { body, headers: own }) };
}

/** Returns the JSON-RPC frame of an answer, which is JSON or the last event of a stream. */
const frameIn = ({ text }: Answer): string =>
  text.startsWith('{')
    ? text
    : text
        .split('\n')
        .findLast((line) => line.startsWith('data: {'))!
        .slice(6);

describe('an HTTP gateway', () => {
  proves('gateway:http');
  let gateway: HttpProcess;
  beforeAll(async () => {
    gateway = await HttpProcess.start([PLAIN_GATEWAY, '--http', '0', '--token', 'secret', '--', process.execPath, ODD_SERVER]);
  });
  afterAll(() => gateway[Symbol.asyncDispose]());
  const good = { ...JSON_HEADERS, authorization: 'Bearer secret' };

  test.each<[string, { method?: string; path?: string; headers: Record<string, string>; body?: string }, number, string]>([
    [
      'a foreign Host',
      { headers: { ...good, host: 'evil.example:80' } },
      403,
      'Host \\"evil.example:80\\" is not a known name of this machine',
    ],
    ['a broken Host', { headers: { ...good, host: '[' } }, 403, 'is not a known name of this machine'],
    [
      'a foreign Origin',
      { headers: { ...good, origin: 'http://evil.example' } },
      403,
      'Origin \\"http://evil.example\\" is not allowed',
    ],
    ['Origin null', { headers: { ...good, origin: 'null' } }, 403, 'Origin \\"null\\"'],
    ['no token', { headers: JSON_HEADERS }, 401, 'the token is missing or wrong'],
    ['a wrong token', { headers: { ...good, authorization: 'Bearer secres' } }, 401, 'the token is missing or wrong'],
    [
      'the token without its scheme',
      { headers: { ...JSON_HEADERS, authorization: 'secret' } },
      401,
      'the token is missing or wrong',
    ],
    ['another path', { path: '/', headers: good }, 404, 'MCP is served at /mcp'],
    ['another method', { method: 'PUT', headers: good }, 405, 'the method must be POST, GET or DELETE, got PUT'],
    ['another type', { headers: { ...good, 'content-type': 'text/plain' } }, 415, 'Content-Type must be application/json'],
    ['no JSON', { headers: good, body: '{' }, 400, 'the body is not a JSON-RPC message: not JSON'],
    ['no message', { headers: good, body: '[]x' }, 400, 'not JSON'],
    ['a batch', { headers: good, body: `[${PING}]` }, 400, 'the body must be one message, got a batch'],
    ['no session', { headers: good }, 400, 'the header Mcp-Session-Id is missing'],
    ['an unknown session', { headers: { ...good, 'mcp-session-id': 'x' } }, 404, 'there is no open session \\"x\\"'],
    [
      'a stream without a session',
      { method: 'GET', headers: { ...good, accept: 'text/event-stream' } },
      405,
      'Mcp-Session-Id is missing',
    ],
    ['a session id with a quote', { headers: { ...good, 'mcp-session-id': 'x"y' } }, 404, 'there is no open session \\"x\\"y\\"'],
  ])('refuses a request with %s, and names the reason', async (_, { path = '/mcp', ...what }, status, why) => {
    const answer = await ask(new URL(path, gateway.url).href, what);
    expect(answer.status).toBe(status);
    expect(answer.text).toContain(why);
    expect(JSON.parse(answer.text)).toMatchObject({ error: {} });
    if (status === 401) expect(answer.headers['www-authenticate']).toBe('Bearer');
  });

  test.each(['bearer secret', 'BEARER secret', 'Bearer   secret'])(
    'accepts the header Authorization: %s',
    async (authorization) => {
      const answer = await ask(gateway.url, { headers: { ...JSON_HEADERS, authorization }, body: INITIALIZE });
      expect(answer.status).toBe(200);
    },
  );

  test('accepts a Host and an Origin of this machine if the token is correct', async () => {
    const headers = { ...good, host: 'localhost:1', origin: 'http://localhost:9' };
    expect((await ask(gateway.url, { headers, body: INITIALIZE })).status).toBe(200);
  });

  test('refuses a body above 64 MiB', async () => {
    const answer = await ask(gateway.url, { headers: good, body: 'x'.repeat(65 * 1024 * 1024) }).catch(
      (error: NodeJS.ErrnoException) => error.code,
    );
    // The connection may close before the whole body was sent.
    if (typeof answer === 'object')
      expect(answer).toMatchObject({ status: 413, text: expect.stringContaining('at most 64 MiB') as string });
    else expect(['ECONNRESET', 'EPIPE']).toContain(answer);
  });

  test('listening on all IP addresses requires a token, and an error names a port in use', async () => {
    const upstreams = [{ kind: 'stdio', name: 'a', command: 'x' }] as const;
    await expect(startGateway({ front: { kind: 'http', host: '0.0.0.0' }, upstreams, rider: noRider })).rejects.toThrow(
      'set a token, or listen on 127.0.0.1',
    );
    const port = Number(new URL(gateway.url).port);
    await expect(startGateway({ front: { kind: 'http', port }, upstreams, rider: noRider })).rejects.toThrow(
      `port ${port} of 127.0.0.1 is in use`,
    );
  });
});

describe('HTTP sessions before a stdio server', () => {
  test('odd bytes pass unchanged; each session has its own server, which ends with the session or the gateway', async () => {
    const gateway = await HttpProcess.start([
      PLAIN_GATEWAY,
      '--profile',
      'blocks',
      '--http',
      '0',
      '--',
      process.execPath,
      ODD_SERVER,
    ]);
    const [one, two] = [await session(gateway.url), await session(gateway.url)];
    for (const [n, oddity] of ODDITIES.entries()) {
      if (oddity.endsWith('trailing')) continue; // A body over HTTP is one message, so nothing may follow the JSON.
      const expected = oddity.replace('ID', '"\\u0041"');
      expect((await one.post(call('"\\u0041"', 'odd', `{"n":${n}}`))).text).toBe(expected);
    }
    const pids = await Promise.all(
      [one, two].map(
        async ({ post }) =>
          JSON.parse(JSON.parse((await post(call(1, 'pid'))).text).result.content[0].text) as { pid: number; helper: number },
      ),
    );
    expect(pids[0]!.pid).not.toBe(pids[1]!.pid);
    expect((await ask(gateway.url, { method: 'DELETE', headers: one.headers })).status).toBe(200);
    expect(await untilDead(pids[0]!.pid)).toBe(true);
    expect(alive(pids[1]!.pid)).toBe(true);
    expect((await one.post(PING)).status).toBe(404);
    await gateway[Symbol.asyncDispose]();
    for (const { pid, helper } of pids) expect([await untilDead(pid), await untilDead(helper)]).toEqual([true, true]);
  });

  test('two windows of one stateless client use the same ids, and each gets its own answer and progress', async () => {
    await using gateway = await HttpProcess.start([PLAIN_GATEWAY, '--http', '0', '--', process.execPath, STATELESS, 'stdio']);
    const meta =
      '"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"x","version":"1"},"io.modelcontextprotocol/clientCapabilities":{},"progressToken":7}';
    const headers = { ...JSON_HEADERS, 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/call', 'mcp-name': 'slow' };
    const body = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"slow",${meta}}}`;
    const answers = await Promise.all([1, 2, 3].map(() => ask(gateway.url, { headers, body })));
    for (const { text } of answers) {
      const frames = text
        .split('\n')
        .filter((line) => line.startsWith('data: '))
        .map((line) => JSON.parse(line.slice(6)) as { id?: number; params?: { progressToken?: number } });
      expect(frames.map((frame) => frame.id ?? frame.params?.progressToken)).toEqual([7, 7, 1]);
    }
    const wrong = await ask(gateway.url, { headers: { ...headers, 'mcp-name': 'other' }, body });
    expect(wrong.status).toBe(400);
    expect(JSON.parse(wrong.text)).toMatchObject({
      id: 1,
      error: { code: -32020, message: 'headers and body differ: Mcp-Name is other, the body says slow' },
    });
  });
});

describe.each([
  [
    'HTTP to HTTP',
    async (options: readonly string[]) => {
      const server = await HttpProcess.start([FIXTURE, 'http']);
      const gateway = await HttpProcess.start([PLAIN_GATEWAY, ...options, '--http', '0', '--url', server.url]);
      return {
        url: gateway.url,
        async [Symbol.asyncDispose]() {
          await gateway[Symbol.asyncDispose]();
          await server[Symbol.asyncDispose]();
        },
      };
    },
  ],
  [
    'HTTP to stdio',
    (options: readonly string[]) =>
      HttpProcess.start([PLAIN_GATEWAY, ...options, '--http', '0', '--', process.execPath, FIXTURE, 'stdio']),
  ],
] as const)('added text, %s', (_, start) => {
  test('is in results, and the next request confirms the delivery; the header names the conversation', async () => {
    await using files = await ScriptFiles.make();
    files.write({ tools: [{ name: 'get_notifications', inputSchema: { type: 'object' } }] });
    await using gateway = await start(files.options);
    const { post } = await session(gateway.url, { 'earpiece-conversation': 'project/agent#c' });
    expect(frameIn(await post('{"jsonrpc":"2.0","id":1,"method":"tools/list"}'))).toContain(
      '{"name":"get_notifications","inputSchema":{"type":"object"}}]',
    );
    files.write({ ride: { text: 'N' }, tools: [{ name: 'get_notifications', inputSchema: { type: 'object' } }] });
    const result = JSON.parse(frameIn(await post(call(2, 'test_structured')))) as object;
    expect(result).toMatchObject({
      id: 2,
      result: { content: [{ text: '{"n":1}' }, { text: 'N' }], structuredContent: { n: 1 } },
    });
    await post(PING);
    await files.until((entry) => entry.what === 'confirm' && entry.requestId === '2');
    expect(JSON.parse(frameIn(await post(call(3, 'get_notifications'))))).toMatchObject({
      result: { content: [{ text: 'own get_notifications' }] },
    });
    files.write({ refuse: 'stop' });
    expect(frameIn(await post(call(4, 'test_simple_text')))).toContain('"text":"stop"');
    expect(files.entries()).toContainEqual(
      expect.objectContaining({ what: 'opened', client: 'opencode', session: 'project/agent#c', profile: 'blocks' }),
    );
  });

  test('does not count as delivered for a client that disconnects before the answer', async () => {
    await using files = await ScriptFiles.make();
    await using gateway = await start(files.options);
    const { post, headers } = await session(gateway.url);
    files.write({ ride: { text: 'N' } });
    const abort = new AbortController();
    const aborted = fetch(gateway.url, {
      method: 'POST',
      headers,
      body: call(5, 'test_for_ever'),
      signal: abort.signal,
    }).then((response) => response.text());
    await files.until((entry) => entry.what === 'before' && entry.requestId === '5');
    abort.abort();
    await expect(aborted).rejects.toThrow('aborted');
    await post(call(6, 'test_tool_with_progress'));
    await post(PING);
    await files.until((entry) => entry.what === 'confirm' && entry.requestId === '6');
    const about5 = files.entries().filter((entry) => 'requestId' in entry && entry.requestId === '5');
    // If the gateway took a text for this request, the gateway released the text. In no case does the text count as delivered.
    expect(about5.some(({ what }) => what === 'confirm')).toBe(false);
    expect(about5.filter(({ what }) => what === 'release').length).toBe(about5.filter(({ what }) => what === 'after').length);
  });

  test.each<[string, 'call' | 'after', number]>([
    ['get_notifications', 'call', 400],
    ['test_simple_text', 'after', 150],
  ])('does not count as delivered if a cancel of %s arrives before the answer leaves', async (tool, asked, slowMs) => {
    proves('lease:cancelled-early');
    await using files = await ScriptFiles.make();
    const tools = [{ name: 'get_notifications', inputSchema: { type: 'object' } }];
    files.write({ tools });
    await using gateway = await start(files.options);
    const { post, headers } = await session(gateway.url);
    await post('{"jsonrpc":"2.0","id":1,"method":"tools/list"}');
    files.write({ tools, ride: { text: 'N' }, slowMs });
    const abort = new AbortController();
    const called = fetch(gateway.url, { method: 'POST', headers, body: call(7, tool), signal: abort.signal }).catch(() => {});
    await files.until((entry) => entry.what === asked && entry.requestId === '7');
    const cancel = '{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}}';
    expect((await ask(gateway.url, { headers, body: cancel })).status).toBe(202);
    await files.until((entry) => entry.what === 'release' && entry.requestId === '7');
    expect(files.entries()).not.toContainEqual(expect.objectContaining({ what: 'confirm', requestId: '7' }));
    abort.abort();
    await called;
  });

  test('the v1 SDK client lists and calls tools', async () => {
    await using files = await ScriptFiles.make();
    files.write({ ride: { text: 'N' } });
    await using gateway = await start([...files.options, '--profile', 'extend']);
    const client = new ClientV1({ name: 'x', version: '1' });
    await client.connect(new StreamableHTTPClientTransport(new URL(gateway.url)));
    await client.listTools();
    expect(await client.callTool({ name: 'test_structured' })).toMatchObject({ structuredContent: { n: 1, _notices: 'N' } });
    await client.close();
  });
});

test.each(['a pass', 'a refusal'])(
  'an HTTP gateway ends the response of a call that is cancelled before its gate decides: %s',
  async (verdict) => {
    proves('lease:cancelled-early');
    await using files = await ScriptFiles.make();
    files.write({ slowMs: 150, ...(verdict === 'a refusal' ? { refuse: 'stop' } : {}) });
    await using server = await HttpProcess.start([FIXTURE, 'http']);
    await using gateway = await HttpProcess.start([PLAIN_GATEWAY, ...files.options, '--http', '0', '--url', server.url]);
    const { headers } = await session(gateway.url);
    const called = ask(gateway.url, { headers, body: call(7, 'test_simple_text') });
    await files.until((entry) => entry.what === 'before' && entry.requestId === '7');
    const cancel = '{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}}';
    expect((await ask(gateway.url, { headers, body: cancel })).status).toBe(202);
    expect((await called).status).toBe(202);
    if (verdict === 'a refusal') expect(files.entries()).toContainEqual({ what: 'release', requestId: '7', reason: 'late' });
  },
);

describe('an HTTP server that disappears', () => {
  test.each(['stdio', 'HTTP'])(
    "%s front: calls fail with the server's name, and work again after its return without a new handshake",
    async (front) => {
      await using files = await ScriptFiles.make();
      const first = await HttpProcess.start([FIXTURE, 'http']);
      const port = new URL(first.url).port;
      const options = [...files.options, '--url', first.url];
      const url = front === 'HTTP' ? await HttpProcess.start([PLAIN_GATEWAY, ...options, '--http', '0']) : undefined;
      const raw = front === 'stdio' ? new RawClient([PLAIN_GATEWAY, ...options]) : undefined;
      let id = 0;
      await raw?.initialize();
      const http = url && (await session(url.url));
      const result = async (): Promise<string> => {
        id += 1;
        if (http) return (await http.post(call(id, 'test_simple_text'))).text;
        raw!.send(call(id, 'test_simple_text'));
        return raw!.answer(id);
      };
      expect(await result()).toContain('This is a simple text response');
      await first[Symbol.asyncDispose]();
      files.write({ ride: { text: 'N' } });
      const failed = await result();
      expect(failed).toContain(`The MCP server \\"wrapped\\" at http://127.0.0.1:${port} cannot be reached`);
      expect(failed).toContain('{"type":"text","text":"N"}],"isError":true');
      files.write({});
      await using again = await HttpProcess.start([FIXTURE, 'http', port]);
      // The new process has no sessions. The gateway renews the session of a stdio client. An HTTP client itself renews its
      // session, as it would without a gateway.
      if (raw) expect(await result()).toContain('This is a simple text response');
      else expect((await http!.post(call(9, 'test_simple_text'))).status).toBe(404);
      expect(again.url).toBe(first.url);
      expect(files.entries().filter(({ what }) => what === 'upstream')).toMatchObject([
        { state: 'disconnected' },
        { state: 'reconnected' },
      ]);
      await raw?.[Symbol.asyncDispose]();
      await url?.[Symbol.asyncDispose]();
    },
  );

  test('the client gets the reason for which an HTTP server refuses its request', async () => {
    await using gateway = await HttpProcess.start([
      PLAIN_GATEWAY,
      '--http',
      '0',
      '--token',
      't',
      '--',
      process.execPath,
      ODD_SERVER,
    ]);
    await using client = new RawClient([PLAIN_GATEWAY, '--url', gateway.url]);
    client.send(INITIALIZE);
    expect(await client.answer(0)).toBe(
      '{"jsonrpc":"2.0","id":0,"error":{"code":-32000,"message":"the token is missing or wrong; send the header Authorization: Bearer <token>"}}',
    );
  });
});
