/**
 * Tests that a process keeps its locks on a database while it checks the files. Without these locks, the next process that
 * closes the database would delete the `-wal`, and acknowledged records would be lost.
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, renameSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { LogKey } from '../../src/core/address.ts';
import { isEarpieceFile } from '../../src/stores/sqlite/header.ts';
import { openSqliteStore, type SqliteStore } from '../../src/stores/sqlite/store.ts';
import { openThreadStore } from '../../src/stores/thread/store.ts';
import { truncation } from '../../src/stores/sqlite/truncation.ts';
import { proves } from '../verifies.ts';

const LOG = 'shop/coder' as LogKey;
let folder: string;
let path: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'earpiece-locks-'));
  path = join(folder, 'e.db');
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const write = (store: Pick<SqliteStore, 'append'>, message: string): Promise<unknown> =>
  store.append(LOG, [{ type: 'chat_response', message }]);

/** Opens and closes the database in another process. The close deletes the `-wal` if no other process holds a lock. */
function openAndClose(): void {
  const code = `const db = new (require('node:sqlite').DatabaseSync)(process.argv[1]); db.prepare('SELECT count(*) FROM records').get(); db.close()`;
  execFileSync(process.execPath, ['-e', code, path]);
}

const wal = (): number | undefined => statSync(`${path}-wal`, { throwIfNoEntry: false })?.ino;

describe('the -wal of a database that this process has open', () => {
  it('stays after the checks of its files', async () => {
    proves('store:locks');
    const store = await openSqliteStore({ path });
    await write(store, 'before');
    const before = wal();
    expect(truncation(path, true)).toBeUndefined();
    isEarpieceFile(path);
    openAndClose();
    expect(wal()).toBe(before);
    await store.close();
  });

  it('stays after a wait for a lock that another process holds', async () => {
    proves('store:locks');
    const store = await openSqliteStore({ path, busyMs: 100 });
    await write(store, 'before');
    const before = wal();
    using holder = held();
    await expect(write(store, 'refused')).rejects.toThrow('stayed locked by another process');
    holder.release();
    openAndClose();
    expect(wal()).toBe(before);
    await write(store, 'after');
    expect((await store.read({})).map(({ body }) => body['message' as never])).toEqual(['before', 'after']);
    await store.close();
  });

  it('stays after another store of this process was closed', async () => {
    proves('store:locks');
    const [first, second] = await Promise.all([openThreadStore({ path }), openThreadStore({ path })]);
    await write(first, 'one');
    await write(second, 'two');
    const before = wal();
    await second.close();
    openAndClose();
    expect(wal()).toBe(before);
    await write(first, 'three');
    expect(await first.head()).toBe(3);
    await first.close();
  });
});

/** Takes a write lock on another connection. SQLite distinguishes the locks of two connections of one process. */
function held(): Disposable & { release(): void } {
  const db = new (process.getBuiltinModule('node:sqlite').DatabaseSync)(path);
  db.exec('BEGIN IMMEDIATE');
  const release = (): void => {
    if (!db.isOpen) return;
    db.exec('ROLLBACK');
    db.close();
  };
  return { release, [Symbol.dispose]: release };
}

it('a file that replaces an open database keeps all its records, and the old -wal and -shm are renamed', async () => {
  proves('store:replaced');
  const backup = join(folder, 'backup.db');
  const store = await openSqliteStore({ path });
  await write(store, 'in both');
  await store.backup(backup);
  for (let n = 0; n < 200; n++) await write(store, `later ${n}`);
  const lines: string[] = [];
  const other = await openSqliteStore({ path, report: (line) => lines.push(line) });
  renameSync(backup, path);
  await write(store, 'after');
  await write(other, 'also after');
  expect((await other.read({})).map(({ body }) => body['message' as never])).toEqual(['in both', 'after', 'also after']);
  expect(await other.verify()).toEqual([]);
  expect(lines).toHaveLength(1);
  await store.close();
  await other.close();
  openAndClose();
  const again = await openSqliteStore({ path });
  expect(await again.head()).toBe(3);
  await again.close();
});
