import { DatabaseSync } from 'node:sqlite';
import { copyFileSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { Commits } from './commits.ts';

let folder: string;
let path: string;
let writer: DatabaseSync;
let commits: Commits;

function opened(): DatabaseSync {
  const db = new DatabaseSync(path);
  db.exec('PRAGMA journal_mode = WAL; CREATE TABLE IF NOT EXISTS t (x)');
  return db;
}

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'earpiece-commits-'));
  path = join(folder, 'a.db');
  writer = opened();
  commits = new Commits(path);
  commits.news();
});

afterEach(() => {
  vi.restoreAllMocks();
  commits.close();
  writer.close();
  rmSync(folder, { recursive: true });
});

test('each commit is noticed once', () => {
  for (let n = 0; n < 5; n++) {
    writer.exec(`INSERT INTO t VALUES (${n})`);
    expect(commits.news()).toBe(true);
    expect(commits.news()).toBe(false);
  }
});

test('a transaction is noticed when it is committed, not before, and not at all if it is rolled back', () => {
  writer.exec('BEGIN; INSERT INTO t VALUES (1)');
  expect(commits.news()).toBe(false);
  writer.exec('COMMIT');
  expect(commits.news()).toBe(true);
  writer.exec('BEGIN; INSERT INTO t VALUES (2); ROLLBACK');
  expect(commits.news()).toBe(false);
});

test('a commit after a checkpoint that emptied the log is noticed', () => {
  writer.exec('INSERT INTO t VALUES (1)');
  commits.news();
  writer.exec('PRAGMA wal_checkpoint(TRUNCATE)');
  commits.news();
  writer.exec('INSERT INTO t VALUES (1)');
  expect(commits.news()).toBe(true);
});

test('a check that is older than 200 ms is not trusted, so a replaced file is noticed', () => {
  expect(commits.news()).toBe(false);
  const now = performance.now() + 200;
  vi.spyOn(performance, 'now').mockReturnValue(now);
  expect(commits.news()).toBe(true);
  expect(commits.news()).toBe(false);

  for (const name of ['a.db', 'a.db-wal', 'a.db-shm']) renameSync(join(folder, name), join(folder, `old-${name}`));
  const newer = opened();
  vi.spyOn(performance, 'now').mockReturnValue(now + 200);
  expect(commits.news()).toBe(true);
  newer.exec('INSERT INTO t VALUES (1)');
  expect(commits.news()).toBe(true);
  expect(commits.news()).toBe(false);
  newer.close();
});

test.each<readonly [string, (name: string) => void]>([
  ['deleted', (name) => rmSync(name)],
  ['moved away', (name) => renameSync(name, `${name}.old`)],
  ['replaced by a copy', (name) => (copyFileSync(name, `${name}.copy`), renameSync(`${name}.copy`, name))],
])('a commit after the file was %s is noticed at once', (_, replace) => {
  expect(commits.news()).toBe(false);
  replace(`${path}-shm`);
  // The test does the work of the thread that has the old file open. The test moves the records into the main file, and opens
  // the database again.
  rmSync(`${path}-shm`, { force: true });
  writer.exec('PRAGMA wal_checkpoint(PASSIVE)');
  writer.close();
  writer = opened();
  writer.exec('INSERT INTO t VALUES (1)');
  expect(commits.news()).toBe(true);
  expect(commits.news()).toBe(false);
});

test('a missing file counts as a change until it exists again', () => {
  renameSync(`${path}-shm`, `${path}-away`);
  expect([commits.news(), commits.news()]).toEqual([true, true]);
  renameSync(`${path}-away`, `${path}-shm`);
  expect([commits.news(), commits.news()]).toEqual([true, false]);
});

test('without a database, every check reports a change', () => {
  const none = new Commits(join(folder, 'none.db'));
  expect([none.news(), none.news()]).toEqual([true, true]);
});
