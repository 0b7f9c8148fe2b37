import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { describe, expect, test } from 'vitest';

import { ODDITIES } from './oddities.ts';
import { behindGateway, ODD_SERVER, PLAIN_GATEWAY, RawClient, ScriptFiles, untilDead } from './raw-client.ts';
import { least } from '../least.ts';
import { proves } from '../verifies.ts';

const call = (id: number | string, name: string, args = '{}'): string =>
  `{"jsonrpc":"2.0","id":${id},"method":"tools/call","params":{"name":"${name}","arguments":${args}}}`;

describe('odd bytes pass unchanged, both ways', () => {
  proves('gateway:oddities');
  test.each(['blocks', 'extend'])('%s', async (profile) => {
    await using files = await ScriptFiles.make();
    const requests = ODDITIES.map((_, n) => call(n, 'odd', `{"n":${n},"\\u0041":1.0,"a":1,"a":9007199254740993}`));
    const others = [
      '{"jsonrpc":"2.0","method":"future/note","params":{"n":1e400}}',
      'not JSON',
      '[{"jsonrpc":"2.0","method":"x"} , 1.0]',
      '',
      '{"id":1.0}\r',
    ];
    const answers: string[][] = [];
    const received: string[] = [];
    for (const server of [[ODD_SERVER], behindGateway([ODD_SERVER], ['--profile', profile])]) {
      const log = join(files.folder, `received-${answers.length}`);
      await using client = new RawClient(server, { ODD_LOG: log });
      await client.initialize();
      client.send(...others, ...requests, call('"end"', 'note'));
      await client.answer('"end"');
      answers.push([...client.lines]);
      received.push(readFileSync(log, 'utf8'));
    }
    expect(answers[1]).toEqual(answers[0]);
    expect(received[1]).toBe(received[0]);
    expect(answers[0]!.filter((line) => line.includes('"jsonrpc"')).length).toBeGreaterThan(ODDITIES.length);
  });

  test('--profile strip removes structured content and nothing else', async () => {
    await using direct = new RawClient([ODD_SERVER]);
    await using stripped = new RawClient(behindGateway([ODD_SERVER], ['--profile', 'strip']));
    for (const client of [direct, stripped]) {
      await client.initialize();
      client.send(...ODDITIES.map((_, n) => call(n, 'odd', `{"n":${n}}`)), call('"end"', 'note'));
      await client.answer('"end"');
    }
    expect(stripped.lines).toEqual(direct.lines.map((line) => line.replace(',"structuredContent":{"n":1.0}', '')));
  });

  test("the server's requests and the client's answers pass unchanged", async () => {
    await using client = new RawClient(behindGateway([ODD_SERVER]));
    await client.initialize();
    client.send(call(1, 'ask'));
    await client.line((line) => line === '{"jsonrpc":"2.0","id":"from-server-\\u0041","method":"roots/list"}');
    client.send('{"jsonrpc":"2.0","id":"from-server-A","result":{"roots":[]}}');
    expect(await client.answer(1)).toContain('{\\"roots\\":[]}');
  });

  test('a frame of several MiB passes in many chunks', async () => {
    await using client = new RawClient(behindGateway([ODD_SERVER]));
    await client.initialize();
    client.send(call(1, 'x'.repeat(5_000_000)));
    expect((await client.answer(1)).length).toBeGreaterThan(5_000_000);
  });

  test('a frame above 64 MiB is refused with its size, and the next frame works', async () => {
    await using client = new RawClient(behindGateway([ODD_SERVER]));
    await client.initialize();
    client.send(
      `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"${'x'.repeat(65 * 1024 * 1024)}"}}`,
      call(8, 'odd'),
    );
    expect(await client.answer(7)).toBe(
      '{"jsonrpc":"2.0","id":7,"error":{"code":-32600,"message":"the client sent a frame of 65 MiB; frames above 64 MiB are not passed on; use smaller requests"}}',
    );
    expect(await client.answer(8)).toContain('1.0');
  });
});

