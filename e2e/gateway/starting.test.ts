/** Tests several servers, of which some are slow, hang or fail. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { describe, expect, test } from 'vitest';

import { proves } from '../verifies.ts';
import { ODD_SERVER, PLAIN_GATEWAY, RawClient, ScriptFiles } from './raw-client.ts';

const node = (name: string, env: Record<string, string> = {}, args: readonly string[] = [ODD_SERVER]) => ({
  kind: 'stdio',
  name,
  command: process.execPath,
  args,
  env,
});

const LIST = '{"jsonrpc":"2.0","id":"list","method":"tools/list"}';
const call = (id: number, name: string): string =>
  `{"jsonrpc":"2.0","id":${id},"method":"tools/call","params":{"name":"${name}","arguments":{"n":0}}}`;

function gateway(files: ScriptFiles, servers: readonly object[], patience: object = {}): string[] {
  const file = join(files.folder, 'servers.json');
  writeFileSync(file, JSON.stringify(servers));
  return [PLAIN_GATEWAY, ...files.options, '--servers', file, '--patience', JSON.stringify(patience)];
}

/** Returns the names in a fresh tools/list. */
async function listed(client: RawClient, id: string): Promise<string[]> {
  client.send(LIST.replace('"list"', `"${id}"`));
  const { result } = JSON.parse(await client.answer(`"${id}"`)) as { result: { tools: { name: string }[] } };
  return result.tools.map(({ name }) => name);
}

/** The metadata of a request of the stateless generation. */
const META =
  '{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"c","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}';

/** How long the gateway waits for servers, in ms: long enough for all servers on a busy machine. */
const ALL = { graceMs: 20_000, othersMs: 20_000 };

const changed = (line: string): boolean => line.includes('notifications/tools/list_changed');

