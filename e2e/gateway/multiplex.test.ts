import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { Client as ClientV2, StreamableHTTPClientTransport as HttpV2, type Transport } from '@modelcontextprotocol/client';
import { StdioClientTransport as StdioV2 } from '@modelcontextprotocol/client/stdio';
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport as StdioV1 } from '@modelcontextprotocol/sdk/client/stdio.js';
import { CreateMessageRequestSchema, ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import { describe, expect, test } from 'vitest';

import { noRider, startGateway } from '../../src/gateway/index.ts';
import { proves } from '../verifies.ts';
import { ODD_SERVER, PLAIN_GATEWAY, RawClient, ScriptFiles } from './raw-client.ts';
import { HttpProcess } from './servers.ts';

const FIXTURE = join(import.meta.dirname, 'fixture-server.ts');
const STATELESS = join(import.meta.dirname, 'stateless-server.ts');

const node = (name: string, ...args: readonly string[]) => ({ kind: 'stdio', name, command: process.execPath, args });

const PEERS = [node('old', FIXTURE, 'stdio'), node('both', STATELESS, 'stdio'), node('new', STATELESS, 'only')];

function several(files: ScriptFiles, servers: readonly object[] = PEERS): string[] {
  const file = join(files.folder, 'servers.json');
  writeFileSync(file, JSON.stringify(servers));
  // On a busy machine a server may take longer than a real client would wait.
  return [
    PLAIN_GATEWAY,
    ...files.options,
    '--servers',
    file,
    '--patience',
    '{"graceMs":20000,"othersMs":20000,"discoverMs":20000}',
  ];
}

const OWN = [{ name: 'get_notifications', inputSchema: { type: 'object' } }];

async function legacyClient(args: readonly string[]): Promise<ClientV1> {
  const client = new ClientV1({ name: 'opencode', version: '1' }, { capabilities: { sampling: {}, elicitation: {} } });
  client.setRequestHandler(CreateMessageRequestSchema, () => ({
    role: 'assistant' as const,
    content: { type: 'text' as const, text: 'sampled' },
    model: 'm',
  }));
  client.setRequestHandler(ElicitRequestSchema, () => ({
    action: 'accept' as const,
    content: { sure: true, username: 'u', email: 'e' },
  }));
  await client.connect(new StdioV1({ command: process.execPath, args: [...args], stderr: 'ignore' }));
  return client;
}

async function statelessClient(transport: Transport): Promise<ClientV2> {
  const client = new ClientV2(
    { name: 'opencode', version: '1' },
    { capabilities: { elicitation: { form: {} } }, versionNegotiation: { mode: 'auto' } },
  );
  client.setRequestHandler('elicitation/create', () => ({ action: 'accept', content: { sure: true } }));
  await client.connect(transport);
  return client;
}

describe('a client of the older generation with three servers of three kinds', () => {
  proves('gateway:fronts-many');
  test('gets the tools, resources, prompts and completions of all servers', async () => {
    await using files = await ScriptFiles.make();
    files.write({ tools: OWN });
    const client = await legacyClient(several(files));
    try {
      const { tools } = await client.listTools();
      const names = tools.map(({ name }) => name);
      expect(names).toEqual(expect.arrayContaining(['old__test_simple_text', 'both__sum', 'new__sum', 'get_notifications']));
      expect(names.at(-1)).toBe('get_notifications');
      expect(await client.callTool({ name: 'old__test_simple_text' })).toMatchObject({
        content: [{ text: 'This is a simple text response for testing.' }],
      });
      for (const server of ['both', 'new']) {
        expect(await client.callTool({ name: `${server}__sum`, arguments: { a: 1, b: 2 } })).toMatchObject({
          structuredContent: { sum: 3 },
        });
      }
      expect((await client.listResources()).resources.map(({ uri }) => uri)).toEqual(
        expect.arrayContaining(['test://static-text', 'test://a']),
      );
      expect(await client.readResource({ uri: 'test://a' })).toMatchObject({ contents: [{ text: 'é 1.0' }] });
      expect(await client.readResource({ uri: 'test://template/7/data' })).toMatchObject({
        contents: [{ uri: 'test://template/7/data' }],
      });
      expect((await client.listPrompts()).prompts.map(({ name }) => name)).toEqual(
        expect.arrayContaining(['old__test_simple_prompt', 'both__p', 'new__p']),
      );
      expect(await client.getPrompt({ name: 'new__p', arguments: { x: 'y' } })).toMatchObject({
        messages: [{ content: { text: 'y' } }],
      });
      const ref = { type: 'ref/prompt' as const, name: 'old__test_prompt_with_arguments' };
      expect((await client.complete({ ref, argument: { name: 'arg1', value: 'p' } })).completion.values).toContain('paris');
      await client.setLoggingLevel('debug');
      await client.subscribeResource({ uri: 'test://watched-resource' });
      await client.ping();
    } finally {
      await client.close();
    }
  });

  test('answers the requests of each server, and gets their progress', async () => {
    await using files = await ScriptFiles.make();
    const client = await legacyClient(several(files, [node('one', FIXTURE, 'stdio'), node('two', FIXTURE, 'stdio')]));
    try {
      const asked = ['one', 'two', 'one'].map((server) =>
        client.callTool({ name: `${server}__test_sampling`, arguments: { prompt: 'p' } }),
      );
      for (const result of await Promise.all(asked))
        expect(result).toMatchObject({ content: [{ text: 'LLM response: {"type":"text","text":"sampled"}' }] });
      const steps: number[] = [];
      await client.callTool({ name: 'two__test_tool_with_progress' }, undefined, {
        onprogress: ({ progress }) => void steps.push(progress),
      });
      expect(steps).toEqual([0, 50, 100]);
    } finally {
      await client.close();
    }
  });

  test('gets an error for each request that the gateway cannot pass on', async () => {
    await using files = await ScriptFiles.make();
    const client = await legacyClient(several(files));
    try {
      await expect(client.callTool({ name: 'new__confirm', arguments: { what: 'x' } })).rejects.toThrow(
        'client capabilities do not declare',
      );
      await expect(client.callTool({ name: 'none__x' })).rejects.toThrow(
        'there is no tool "none__x"; names have the form <server>__<name>, and the servers are old, both, new',
      );
      await expect(client.readResource({ uri: 'nowhere://x' })).rejects.toThrow('no server has the resource "nowhere://x"');
    } finally {
      await client.close();
    }
  });
});

describe('a stateless client with the same servers', () => {
  test.each(['stdio', 'HTTP'])('reaches all servers over %s', async (way) => {
    await using files = await ScriptFiles.make();
    files.write({ tools: OWN });
    await using front = way === 'HTTP' ? await HttpProcess.start([...several(files), '--http', '0']) : undefined;
    const client = await statelessClient(
      front ? new HttpV2(new URL(front.url)) : new StdioV2({ command: process.execPath, args: several(files), stderr: 'ignore' }),
    );
    try {
      expect(client.getNegotiatedProtocolVersion()).toBe('2026-07-28');
      // A server that starts more slowly than the others joins a later list.
      await expect
        .poll(async () => (await client.listTools()).tools.map(({ name }) => name))
        .toEqual(expect.arrayContaining(['old__test_simple_text', 'both__sum', 'new__sum', 'get_notifications']));
      expect(await client.callTool({ name: 'old__test_structured' })).toMatchObject({ structuredContent: { n: 1 } });
      expect(await client.callTool({ name: 'new__sum', arguments: { a: 1, b: 2 } })).toMatchObject({
        structuredContent: { sum: 3 },
      });
      expect(await client.callTool({ name: 'both__confirm', arguments: { what: 'x' } })).toMatchObject({
        content: [{ text: 'x: true' }],
      });
      expect(await client.readResource({ uri: 'test://static-text' })).toMatchObject({
        contents: [{ uri: 'test://static-text' }],
      });
      expect(await client.getPrompt({ name: 'old__test_simple_prompt' })).toMatchObject({ messages: [{ role: 'user' }] });
      expect(await client.callTool({ name: 'get_notifications' })).toMatchObject({
        content: [{ text: 'own get_notifications' }],
      });
      const heard = Promise.withResolvers<void>();
      client.setNotificationHandler('notifications/tools/list_changed', () => heard.resolve());
      const subscription = await client.listen({ toolsListChanged: true });
      await client.callTool({ name: 'new__change' });
      await heard.promise;
      await subscription.close();
    } finally {
      await client.close();
    }
  });
});

describe('added text, and the gate, with several servers', () => {
  test('the gate refuses tools of each server, by the name that the server uses', async () => {
    await using files = await ScriptFiles.make();
    await using client = new RawClient(several(files, [node('a', ODD_SERVER), node('b', ODD_SERVER)]));
    await client.initialize('claude-code');
    files.write({ ride: { text: 'N' } });
    const call = (id: number, name: string): string =>
      `{"jsonrpc":"2.0","id":${id},"method":"tools/call","params":{"name":"${name}","arguments":{"n":0}}}`;
    client.send(call(1, 'a__odd'));
    expect(await client.answer(1)).toBe(
      '{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"1.0"},{"type":"text","text":"N"}],"n":1.0}}',
    );
    client.send(call(2, 'b__odd'));
    await client.answer(2);
    client.send('{"jsonrpc":"2.0","id":3,"method":"ping"}');
    await client.answer(3);
    await files.until(({ what }) => what === 'confirm');
    expect(files.entries().filter(({ what }) => what === 'opened')).toHaveLength(1);
    expect(files.entries().filter(({ what }) => what === 'after')).toMatchObject([
      { server: 'a', tool: 'odd', requestId: '1' },
      { server: 'b', tool: 'odd', requestId: '2' },
    ]);
    files.write({ refuse: 'stop' });
    client.send(call(4, 'b__odd'));
    expect(await client.answer(4)).toContain('"text":"stop"');
  });

  test('if one server ends, its calls get errors, the server restarts, and the other servers continue', async () => {
    await using files = await ScriptFiles.make();
    await using client = new RawClient(several(files, [node('a', ODD_SERVER), node('b', ODD_SERVER)]));
    await client.initialize();
    client.send('{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a__crash"}}');
    expect(await client.answer(1)).toContain('The MCP server \\"a\\" stopped during this call');
    client.send('{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"b__odd"}}');
    expect(await client.answer(2)).toContain('1.0');
    client.send('{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"a__odd"}}');
    expect(await client.answer(3)).toContain('1.0');
  });

  test('a request that names no server is refused, and the error says what to do', async () => {
    await using files = await ScriptFiles.make();
    await using client = new RawClient(several(files, [node('a', ODD_SERVER), node('b', ODD_SERVER)]));
    await client.initialize();
    client.send('{"jsonrpc":"2.0","id":1,"method":"events/list"}');
    expect(await client.answer(1)).toBe(
      '{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"events/list names no server, so the gateway cannot pass the request on; wrap the server in a separate gateway"}}',
    );
  });

  test('an error names a server that does not start; the other servers work', async () => {
    await using files = await ScriptFiles.make();
    await using client = new RawClient(
      several(files, [{ kind: 'stdio', name: 'gone', command: 'earpiece-no-such-command' }, node('b', ODD_SERVER)]),
    );
    await client.initialize();
    await client.said('MCP server "gone" failed: the command "earpiece-no-such-command" was not found');
    client.send(
      '{"jsonrpc":"2.0","id":1,"method":"tools/list"}',
      '{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"gone__x"}}',
    );
    expect(await client.answer(1)).toContain('"b__odd"');
    expect(await client.answer(2)).toBe(
      '{"jsonrpc":"2.0","id":2,"result":{"content":[{"type":"text","text":"The MCP server \\"gone\\" does not work: the command \\"earpiece-no-such-command\\" was not found."}],"isError":true}}',
    );
  });
});

test('an HTTP server that starts late is added, and the client is notified of its tools', async () => {
  await using files = await ScriptFiles.make();
  const before = await HttpProcess.start([FIXTURE, 'http']);
  await before[Symbol.asyncDispose]();
  await using client = new RawClient(several(files, [{ kind: 'http', name: 'late', url: before.url }, node('b', ODD_SERVER)]));
  await client.initialize();
  await client.said('MCP server "late" cannot be used');
  await using _ = await HttpProcess.start([FIXTURE, 'http', new URL(before.url).port]);
  await client.line((line) => line.includes('notifications/tools/list_changed'));
  client.send('{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"late__test_simple_text"}}');
  expect(await client.answer(1)).toContain('This is a simple text response');
});

test('a ping before the handshake does not introduce the client', async () => {
  await using files = await ScriptFiles.make();
  await using client = new RawClient(several(files, [PEERS[0]!, PEERS[1]!]));
  client.send('{"jsonrpc":"2.0","id":"first","method":"ping"}');
  expect(await client.answer('"first"')).toBe('{"jsonrpc":"2.0","id":"first","result":{}}');
  await client.initialize('opencode');
  expect(files.entries().filter(({ what }) => what === 'opened')).toMatchObject([{ client: 'opencode' }]);
});

describe('server names', () => {
  proves('gateway:fronts-many');
  test('two servers with one name are refused', async () => {
    const upstream = { kind: 'stdio', name: 'a', command: 'x' } as const;
    await expect(startGateway({ front: { kind: 'stdio' }, upstreams: [upstream, upstream], rider: noRider })).rejects.toThrow(
      'two servers are called "a"',
    );
  });
});
