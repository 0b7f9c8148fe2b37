/**
 * Tests a file that is moved away or replaced while the store has the file open. The store acknowledges no record that no
 * process can read.
 */
import { copyFileSync, mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { LogKey } from '../../core/address.ts';
import { Folder } from './files.ts';
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

it('a write right after the removal of the file is in the new file', async () => {
  take();
  await write('after');
  const other = await openSqliteStore({ path });
  expect((await other.read({})).map(({ body }) => body['message' as never])).toEqual(['after']);
  await other.close();
});

it('a foreign file at the path of the database is reported at each call, not only once a second', async () => {
  take();
  writeFileSync(path, 'garbage'.repeat(3_000));
  for (let i = 0; i < 3; i++) await expect(write('into the void')).rejects.toThrow('is not an SQLite database');
  await expect(store.head()).rejects.toThrow('is not an SQLite database');
  rmSync(path);
  await write('after');
  expect(await store.head()).toBe(1);
});

/** Sets old times, so that the store checks only the folder. */
const settle = async (at = folder): Promise<void> => {
  utimesSync(at, 1, 1);
  await write('settled');
};
const messages = async (file = path): Promise<unknown[]> => {
  const other = await openSqliteStore({ path: file });
  const found = (await other.read({})).map(({ body }) => body['message' as never]);
  await other.close();
  return found;
};

describe('the first write after a change in a folder that was quiet for long', () => {
  it('goes to the new file if all three files were removed', async () => {
    await settle();
    take();
    await write('after');
    expect(await messages()).toEqual(['after']);
  });

  it.each([['-wal'], ['-shm']])('is kept if the %s was deleted', async (side) => {
    await settle();
    rmSync(`${path}${side}`);
    await write('after');
    await store.close();
    expect(await messages()).toEqual(['before', 'settled', 'after']);
  });

  it('goes to the other file that replaced the database', async () => {
    const other = join(folder, 'other.db');
    await (await openSqliteStore({ path: other })).close();
    await settle();
    ['-wal', '-shm'].forEach((side) => rmSync(`${path}${side}`));
    renameSync(other, path);
    await write('after');
    expect(await messages()).toEqual(['after']);
  });

  it('goes to the restored file if a program restored the folder with its times', async () => {
    const other = join(folder, 'other.db');
    await (await openSqliteStore({ path: other })).close();
    await settle();
    take();
    copyFileSync(other, path);
    utimesSync(folder, 1, 1);
    await write('after');
    expect(await messages()).toEqual(['after']);
  });

  it('goes to the new folder if the folder was replaced', async () => {
    await store.close();
    const inside = join(folder, 'inside');
    mkdirSync(inside);
    path = join(inside, 'e.db');
    store = await openSqliteStore({ path });
    await settle(inside);
    renameSync(inside, join(folder, 'away'));
    mkdirSync(inside);
    utimesSync(inside, 1, 1);
    await write('after');
    expect(await messages()).toEqual(['after']);
  });

  it('goes to the new target if a link to the file was changed', async () => {
    await store.close();
    const [links, targets] = [join(folder, 'links'), join(folder, 'targets')];
    [links, targets].forEach((each) => mkdirSync(each));
    const [link, middle] = [join(links, 'e.db'), join(targets, 'middle.db')];
    symlinkSync(path, middle);
    symlinkSync(middle, link);
    store = await openSqliteStore({ path: link });
    [links, targets].forEach((each) => utimesSync(each, 1, 1));
    await settle();
    rmSync(middle);
    symlinkSync(join(folder, 'other.db'), middle);
    await write('after');
    expect(await messages(join(folder, 'other.db'))).toEqual(['after']);
  });
});

it('a folder that has just changed is checked again, because a second change within one clock tick is not visible', () => {
  const watched = new Folder(path, path);
  watched.note();
  expect(watched.isSame()).toBe(false);
  utimesSync(folder, 1, 1);
  watched.note();
  expect(watched.isSame()).toBe(true);
  writeFileSync(join(folder, 'new'), '');
  expect(watched.isSame()).toBe(false);
});