describe('text that the gateway adds', () => {
  test('is only in the result, and the next request of the client confirms the delivery', async () => {
    await using files = await ScriptFiles.make();
    await using client = new RawClient(behindGateway([ODD_SERVER], files.options));
    await client.initialize('claude-code');
    files.write({ once: ['hello "you"'] });
    client.send(call(1, 'odd', '{"n":9}'));
    expect(await client.answer(1)).toBe(
      '{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"é\u2028\u007f😀"},{"type":"text","text":"hello \\"you\\""}],"structuredContent":{"n":1.0,"_notices":"hello \\"you\\""}}}',
    );
    client.send(call(2, 'odd', '{"n":9}'));
    expect(await client.answer(2)).toBe(ODDITIES[9]!.replace('ID', '2'));
    const entries = files.entries().filter(({ what }) => what !== 'before');
    expect(entries).toMatchObject([
      { what: 'opened', key: 'stdio', client: 'claude-code', profile: 'extend' },
      { what: 'after', tool: 'odd', requestId: '1', chars: 9 },
      { what: 'confirm', requestId: '1' },
      { what: 'after', requestId: '2' },
    ]);
  });

  test('is released if the client cancels right after the answer, but only for that call', async () => {
    await using files = await ScriptFiles.make();
    await using client = new RawClient(behindGateway([ODD_SERVER], files.options));
    await client.initialize();
    files.write({ ride: { text: 'N' } });
    client.send(call(1, 'odd'), call(2, 'odd'));
    await client.answer(1);
    await client.answer(2);
    client.send('{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}');
    await files.until(({ what }) => what === 'confirm');
    expect(files.entries().filter(({ what }) => what === 'release' || what === 'confirm')).toEqual([
      { what: 'release', requestId: '1', reason: 'cancelled' },
      { what: 'confirm', requestId: '2' },
    ]);
  });

  test('is not taken from the store for a call that the client cancels before the answer', async () => {
    await using files = await ScriptFiles.make();
    await using client = new RawClient(behindGateway([ODD_SERVER], files.options));
    await client.initialize();
    files.write({ ride: { text: 'N' } });
    client.send(call(1, 'later'), '{"jsonrpc":"2.0","id":"p","method":"ping"}');
    await client.answer('"p"');
    client.send('{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}', call(2, 'release'));
    expect(await client.answer(1)).not.toContain('N');
    await client.answer(2);
    expect(files.entries().filter(({ what }) => what === 'after')).toMatchObject([{ requestId: '2' }]);
  });

  test('is the whole answer of a refused call, which does not reach the server', async () => {
    proves('gate:refuses');
    await using files = await ScriptFiles.make();
    const log = join(files.folder, 'received');
    await using client = new RawClient(behindGateway([ODD_SERVER], files.options), { ODD_LOG: log });
    await client.initialize();
    files.write({ refuse: 'stop' });
    client.send(...Array.from({ length: 8 }, (_, id) => call(id, 'odd')));
    const answers = await Promise.all(Array.from({ length: 8 }, (_, id) => client.answer(id)));
    for (const answer of answers) expect(answer).toContain('"text":"stop"}],"isError":true,"_meta":{"earpiece/refused":true}');
    client.send('{"jsonrpc":"2.0","id":"p","method":"ping"}');
    await client.answer('"p"');
    expect(readFileSync(log, 'utf8')).not.toContain('tools/call');
  });

  test("comes with the gateway's own tools, which the gateway lists and answers", async () => {
    await using files = await ScriptFiles.make();
    await using client = new RawClient(behindGateway([ODD_SERVER], files.options));
    await client.initialize();
    files.write({ tools: [{ name: 'get_notifications', inputSchema: { type: 'object' } }] });
    client.send('{"jsonrpc":"2.0","id":1,"method":"tools/list"}', call(2, 'get_notifications', '{"mark_as_read":true}'));
    expect(await client.answer(1)).toBe(
      '{"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"odd","inputSchema":{"type":"object"},"x":1.0},{"name":"get_notifications","inputSchema":{"type":"object"}}]}}',
    );
    expect(await client.answer(2)).toContain('own get_notifications');
    expect(files.entries()).toContainEqual({
      what: 'call',
      tool: 'get_notifications',
      args: { mark_as_read: true },
      requestId: '2',
    });
  });

  test('is left out if its source fails: the call passes, and stderr has one line', async () => {
    proves('gateway:store-trouble');
    await using files = await ScriptFiles.make();
    await using client = new RawClient(behindGateway([ODD_SERVER], files.options));
    await client.initialize();
    files.write({ throws: 'no store' });
    client.send(call(1, 'odd'), call(2, 'odd'));
    expect(await client.answer(1)).toBe(ODDITIES[0]!.replace('ID', '1'));
    await client.answer(2);
    await client.said('notifications cannot be reached (before: no store)');
    expect(client.stderr.join('').match(/cannot be reached/g)).toHaveLength(1);
  });
});

