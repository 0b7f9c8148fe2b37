/** Tests a database of release 0.0.0: its waiting notifications, raised gates, mutes and the project's name stay the same. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { expect } from 'vitest';
import { textOf } from '../delivery/stage.ts';
import { Shell } from '../cli/shell.ts';
import { verifies } from '../verifies.ts';

const FIXTURE = join(import.meta.dirname, 'fixtures/release-0.0.0.db.gz');

verifies('store:upgrade', async () => {
  await using shell = new Shell();
  mkdirSync(join(shell.folder, '.git'));
  mkdirSync(join(shell.folder, 'state/earpiece'), { recursive: true });
  writeFileSync(shell.db, gunzipSync(readFileSync(FIXTURE)));
  const names = { version: 1, projects: [['shop', shell.folder]] };
  writeFileSync(join(shell.folder, 'state/earpiece/projects.json'), JSON.stringify(names));

  expect(await shell.says(['db', 'check'])).toContain('is intact');
  expect(await shell.says(['why', 'delivered'])).toContain('delivered');
  expect((await shell.json(['doctor'])).find(({ what }) => what === 'project')?.['value']).toMatch(/^shop \(/);

  await using client = await shell.gateway({ env: { EARPIECE_ADDRESS: 'shop/coder#main' } });
  const hello = (await client.request('initialize', {
    protocolVersion: '2025-11-25',
    capabilities: {},
    clientInfo: { name: 'raw', version: '1' },
  })) as { instructions?: string };
  const refused = await client.call('echo', { text: 'x' });
  expect(textOf(refused)).toContain('paused by the first release');
  await shell.says(['withdraw', 'paused']).catch(() => '');
  await shell.says(['send', '--to', 'coder', '--kind', 'noise.made', 'muted by the first release']);
  const text = textOf(await client.call('echo', { text: 'y' }));
  expect(text).toContain('queued by the first release');
  expect(text).not.toContain('muted by the first release');
  // The first release had a different mark for each conversation. The current mark is announced at the start.
  const [, mark] = /\[ep (\w+)\]/.exec(text) ?? [];
  expect(hello.instructions).toContain(mark);
  expect(await shell.says(['db', 'check'])).toContain('is intact');
});
