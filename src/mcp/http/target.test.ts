import { createServer } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { expect, test } from 'vitest';
import { HttpTarget } from './target.ts';

test('a stop while nobody reads the body of an answer is no error of the process', async () => {
  const server = createServer((_, response) => void response.writeHead(404).write('half of an answer')).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const target = new HttpTarget(`http://127.0.0.1:${port}/`);
  const stop = new AbortController();
  const response = await target.send({ method: 'GET', headers: {}, signal: stop.signal });
  response.resume();
  const closed = new Promise<void>((resolve) => response.on('close', resolve));
  stop.abort();
  await closed;
  expect(response.destroyed).toBe(true);
  target.close();
  server.closeAllConnections();
  server.close();
});
