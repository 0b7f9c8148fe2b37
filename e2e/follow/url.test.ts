/** Tests a followed URL whose server answers slowly, incompletely or unexpectedly. */
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import type { Json } from '../../src/core/json.ts';
import type { Look } from '../../src/sources/follow/follower.ts';
import { urlFollower } from '../../src/sources/follow/url.ts';

let answer: (response: ServerResponse) => void;
const server = createServer((_, response) => answer(response));
let url: string;

beforeEach(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
});
afterEach(async () => {
  vi.restoreAllMocks();
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

const look = (state?: Json): Promise<Look> =>
  urlFollower({ kind: 'url', url, value: 'status' }, {}).look(state, new AbortController().signal);
const messages = ({ standing }: Look): readonly string[] => standing.map(({ message }) => message);

it('an answer that is not complete within 10 s, or that breaks off, is a failure of the URL', async () => {
  const inMs = AbortSignal.timeout.bind(AbortSignal);
  vi.spyOn(AbortSignal, 'timeout').mockImplementation((ms) => inMs(ms / 20));
  answer = (response) => response.writeHead(200).write('{"status":');
  const slow = await look();
  expect(messages(slow)).toEqual([`${url} fails: no answer within 10 s`]);
  vi.restoreAllMocks();
  answer = (response) => response.writeHead(200).write('{"status":', () => response.destroy());
  const cut = await look(slow.state);
  expect(messages(cut)).toEqual([`${url} fails: the connection broke off`]);
  answer = (response) => response.end('{"status":"ready"}');
  const well = await look(cut.state);
  expect(well).toMatchObject({ standing: [], summary: '200 OK, status is "ready"' });
  expect(well.news.map(({ message }) => message)).toEqual([`${url} works again: 200 OK; before: the connection broke off`]);
});

it('if a URL fails and then answers with 304, the new summary does not repeat the failure', async () => {
  answer = (response) => response.writeHead(503).end();
  const failed = await look();
  answer = (response) => response.writeHead(304).end();
  expect(await look(failed.state)).toMatchObject({ standing: [], summary: '304 Not Modified' });
});
