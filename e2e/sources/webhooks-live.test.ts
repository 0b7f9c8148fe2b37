/** Tests `[webhooks.*]` of a running server: a change of the file takes effect with the next request. */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { Shell } from '../cli/shell.ts';
import { ServerProcess } from '../server/process.ts';
import { proves } from '../verifies.ts';

/** Waits until `look` succeeds, because a server writes its reports to a separate pipe, before or after its answer. */
const said = (look: () => void): Promise<void> => vi.waitFor(look, { timeout: 20_000 });

const ci = (to: string, secret = 'CI_SECRET'): string => `[webhooks.ci]\nkind = "json"\nto = "${to}"\nsecret_env = "${secret}"\n`;

test('a webhook is added, changed, broken or removed without a restart', async () => {
  proves('sources:webhooks-live');
  await using shell = new Shell();
  const config = join(shell.folder, 'config/earpiece/earpiece.toml');
  const write = (text: string): void => {
    mkdirSync(join(config, '..'), { recursive: true });
    writeFileSync(config, text);
  };
  const at = { cwd: shell.folder, env: shell.env({ CI_SECRET: 'secret of the ci', NEW_SECRET: 'another secret' }) };
  await using server = new ServerProcess(['--port', '0', '--no-console'], at);
  const { url } = await server.ready;
  let id = 0;
  const send = async (secret = 'secret of the ci'): Promise<number> => {
    const answer = await fetch(`${url}/api/webhooks/ci`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${secret}` },
      body: JSON.stringify({ id: `${++id}` }),
    });
    return answer.status;
  };
  const ear = await shell.open();
  const open = async (agent: string): Promise<number> => (await ear.open(`shop/${agent}`)).length;

  expect(await send()).toBe(404);
  write(ci('shop/coder'));
  expect(await send()).toBeLessThan(300);
  expect(await open('coder')).toBe(1);

  write(ci('shop/writer', 'NEW_SECRET'));
  expect(await send()).toBe(401);
  expect(await send('another secret')).toBeLessThan(300);
  expect([await open('coder'), await open('writer')]).toEqual([1, 1]);

  write(ci('shop/writer', 'NEW_SECRET').replace('json', 'jsonn'));
  expect(await send('another secret'), 'the earlier webhook applies while the file has a mistake').toBeLessThan(300);
  await said(() => expect(server.stderr).toContain('earpiece.toml:2:8: webhooks.ci.kind is "jsonn"'));

  write(ci('shop/coder', 'NO_SECRET'));
  expect([await send(), await send()]).toEqual([503, 503]);
  await said(() => expect(server.stderr.match(/needs the secret in NO_SECRET/g)).toHaveLength(1));

  rmSync(config);
  expect(await send()).toBe(404);

  // A webhook in the project's own `earpiece.toml` is ignored until `earpiece trust`.
  shell.config(ci('shop/coder'));
  expect(await send()).toBe(404);
  await said(() => expect(server.stderr).toContain('is not trusted and is ignored'));
  await shell.says(['trust']);
  expect(await send()).toBeLessThan(300);
}, 60_000);
