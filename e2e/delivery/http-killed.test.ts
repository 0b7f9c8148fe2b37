/** Tests a client over HTTP that is killed before it has read an answer, and a client that disconnects normally. */
import { connect, type Socket } from 'node:net';
import { once } from 'node:events';
import { expect } from 'vitest';
import { verifies } from '../verifies.ts';
import { HttpGateway } from './http-gateway.ts';
import { Stage, textOf } from './stage.ts';

/** Makes one tool call on a connection that stays open. Resolves when the first bytes of its answer have arrived, unread. */
async function answered(url: string, headers: Record<string, string>): Promise<Socket> {
  const { hostname, port, pathname } = new URL(url);
  const body = JSON.stringify({
    jsonrpc: '2.0',
    id: 7,
    method: 'tools/call',
    params: { name: 'echo', arguments: { text: 'x' } },
  });
  const socket = connect(Number(port), hostname);
  await once(socket, 'connect');
  const lines = Object.entries({ host: `${hostname}:${port}`, 'content-length': String(Buffer.byteLength(body)), ...headers });
  socket.write(`POST ${pathname} HTTP/1.1\r\n${lines.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n${body}`);
  await once(socket, 'readable');
  return socket;
}

async function sessionOf(stage: Stage): Promise<{ gateway: HttpGateway; headers: Record<string, string> }> {
  const gateway = await HttpGateway.start(stage);
  const client = await gateway.client('web-agent');
  await client.call('echo', { text: 'first' });
  return { gateway, headers: client.headers };
}

verifies('lease:client-died', 'over HTTP, an answer comes again, flagged, if its client was killed before reading', async () => {
  await using stage = new Stage();
  const { gateway, headers } = await sessionOf(stage);
  await using _ = gateway;
  await (await stage.open()).queue('shop/coder', { message: 'the build has failed' });
  const socket = await answered(gateway.url, headers);
  socket.resetAndDestroy();
  const next = await gateway.client('web-agent');
  const texts = [textOf(await next.call('echo', { text: 'y' })), textOf(await next.call('echo', { text: 'z' }))].join('\n');
  expect(texts).toMatch(/repeated[^]*the build has failed/u);
});

verifies(
  'lease:client-died',
  'over HTTP, an answer does not come again if its client has read the answer before it disconnects',
  async () => {
    await using stage = new Stage();
    const { gateway, headers } = await sessionOf(stage);
    await using _ = gateway;
    await (await stage.open()).queue('shop/coder', { message: 'the build has failed' });
    const socket = await answered(gateway.url, headers);
    expect(String(socket.read())).toContain('the build has failed');
    socket.end();
    const next = await gateway.client('web-agent');
    const texts = [textOf(await next.call('echo', { text: 'y' })), textOf(await next.call('echo', { text: 'z' }))].join('\n');
    expect(texts).not.toContain('the build has failed');
  },
);