describe('several servers start independently', () => {
  proves('gateway:starts-apart');

  test("a slow server does not delay the other server; list_changed later announces the slow server's tools", async () => {
    await using files = await ScriptFiles.make();
    const ready = join(files.folder, 'ready');
    await using client = new RawClient(gateway(files, [node('slow', { ODD_HOLD: ready }), node('quick')]));
    await client.initialize();
    expect(await listed(client, 'first')).toEqual(['quick__odd']);
    client.send(call(1, 'quick__odd'));
    expect(await client.answer(1)).toContain('1.0');
    writeFileSync(ready, '');
    await client.line(changed);
    expect(await listed(client, 'second')).toEqual(['slow__odd', 'quick__odd']);
    client.send(call(2, 'slow__odd'));
    expect(await client.answer(2)).toContain('1.0');
  });

  test('the other servers get a short time after the first server is ready', async () => {
    await using files = await ScriptFiles.make();
    const hangs = node('hangs', { ODD_HOLD: join(files.folder, 'never') });
    // This time is longer than any wait of the client in this test.
    await using client = new RawClient(gateway(files, [hangs, node('quick')], { graceMs: 60_000 }));
    await client.initialize();
    expect(await listed(client, 'first')).toEqual(['quick__odd']);
  });

  test.for(['codex-mcp-client', 'qwen-code-mcp-client', 'pi-mcp'])(
    'a client that reads its list once waits for the slow server: %s',
    async (name) => {
      proves('gateway:lists-once');
      await using files = await ScriptFiles.make();
      const [ready, log] = [join(files.folder, 'ready'), join(files.folder, 'received')];
      const servers = [node('slow', { ODD_HOLD: ready }), node('quick', { ODD_LOG: log })];
      await using client = new RawClient(gateway(files, servers, { graceMs: 0, othersMs: 0, onceMs: 60_000 }));
      const greeted = client.initialize(name);
      await expect.poll(() => existsSync(log) && readFileSync(log, 'utf8'), { timeout: 20_000 }).toContain('initialized');
      writeFileSync(ready, '');
      await greeted;
      expect(await listed(client, 'first')).toEqual(['slow__odd', 'quick__odd']);
      expect(client.lines.some(changed)).toBe(false);
    },
  );

  test('a client that reads its list once does not wait for a failed server, and waits only a short time for a hanging server', async () => {
    proves('gateway:lists-once');
    await using files = await ScriptFiles.make();
    const servers = [node('hangs', { ODD_HOLD: join(files.folder, 'never') }), node('broken', {}, ['-e', '']), node('quick')];
    // This time is longer than any wait of the client in this test.
    await using client = new RawClient(gateway(files, servers, { graceMs: 60_000, othersMs: 60_000, onceMs: 5_000 }));
    await client.initialize('codex-mcp-client');
    expect(await listed(client, 'first')).toEqual(['quick__odd']);
    await using fine = new RawClient(gateway(files, servers.slice(1), { graceMs: 60_000, onceMs: 60_000 }));
    await fine.initialize('codex-mcp-client');
    expect(await listed(fine, 'first')).toEqual(['quick__odd']);
  });

  test('a call to a starting server waits for it, and a cancelled call never reaches it', async () => {
    await using files = await ScriptFiles.make();
    const [ready, log] = [join(files.folder, 'ready'), join(files.folder, 'received')];
    const slow = node('slow', { ODD_HOLD: ready, ODD_LOG: log });
    await using client = new RawClient(gateway(files, [slow, node('quick')], { graceMs: 100 }));
    await client.initialize();
    client.send(
      call(1, 'slow__odd'),
      call(2, 'slow__odd'),
      '{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}',
      '{"jsonrpc":"2.0","id":"p","method":"ping"}',
    );
    await client.answer('"p"');
    writeFileSync(ready, '');
    expect(await client.answer(2)).toContain('1.0');
    const received = readFileSync(log, 'utf8');
    expect(received).toContain('"id":2');
    expect(received).not.toContain('"id":1,');
    expect(received).not.toContain('cancelled');
  });

  test('the agent gets the instructions of a slow server once, and those of a quick server in the handshake', async () => {
    proves('gateway:late-instructions');
    await using files = await ScriptFiles.make();
    const ready = join(files.folder, 'ready');
    const servers = [
      node('slow', { ODD_HOLD: ready, ODD_INSTRUCTIONS: 'Words of slow.' }),
      node('quick', { ODD_INSTRUCTIONS: 'Words of quick.' }),
    ];
    await using client = new RawClient(gateway(files, servers));
    const greeting = JSON.parse(await client.initialize()) as { result: { instructions: string } };
    expect(greeting.result.instructions).toMatch(/^quick: Words of quick\./u);
    expect(greeting.result.instructions).not.toContain('slow');
    writeFileSync(ready, '');
    await client.said('MCP server "slow" started late, so the agent gets the server\'s instructions as a notification');
    await client.line(changed);
    await listed(client, 'l');
    expect(files.entries().filter(({ what }) => what === 'upstream')).toEqual([
      { what: 'upstream', server: 'slow', state: 'introduced', detail: 'Words of slow.' },
    ]);
  });

  test('a call to a server that never starts gets an error that says so', async () => {
    await using files = await ScriptFiles.make();
    const hangs = node('hangs', { ODD_HOLD: join(files.folder, 'never') });
    await using client = new RawClient(gateway(files, [hangs, node('quick')], { graceMs: 100, callMs: 200, hangsMs: 300 }));
    await client.initialize();
    client.send(call(1, 'hangs__odd'));
    expect(await client.answer(1)).toBe(
      '{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"The MCP server \\"hangs\\" has not started yet. Try again later."}],"isError":true}}',
    );
    expect(await files.until((entry) => entry.what === 'upstream' && entry.server === 'hangs')).toEqual({
      what: 'upstream',
      server: 'hangs',
      state: 'failed',
      detail: 'no answer for 0.3 s; tools are added when the server answers',
    });
    writeFileSync(join(files.folder, 'never'), '');
    await files.until((entry) => entry.what === 'upstream' && entry.server === 'hangs' && entry.state === 'started');
    expect(await listed(client, 'l')).toEqual(['hangs__odd', 'quick__odd']);
  });

  test('a server that does not answer tools/list does not delay the other servers, and is listed once it answers', async () => {
    await using files = await ScriptFiles.make();
    const go = join(files.folder, 'go');
    const servers = [node('mute', { ODD_HOLD_LIST: go }), node('quick')];
    await using client = new RawClient(gateway(files, servers, { ...ALL, listMs: 200 }));
    await client.initialize();
    expect(await listed(client, 'first')).toEqual(['quick__odd']);
    expect(client.lines.some(changed)).toBe(false);
    writeFileSync(go, '');
    await client.line(changed);
    expect(await listed(client, 'second')).toEqual(['mute__odd', 'quick__odd']);
  });

  test('a probe is answered at once, and a client that continues in the older generation learns of the slow server', async () => {
    await using files = await ScriptFiles.make();
    const ready = join(files.folder, 'ready');
    const servers = [node('slow', { ODD_HOLD: ready, ODD_SHRUG: '1' }), node('quick', { ODD_SHRUG: '1' })];
    await using client = new RawClient(gateway(files, servers, { graceMs: 2_000, probeMs: 100 }));
    client.send(`{"jsonrpc":"2.0","id":"d","method":"server/discover","params":{"_meta":${META}}}`);
    expect(await client.answer('"d"')).toContain('"listChanged":true');
    await client.initialize();
    expect(await listed(client, 'first')).not.toContain('slow__odd');
    writeFileSync(ready, '');
    await client.line(changed);
    // On a busy machine, even the quick server may be late. The change above may then concern only the quick server, so the test
    // polls.
    let asked = 0;
    await expect.poll(() => listed(client, `again-${(asked += 1)}`), { timeout: 20_000 }).toContain('slow__odd');
  });

  test('a probe does not wait for a server that hangs', async () => {
    await using files = await ScriptFiles.make();
    const servers = [node('hangs', { ODD_HOLD: join(files.folder, 'never') }), node('quick')];
    // This time is longer than any wait of the client in this test.
    await using client = new RawClient(gateway(files, servers, { graceMs: 60_000, othersMs: 60_000 }));
    client.send(`{"jsonrpc":"2.0","id":"d","method":"server/discover","params":{"_meta":${META}}}`);
    expect(await client.answer('"d"')).toContain('"supportedVersions":["2026-07-28"]');
  });

  test('a server that answers {} to unknown methods does not count as stateless', async () => {
    await using files = await ScriptFiles.make();
    const servers = [node('shrug', { ODD_SHRUG: '1' }), node('quick')];
    await using client = new RawClient(gateway(files, servers, ALL));
    client.send(`{"jsonrpc":"2.0","id":"d","method":"server/discover","params":{"_meta":${META}}}`);
    await client.answer('"d"');
    client.send(`{"jsonrpc":"2.0","id":"l","method":"tools/list","params":{"_meta":${META}}}`);
    expect(await client.answer('"l"')).toContain('"shrug__odd"');
  });
});

