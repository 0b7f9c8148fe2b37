/**
 * Compares the same answer over two listeners: Earpiece's listener writes the answer to the socket, and another listener gets a
 * `Response`.
 */
import { once } from 'node:events';
import { createServer } from 'node:http';
import { connect, type AddressInfo } from 'node:net';
import { getRequestListener } from '@hono/node-server';
import { expect, it } from 'vitest';
import { proves } from '../verifies.ts';
import { onSocket } from './raw.ts';
import { Stage } from './stage.ts';

/** Returns the headers of an answer, without the headers and digits that differ between equal answers. */
const headersOf = (answer: Response): Record<string, string> =>
  Object.fromEntries(
    [...answer.headers]
      .filter(([name]) => !['date', 'connection', 'keep-alive'].includes(name))
      .map(([name, value]) => [name, name === 'x-request-id' ? value.replaceAll(/[0-9a-f]/gu, '0') : value]),
  );

it("an answer is the same over the server's listener, over another listener, and without a listener", async () => {
  proves('server:routes');
  await using stage = await Stage.open({ db: 'memory:' });
  await stage.inbox.queue('shop/coder', { id: 'n1', message: 'é 日本' });
  const { app } = stage.server;
  const other = createServer(getRequestListener(app.fetch, { overrideGlobalObjects: false }));
  other.listen(0, '127.0.0.1');
  await once(other, 'listening');
  const there = `http://127.0.0.1:${(other.address() as AddressInfo).port}`;
  const headers = { authorization: `Bearer ${stage.token}`, host: new URL(stage.at.url).host };
  try {
    for (const [path, method] of [
      ['/api/notifications?log=shop/coder', 'GET'],
      ['/api/notifications?log=shop/coder', 'HEAD'],
      ['/api/notifications/nope?log=shop/coder', 'GET'],
      ['/api/notifications/n1/read?log=shop/coder', 'POST'],
      ['/healthz', 'GET'],
      ['/healthz', 'HEAD'],
      ['/metrics', 'HEAD'],
    ] as const) {
      const [ours, theirs] = [
        await fetch(`${stage.at.url}${path}`, { method, headers }),
        await fetch(`${there}${path}`, { method, headers }),
      ];
      const alone = await app.request(`${stage.at.url}${path}`, { method, headers });
      expect(alone).toBeInstanceOf(Response);
      const { 'content-length': length, ...rest } = headersOf(ours);
      const text = await ours.text();
      if (method !== 'HEAD') expect([path, Number(length)]).toEqual([path, Buffer.byteLength(text)]);
      for (const each of [theirs, alone]) {
        const { 'content-length': _length, ...same } = headersOf(each);
        expect([path, each.status, same]).toEqual([path, ours.status, rest]);
        const instance = /"instance":"[^"]+"/u;
        expect((await each.text()).replace(instance, '')).toBe(text.replace(instance, ''));
      }
    }
  } finally {
    other.close();
  }
});

it('an answer has the headers that its route sets', async () => {
  proves('server:routes');
  await using stage = await Stage.open({ db: 'memory:' });
  const code = (await stage.server.loginUrl()).split('#code=')[1];
  const answer = await stage.raw('/api/session', {
    method: 'POST',
    headers: { authorization: '', 'content-type': 'application/json', origin: stage.at.url },
    body: JSON.stringify({ code }),
  });
  expect([answer.status, answer.headers.get('set-cookie')?.split('=')[0], answer.headers.get('cache-control')]).toEqual([
    200,
    `earpiece_${stage.at.port}`,
    'no-store',
  ]);
});

it('one connection has several answers in order, and nothing is written after the client has disconnected', async () => {
  proves('server:routes');
  await using stage = await Stage.open({ db: 'memory:' });
  const { host, hostname, port } = new URL(stage.at.url);
  const request = (path: string, more = ''): string =>
    `GET ${path} HTTP/1.1\r\nhost: ${host}\r\nauthorization: Bearer ${stage.token}\r\n${more}\r\n`;
  const { text } = await onSocket(stage.at.url, [
    `${request('/healthz')}${request('/api/agents')}${request('/api/session', 'connection: close\r\n')}`,
  ]);
  expect(text.match(/HTTP\/1\.1 200 OK/gu)).toHaveLength(3);
  expect(text.match(/\{"status":"ok".*\}|\{"items":\[\],"next":null\}|\{"who":.*\}/gu)).toHaveLength(3);

  const { id } = await stage.inbox.queue('shop/coder', { message: 'x' });
  const { token, tokenId } = await stage.as({ kind: 'admin' });
  const gone = connect(Number(port), hostname);
  gone.write(
    `GET /api/notifications/${id}/receipt?log=shop/coder&wait=30 HTTP/1.1\r\nhost: ${host}\r\nauthorization: Bearer ${token}\r\n\r\n`,
  );
  // The test waits until the token's last use is written.
  const used = async (): Promise<number | null | undefined> =>
    (await stage.server.tokens.list()).find((each) => each.id === tokenId)?.lastUsedAt;
  while ((await used()) === null) await new Promise(setImmediate);
  gone.destroy();
  await stage.inbox.withdraw('shop/coder', { id }, { by: 'tests', reason: 'over' });
  expect((await stage.raw('/healthz')).status).toBe(200);
  expect(stage.reported).toEqual([]);
});
