/** Tests that mutes over HTTP and on the command line are the same mutes. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ApiError, createClient, type Client } from '../../src/wire/client/index.ts';
import type { LoadedInbox } from '../../src/loaded-inbox.ts';
import { Tokens } from '../../src/server/index.ts';
import { Shell } from '../cli/shell.ts';
import { proves } from '../verifies.ts';
import { ServerProcess } from './process.ts';

let shell: Shell;
let ear: LoadedInbox;
let server: ServerProcess;
let client: Client;
const as = async (kind: 'admin' | 'send' | 'agent', more: object = {}): Promise<Client> => {
  const { token } = await new Tokens(ear).create({ kind, name: 'mira', ...more });
  return createClient({ url: (await server.ready).url, token });
};

beforeAll(async () => {
  shell = new Shell();
  ear = await shell.open();
  server = new ServerProcess(['--port', '0', '--no-console'], { cwd: shell.folder, env: shell.env() });
  client = await as('admin');
});
afterAll(async () => {
  server.kill('SIGTERM');
  await server[Symbol.asyncDispose]();
  await shell[Symbol.asyncDispose]();
});

const refused = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => 'it went through',
    (error: unknown) => (error instanceof ApiError ? [error.status, error.field, error.message] : error),
  );

describe('a mute', () => {
  proves('server:mutes');

  it('made over HTTP is listed and lifted by the command line, and vice versa', async () => {
    await ear.queue('shop/coder#main', { id: 'n0', message: 'x' });
    const until = Date.now() + 3_600_000;
    expect(await client.mute('shop/coder#main', 'ci.failed', { until })).toEqual({
      items: [{ log: 'shop/coder', pattern: 'ci.failed', until, by: 'mira' }],
      more: false,
    });
    expect(await shell.says(['mute'])).toMatch(/^ci\.failed {2}muted for shop\/coder until .* \(by mira\)\n$/u);
    await ear.queue('shop/coder#main', { id: 'n1', kind: 'ci.failed', message: 'x' });
    expect((await client.why('n1', 'shop/coder')).items[0]?.verdict).toMatchObject({ kind: 'muted', by: 'mira', until });

    await shell.says(['mute', 'ci.failed', 'coder', '--off']);
    expect((await client.mutes({ project: 'shop' })).items).toEqual([]);
    expect((await client.why('n1', 'shop/coder')).items[0]?.verdict).toMatchObject({ kind: 'never_carried' });

    await shell.says(['mute', 'mail', 'coder', '--for', 'today']);
    const midnight = new Date(new Date().setHours(24, 0, 0, 0)).getTime();
    const [mail] = (await client.mutes({ log: 'shop/coder' })).items;
    expect(Math.abs((mail?.until ?? 0) - midnight)).toBeLessThan(5_000);
    expect((await client.unmute('shop/coder', 'mail')).items).toEqual([]);
    expect((await client.mute('shop/coder', '*')).items).toMatchObject([{ pattern: '*', until: null }]);
    await client.unmute('shop/coder', '*');
  });

  it('is refused for an invalid field, which the error names, and for a token without the right to mute', async () => {
    expect(await refused(client.mute('shop/coder', 'ci failed'))).toEqual([
      400,
      'pattern',
      'pattern "ci failed" must be "*", a source, "source.*" or "source.name"',
    ]);
    expect(await refused(client.mute('shop/coder', 'ci', { until: 1 }))).toMatchObject([400, 'until', expect.any(String)]);
    expect(await refused(client.mute('shop/*', 'ci'))).toMatchObject([400, undefined, expect.any(String)]);
    const agent = await as('agent', { project: 'shop', agent: 'coder' });
    expect(await refused(agent.mute('shop/coder', '*'))).toMatchObject([403, undefined, expect.any(String)]);
    expect((await agent.mutes()).items).toEqual([]);
    const send = await as('send', { project: 'shop' });
    expect(await refused(send.mutes({ project: 'shop' }))).toMatchObject([403, undefined, expect.any(String)]);
  });

  it('is not lost if several people mute kinds at the same time', async () => {
    const names = Array.from({ length: 12 }, (_, i) => `k${i}`);
    await Promise.all(
      names.map((name, i) => (i % 2 === 0 ? client.mute('shop/coder', name) : ear.mute('shop/coder', name, { by: 'x' }))),
    );
    expect((await client.mutes({ log: 'shop/coder' })).items.map(({ pattern }) => pattern).toSorted()).toEqual(names.toSorted());
  });
});