describe('a server that does not start', () => {
  proves('gateway:broken-server');
  const broken = node('broken', {}, ['-e', 'console.error("Error: no token in API_TOKEN"); process.exit(7)']);
  const told = {
    what: 'upstream',
    server: 'broken',
    state: 'failed',
    detail: 'exit code 7; its stderr: "Error: no token in API_TOKEN"',
  };

  test("is reported once with its stderr among three servers, even if it failed before the client's handshake", async () => {
    await using files = await ScriptFiles.make();
    await using client = new RawClient(gateway(files, [node('a'), broken, node('b')], ALL));
    await client.said('MCP server "broken" failed: exit code 7');
    await client.initialize();
    expect(await listed(client, 'l')).toEqual(['a__odd', 'b__odd']);
    client.send(call(1, 'broken__odd'));
    expect(await client.answer(1)).toContain(
      'The MCP server \\"broken\\" does not work: exit code 7; its stderr: \\"Error: no token in API_TOKEN\\".',
    );
    expect(files.entries().filter(({ what }) => what === 'upstream')).toEqual([told]);
    expect(client.stderr.join('')).toContain('Error: no token in API_TOKEN\n');
  });

  test('gives the client the reason if it is wrapped alone, and the gateway ends', async () => {
    await using files = await ScriptFiles.make();
    await using client = new RawClient([
      PLAIN_GATEWAY,
      ...files.options,
      '--name',
      'broken',
      '--',
      broken.command,
      ...broken.args,
    ]);
    await client.said('Error: no token');
    expect(await client.initialize()).toContain('its stderr: \\"Error: no token in API_TOKEN\\"');
    expect((await client.exit).code).toBe(1);
    expect(files.entries().filter(({ what }) => what === 'upstream')).toEqual([told]);
  });

  test('blocks nothing while nobody reads its stderr', async () => {
    await using files = await ScriptFiles.make();
    const loud = `process.stderr.write('x'.repeat(3_000_000), () => require('fs').writeFileSync(${JSON.stringify(join(files.folder, 'said'))}, '')); process.stdin.on('data', (d) => process.stdout.write(JSON.stringify({jsonrpc:'2.0',id:JSON.parse(d).id,result:{}})+'\\n'))`;
    await using client = new RawClient([PLAIN_GATEWAY, '--', process.execPath, '-e', loud]);
    client.process.stderr!.pause();
    client.send('{"jsonrpc":"2.0","id":1,"method":"ping"}');
    await client.answer(1);
    await expect.poll(() => existsSync(join(files.folder, 'said')), { timeout: 20_000 }).toBe(true);
    client.send('{"jsonrpc":"2.0","id":2,"method":"ping"}');
    await client.answer(2);
  });
});
