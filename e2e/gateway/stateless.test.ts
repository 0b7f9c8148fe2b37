import { join } from 'node:path';

import { Client, StreamableHTTPClientTransport, type Transport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { behindGateway, PLAIN_GATEWAY, ScriptFiles } from './raw-client.ts';
import { HttpProcess } from './servers.ts';
import { proves } from '../verifies.ts';

const SERVER = join(import.meta.dirname, 'stateless-server.ts');

const stdio = (...args: readonly string[]): Transport =>
  new StdioClientTransport({ command: process.execPath, args: [...args], stderr: 'ignore' });
const http = (url: string): Transport => new StreamableHTTPClientTransport(new URL(url));

async function connect(transport: Transport, mode: 'auto' | 'legacy'): Promise<Client> {
  const client = new Client(
    { name: 'claude-code', version: '1' },
    { capabilities: { elicitation: { form: {} } }, ...(mode === 'auto' && { versionNegotiation: { mode: 'auto' as const } }) },
  );
  client.setRequestHandler('elicitation/create', () => ({ action: 'accept', content: { sure: true } }));
  await client.connect(transport);
  return client;
}

/** Returns everything that a client sees of a server in one session, as comparable text. */
async function transcript(client: Client, mode: 'auto' | 'legacy'): Promise<string> {
  const seen: Record<string, unknown> = {};
  const record = async (what: string, ask: () => Promise<unknown>): Promise<void> => {
    seen[what] = await ask().catch((error: unknown) => String(error));
  };
  seen.version = client.getNegotiatedProtocolVersion();
  seen.server = client.getServerVersion();
  seen.capabilities = client.getServerCapabilities();
  await record('tools', () => client.listTools());
  await record('sum', () => client.callTool({ name: 'sum', arguments: { a: 1, b: 2 } }));
  await record('bad arguments', () => client.callTool({ name: 'sum', arguments: { a: 'x' } }));
  await record('fail', () => client.callTool({ name: 'fail' }));
  await record('unknown', () => client.callTool({ name: 'no-such-tool' }));
  await record('confirm', () => client.callTool({ name: 'confirm', arguments: { what: 'é' } }));
  await record('routed', () => client.callTool({ name: 'routed', arguments: { region: 'eu é' } }));
  const progress: unknown[] = [];
  await record('slow', () => client.callTool({ name: 'slow' }, { onprogress: (step) => progress.push(step) }));
  seen.progress = progress;
  await record('resources', () => client.listResources());
  await record('read', () => client.readResource({ uri: 'test://a' }));
  await record('prompt', () => client.getPrompt({ name: 'p', arguments: { x: '1.0' } }));
  await record('cancelled', async () => {
    const abort = new AbortController();
    const call = client.callTool({ name: 'wait' }, { signal: abort.signal });
    setTimeout(() => abort.abort('enough'), 100);
    return call;
  });
  if (mode === 'auto') {
    const heard: string[] = [];
    const both = Promise.withResolvers<void>();
    const hear = (what: string): void => void (heard.push(what) === 2 && both.resolve());
    client.setNotificationHandler('notifications/tools/list_changed', () => hear('tools changed'));
    client.setNotificationHandler('notifications/resources/updated', ({ params }) => hear(`updated ${params.uri}`));
    const subscription = await client.listen({ toolsListChanged: true, resourceSubscriptions: ['test://a'] });
    seen.honored = subscription.honoredFilter;
    await record('change', () => client.callTool({ name: 'change' }));
    await both.promise;
    await subscription.close();
    seen.heard = heard.toSorted();
    seen.closed = await subscription.closed;
  }
  return JSON.stringify(seen, undefined, 1);
}

let server: HttpProcess;
let toHttp: HttpProcess;
let toStdio: HttpProcess;
beforeAll(async () => {
  server = await HttpProcess.start([SERVER, 'http']);
  toHttp = await HttpProcess.start([PLAIN_GATEWAY, '--profile', 'blocks', '--http', '0', '--url', server.url]);
  toStdio = await HttpProcess.start([
    PLAIN_GATEWAY,
    '--profile',
    'blocks',
    '--http',
    '0',
    '--',
    process.execPath,
    SERVER,
    'stdio',
  ]);
});
afterAll(() => Promise.all([server[Symbol.asyncDispose](), toHttp[Symbol.asyncDispose](), toStdio[Symbol.asyncDispose]()]));

const ways: readonly [string, () => Transport][] = [
  ['HTTP', () => http(server.url)],
  ['stdio through the gateway', () => stdio(...behindGateway([SERVER, 'stdio'], ['--profile', 'blocks']))],
  ['HTTP through the gateway', () => http(toHttp.url)],
  ['HTTP to stdio', () => http(toStdio.url)],
  ['stdio to HTTP', () => stdio(PLAIN_GATEWAY, '--profile', 'blocks', '--url', server.url)],
];

describe.each([
  ['auto', '2026-07-28'],
  ['legacy', '2025-11-25'],
] as const)('the v2 client, negotiation %s', (mode, version) => {
  let direct: string;
  beforeAll(async () => {
    const client = await connect(stdio(SERVER, 'stdio'), mode);
    direct = await transcript(client, mode);
    await client.close();
    expect(direct).toContain(`"version": "${version}"`);
    expect(direct).toContain('"text": "é: true"');
  });

  test.each(ways)('gets the same over %s as directly over stdio', async (way, transport) => {
    proves('gateway:stateless');
    const client = await connect(transport(), mode);
    try {
      // Without sessions a server of the older generation cannot ask the client anything, not even over direct HTTP.
      const expected =
        mode === 'legacy' && way !== 'stdio through the gateway' && way !== 'HTTP to stdio' ? await overPlainHttp() : direct;
      expect(await transcript(client, mode)).toBe(expected);
    } finally {
      await client.close();
    }
  });

  async function overPlainHttp(): Promise<string> {
    const client = await connect(http(server.url), mode);
    const expected = await transcript(client, mode);
    await client.close();
    return expected;
  }
});

describe('added text, for a stateless client', () => {
  test.each<[string, (options: readonly string[]) => Promise<{ transport: Transport } & AsyncDisposable>]>([
    [
      'stdio',
      async (options) => ({ transport: stdio(...behindGateway([SERVER, 'stdio'], options)), async [Symbol.asyncDispose]() {} }),
    ],
    ['HTTP', async (options) => fronted([...options, '--url', server.url])],
    ['HTTP to stdio', async (options) => fronted([...options, '--', process.execPath, SERVER, 'stdio'])],
    [
      'stdio to HTTP',
      async (options) => ({ transport: stdio(PLAIN_GATEWAY, ...options, '--url', server.url), async [Symbol.asyncDispose]() {} }),
    ],
  ])('is in the content and in the structured content, over %s', async (_, start) => {
    await using files = await ScriptFiles.make();
    files.write({ tools: [{ name: 'get_notifications', inputSchema: { type: 'object' } }] });
    await using way = await start(files.options);
    const client = await connect(way.transport, 'auto');
    try {
      const { tools } = await client.listTools();
      expect(tools.at(-1)?.name).toBe('get_notifications');
      expect(tools[0]?.outputSchema?.properties).toHaveProperty('_notices');
      files.write({ ride: { text: 'a word' }, tools: [{ name: 'get_notifications', inputSchema: { type: 'object' } }] });
      const sum = await client.callTool({ name: 'sum', arguments: { a: 1, b: 2 } });
      expect(sum).toMatchObject({
        content: [{ text: '3' }, { type: 'text', text: 'a word' }],
        structuredContent: { sum: 3, _notices: 'a word' },
      });
      expect(await client.callTool({ name: 'fail' })).toMatchObject({
        isError: true,
        content: [{ text: 'no' }, { text: 'a word' }],
      });
      expect(await client.callTool({ name: 'get_notifications' })).toMatchObject({
        content: [{ text: 'own get_notifications' }],
      });
      await files.until((entry) => entry.what === 'confirm');
      files.write({ refuse: 'stop' });
      expect(await client.callTool({ name: 'sum', arguments: { a: 1, b: 2 } })).toMatchObject({
        isError: true,
        content: [{ text: 'stop' }],
      });
      expect(files.entries()).toContainEqual(
        expect.objectContaining({ what: 'opened', client: 'claude-code', profile: 'extend' }),
      );
    } finally {
      await client.close();
    }
  });

  async function fronted(args: readonly string[]): Promise<{ transport: Transport } & AsyncDisposable> {
    const gateway = await HttpProcess.start([PLAIN_GATEWAY, '--http', '0', ...args]);
    return { transport: http(gateway.url), [Symbol.asyncDispose]: () => gateway[Symbol.asyncDispose]() };
  }
});