describe('a server that ends', () => {
  test('gives open calls errors, restarts with the same handshake, and answers the next call', async () => {
    proves('gateway:restart');
    await using files = await ScriptFiles.make();
    const log = join(files.folder, 'received');
    await using client = new RawClient(behindGateway([ODD_SERVER], files.options), { ODD_LOG: log });
    await client.initialize();
    client.send(call(1, 'later'), '{"jsonrpc":"2.0","id":"r","method":"resources/list"}', call(2, 'crash'));
    const why =
      'The MCP server \\"wrapped\\" stopped during this call (exit code 3). The server is being restarted. The call may have taken effect.';
    expect(await client.answer(1)).toBe(
      `{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"${why}"}],"isError":true}}`,
    );
    expect(await client.answer('"r"')).toBe(
      `{"jsonrpc":"2.0","id":"r","error":{"code":-32603,"message":"${why}","data":{"server":"wrapped"}}}`,
    );
    await client.answer(2);
    client.send(call(3, 'odd'));
    expect(await client.answer(3)).toBe(ODDITIES[0]!.replace('ID', '3'));
    await files.until((entry) => entry.what === 'upstream' && entry.state === 'reconnected');
    expect(files.entries().filter(({ what }) => what === 'upstream')).toMatchObject([
      { state: 'disconnected', server: 'wrapped' },
      { state: 'reconnected' },
    ]);
    const received = readFileSync(log, 'utf8').split('\n');
    expect(received.filter((line) => line.includes('"initialize"'))).toHaveLength(2);
    expect(received.filter((line) => line.includes('notifications/initialized'))).toHaveLength(2);
    expect(client.lines.filter((line) => line.includes('serverInfo'))).toHaveLength(1);
  });

  test.each<[string, readonly string[], string]>([
    ['a command that does not exist', ['--', 'earpiece-no-such-command'], 'the command "earpiece-no-such-command" was not found'],
    ['a command that ends at once', ['--', process.execPath, '-e', 'process.exit(7)'], 'exit code 7'],
    ['a folder in place of a program', ['--', '/etc'], 'the command "/etc" is not executable'],
  ])('%s gives the client an error and ends the gateway', async (_, args, why) => {
    await using client = new RawClient([PLAIN_GATEWAY, ...args]);
    client.send('{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}');
    await client.said(`MCP server "wrapped" failed: ${why}`);
    expect(await client.exit).toEqual({ code: 1, signal: null });
    const [line] = client.lines;
    if (line !== undefined) expect(line).toContain('does not work');
  });
});

describe('a gateway ends with its client and leaves no process behind', () => {
  proves('gateway:no-orphans');
  async function family(client: RawClient): Promise<number[]> {
    await client.initialize();
    client.send(call(1, 'pid'));
    const { pid, helper } = JSON.parse(
      (JSON.parse(await client.answer(1)) as { result: { content: { text: string }[] } }).result.content[0]!.text,
    ) as {
      pid: number;
      helper: number;
    };
    return [pid, helper];
  }

  /**
   * The longest time in which the gateway may stop, in ms. The gateway waits 300 ms after the end of stdin and 1.5 s after
   * SIGTERM before it kills the helper. A client kills a late process after 4 s.
   */
  const BAR_MS = 3_500;

  // These cases wait for stubborn processes, so they run at the same time.
  test.concurrent.each([
    ['its stdin ends', (client: RawClient) => client.end()],
    ['SIGTERM', (client: RawClient) => client.process.kill('SIGTERM')],
    ['SIGINT', (client: RawClient) => client.process.kill('SIGINT')],
  ])('%s: the server and its helper end, although the helper ignores SIGTERM', async (_, stop) => {
    const ended = async (): Promise<number> => {
      await using client = new RawClient(behindGateway([ODD_SERVER]));
      const pids = await family(client);
      const started = performance.now();
      stop(client);
      expect(await client.exit).toEqual({ code: 0, signal: null });
      const tookMs = performance.now() - started;
      for (const pid of pids) expect(await untilDead(pid)).toBe(true);
      return tookMs;
    };
    expect(await least(BAR_MS, ended)).toBeLessThan(BAR_MS);
  });

  test.concurrent('a server that ignores the end of its stdin and SIGTERM is killed', async () => {
    await using client = new RawClient(behindGateway([ODD_SERVER]), { ODD_STUBBORN: '1' });
    const pids = await family(client);
    client.end();
    expect(await client.exit).toEqual({ code: 0, signal: null });
    for (const pid of pids) expect(await untilDead(pid)).toBe(true);
  });

  test('if the gateway is killed, the server sees the end of its stdin', async () => {
    await using client = new RawClient(behindGateway([ODD_SERVER]));
    await client.initialize();
    client.send(call(1, 'odd'));
    await client.answer(1);
    const log = client.process.pid!;
    const children = readFileSync(`/proc/${log}/task/${log}/children`, 'utf8').trim().split(' ').map(Number);
    expect(children).toHaveLength(1);
    client.process.kill('SIGKILL');
    await client.exit;
    expect(await untilDead(children[0]!)).toBe(true);
  });

  test('requests before the end of stdin get their answers, as without a gateway', async () => {
    await using client = new RawClient(behindGateway([ODD_SERVER]));
    client.send('{"jsonrpc":"2.0","id":"init","method":"initialize","params":{}}', call(1, 'odd'));
    client.end();
    await client.exit;
    expect(client.lines.at(-1)).toBe(ODDITIES[0]!.replace('ID', '1'));
  });
});
