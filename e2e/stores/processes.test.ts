import { mkdtempSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { LOG, queued, said } from '../../src/stores/contract/drafts.ts';
import type { LogKey } from '../../src/core/address.ts';
import { openSqliteStore } from '../../src/stores/index.ts';
import { runScript } from './child.ts';
import { proves } from '../verifies.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'earpiece-processes-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

it.each([
  ['one log', () => LOG],
  ['a log each', (i: number) => `shop/agent${i}` as LogKey],
])('four processes that append to one file, %s, store every record once and in order', async (_, logOf) => {
  proves('store:processes');
  const path = join(folder, 'e.db');
  const each = 500;
  const children = Array.from({ length: 4 }, (_, i) => runScript('appender', [path, logOf(i), `p${i}`, String(each)]));
  // The processes also race to create and migrate the file.
  for (const child of children) expect(await child.line()).toBe('ready');
  for (const child of children) child.tell('go');
  const told = await Promise.all(children.map((child) => child.line()));
  const ends = await Promise.all(children.map((child) => child.ended()));
  expect(ends).toEqual(ends.map(() => ({ code: 0, signal: null, stderr: '' })));

  const store = await openSqliteStore({ path });
  const records = await store.read({ limit: 10_000 });
  expect(records.map((record) => record.seq)).toEqual(Array.from({ length: 4 * each }, (_, i) => i + 1));
  for (let i = 0; i < 4; i++) {
    const mine = records
      .map((record) => (record.body as { message: string }).message)
      .filter((message) => message.startsWith(`p${i}-`));
    expect(mine).toEqual(Array.from({ length: each }, (_, n) => `p${i}-${n}`));
  }
  expect(await store.verify()).toEqual([]);
  await store.close();
  for (const line of told) expect((JSON.parse(line as string) as { lateMs: number }).lateMs).toBeLessThan(2000);
});

it('after a kill -9, the store has every acknowledged item and no partial append', async () => {
  proves('log:durable');
  const path = join(folder, 'e.db');
  const acknowledged: string[] = [];
  for (let round = 0; round < 10; round++) {
    const child = runScript('writer', [path]);
    expect(await child.line()).toBe('open');
    // The remaining writes are in progress when the process dies.
    for (let i = 0; i < 50; i++) child.tell(`r${round}-${i}`);
    for (let i = 0; i <= round * 3; i++) acknowledged.push(((await child.line()) as string).replace('ok ', ''));
    child.process.kill('SIGKILL');
    for (let line = await child.line(); line !== undefined; line = await child.line())
      if (line.startsWith('ok ')) acknowledged.push(line.slice(3));
    expect((await child.ended()).signal).toBe('SIGKILL');
  }
  const store = await openSqliteStore({ path });
  const stored = (await store.items(LOG, { kind: 'open' })).map((item) => item.id as string);
  expect(acknowledged.filter((id) => !stored.includes(id))).toEqual([]);
  expect(await store.verify()).toEqual([]);
  await store.close();
});

it('if the file is replaced, the store uses the new file at the path', async () => {
  const path = join(folder, 'e.db');
  const store = await openSqliteStore({ path });
  await store.append(LOG, [said('old'), queued('old')]);
  await store.backup(join(folder, 'backup.db'));
  await store.append(LOG, [said('after the backup')]);
  for (const end of ['', '-wal', '-shm']) rmSync(path + end);
  renameSync(join(folder, 'backup.db'), path);
  const other = await openSqliteStore({ path });
  await other.append('shop/new' as LogKey, [said('new'), { type: 'turn_start' }]);
  // The store checks its files at most once a second.
  await vi.waitFor(async () => expect(await store.head()).toBe(await other.head()), { timeout: 20_000 });
  const messages = async (of: typeof store): Promise<unknown[]> =>
    (await of.read({ types: ['chat_response'] })).map((record) => (record.body as { message?: string }).message);
  await store.append('shop/new' as LogKey, [said('newer')]);
  expect(await messages(other)).toEqual(['old', 'new', 'newer']);
  expect(await messages(store)).toEqual(['old', 'new', 'newer']);
  expect(await store.verify()).toEqual([]);
  await store.close();
  await other.close();
});
