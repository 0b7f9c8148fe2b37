/** Tests `GET /`: a browser gets the console. Any other client gets a text about the server and its links. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { proves } from '../verifies.ts';
import { onSocket } from './raw.ts';
import { Stage } from './stage.ts';

const folder = mkdtempSync(join(tmpdir(), 'earpiece-console-'));
writeFileSync(join(folder, 'index.html'), '<!doctype html><title>Earpiece</title>');
afterAll(() => rmSync(folder, { recursive: true }));

const WORDS = `Earpiece 0.0.0: notifications for LLM agents

console  {console}
API      /openapi.json describes the API; programs send Authorization: Bearer <token>; create a token with: earpiece token create
health   /healthz
`;

it('the server explains itself at / to a client that is not a browser', async () => {
  proves('server:routes');
  await using stage = await Stage.open({ db: 'memory:', consoleFolder: folder });
  const words = WORDS.replace(
    '{console}',
    'open this URL in a browser; to log in, run earpiece token login and open the printed URL',
  );
  const nobody = { authorization: '' };
  for (const accept of ['*/*', 'application/json', 'text/plain, */*;q=0.1']) {
    const answer = await stage.raw('/', { headers: { ...nobody, accept } });
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'text/plain; charset=utf-8']);
    expect([answer.headers.get('vary'), answer.headers.get('x-content-type-options')]).toEqual(['accept', 'nosniff']);
    expect(await answer.text()).toBe(words);
  }
  const { host } = new URL(stage.at.url);
  const bare = await onSocket(stage.at.url, [`GET / HTTP/1.1\r\nhost: ${host}\r\nconnection: close\r\n\r\n`]);
  expect(bare.text).toContain(`\r\n\r\n${words}`);
  const head = await stage.raw('/', { method: 'HEAD', headers: { ...nobody, accept: '*/*' } });
  expect([head.status, await head.text()]).toEqual([200, '']);

  const page = await stage.raw('/', { headers: { ...nobody, accept: 'text/html,application/xhtml+xml,*/*;q=0.8' } });
  expect([page.status, page.headers.get('vary'), await page.text()]).toEqual([
    200,
    'accept',
    '<!doctype html><title>Earpiece</title>',
  ]);
  // For a program, the server answers 404 to the URL of a console page.
  expect((await stage.raw('/inbox', { headers: { ...nobody, accept: '*/*' } })).status).toBe(404);
});

it('a server without a console names the reason at /', async () => {
  proves('server:routes');
  for (const [consoleFolder, why] of [
    [undefined, 'none: the server was started without the console'],
    [join(folder, 'nothing'), 'none: the console was not built'],
  ] as const) {
    await using stage = await Stage.open({ db: 'memory:', ...(consoleFolder === undefined ? {} : { consoleFolder }) });
    for (const [path, accept] of [
      ['/', '*/*'],
      ['/', 'text/html'],
      ['/inbox', 'text/html'],
    ] as const) {
      const answer = await stage.raw(path, { headers: { authorization: '', accept } });
      expect([answer.status, await answer.text()]).toEqual([200, WORDS.replace('{console}', why)]);
    }
  }
});
