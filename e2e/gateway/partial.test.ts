/** Tests servers that die in the middle of a frame. */
import { describe, expect, test } from 'vitest';

import { proves } from '../verifies.ts';
import { behindGateway, ODD_SERVER, PLAIN_GATEWAY, RawClient, ServersFile } from './raw-client.ts';
import { HttpProcess } from './servers.ts';

const BREAKING = `${import.meta.dirname}/breaking-server.ts`;

const call = (id: number, name: string): string =>
  `{"jsonrpc":"2.0","id":${id},"method":"tools/call","params":{"name":"${name}","arguments":{"n":0}}}`;

/** Expects each line to be JSON, because a client loses any other line together with the answer in it. */
const expectFrames = (lines: readonly string[]): void => {
  for (const line of lines) expect(() => JSON.parse(line) as unknown, line).not.toThrow();
};

describe('a server that dies in the middle of a frame', () => {
  proves('gateway:partial-frame');

  test('on stdio gives the client an error on its own line, and restarts', async () => {
    await using client = new RawClient(behindGateway([ODD_SERVER]));
    await client.initialize();
    client.send(call(1, 'half'));
    expect(await client.line((line) => line.includes('"id":1'))).toBe(
      '{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"The MCP server \\"wrapped\\" stopped during this call (exit code 3). The server is being restarted. The call may have taken effect."}],"isError":true}}',
    );
    client.send(call(2, 'odd'));
    expect(await client.answer(2)).toContain('1.0');
    expectFrames(client.lines);
  });

  test('on stdio has still answered if only the line ending is missing', async () => {
    await using client = new RawClient(behindGateway([ODD_SERVER]));
    await client.initialize();
    client.send(call(1, 'unended'));
    expect(await client.answer(1)).toBe('{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"whole"}]}}');
    await client.said('disconnected');
    client.send(call(2, 'odd'));
    expect(await client.answer(2)).toContain('1.0');
    expectFrames(client.lines);
  });

  test('as one of several does not affect the other servers', async () => {
    await using several = await ServersFile.make([
      { kind: 'stdio', name: 'a', command: process.execPath, args: [ODD_SERVER] },
      { kind: 'stdio', name: 'b', command: process.execPath, args: [ODD_SERVER] },
    ]);
    await using client = new RawClient([PLAIN_GATEWAY, '--servers', several.path]);
    await client.initialize();
    client.send(call(1, 'a__half'), call(2, 'b__odd'));
    expect(await client.answer(1)).toContain('stopped during this call');
    expect(await client.answer(2)).toContain('1.0');
    expectFrames(client.lines);
  });

  test.each(['json', 'sse', 'resumable'])('behind HTTP (%s) gives a client on stdio one error at once', async (what) => {
    await using server = await HttpProcess.start([BREAKING]);
    await using client = new RawClient([PLAIN_GATEWAY, '--url', server.url]);
    await client.initialize();
    client.send(call(1, what));
    expect(await client.answer(1)).toContain('"isError":true');
    expectFrames(client.lines);
  });

  test('behind HTTP ends the stream of a client on HTTP as without a gateway', async () => {
    await using server = await HttpProcess.start([BREAKING]);
    await using front = await HttpProcess.start([PLAIN_GATEWAY, '--http', '0', '--url', server.url]);
    const post = (body: object): Promise<Response> =>
      fetch(front.url, {
        method: 'POST',
        headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream', 'mcp-session-id': 's' },
        body: JSON.stringify({ jsonrpc: '2.0', ...body }),
      });
    const answer = await post({ id: 1, method: 'tools/call', params: { name: 'sse' } });
    await expect(answer.text()).rejects.toThrow();
  });
});
