/** A file that is taken away or replaced while it is open: nothing is acknowledged that nobody can read. */
import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { LogKey } from '../../core/address.ts';
import { openSqliteStore, type SqliteStore } from './store.ts';

const LOG = 'shop/coder' as LogKey;
let folder: string;
let path: string;
let store: SqliteStore;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'earpiece-replaced-'));
  path = join(folder, 'e.db');
  store = await openSqliteStore({ path });
  await store.append(LOG, [{ type: 'chat_response', message: 'before' }]);
});
afterEach(async () => {
  await store.close();
  rmSync(folder, { recursive: true, force: true });
});

const take = (): void => ['', '-wal', '-shm'].forEach((part) => renameSync(`${path}${part}`, `${path}.away${part}`));
const write = (message: string): Promise<unknown> => store.append(LOG, [{ type: 'chat_response', message }]);

it('what is written right after it was taken away is in the file that stands there', async () => {
  take();
  await write('after');
  const other = await openSqliteStore({ path });
  expect((await other.read({})).map(({ body }) => body['message' as never])).toEqual(['after']);
  await other.close();
});

it('what is no database there is told each time, not only once a second', async () => {
  take();
  writeFileSync(path, 'garbage'.repeat(3_000));
  for (let i = 0; i < 3; i++) await expect(write('into the void')).rejects.toThrow('is no SQLite database');
  await expect(store.head()).rejects.toThrow('is no SQLite database');
  rmSync(path);
  await write('after');
  expect(await store.head()).toBe(1);
});
