import { mkdtempSync, readdirSync, readlinkSync, rmSync, writeFileSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { openLevels } from './glance.ts';

let folder: string;
let path: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'earpiece-glance-'));
  path = join(folder, 'e.db');
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const levels = () => openLevels({ path, processes: [{ machine: 'm', pid: 1, startedAt: '1' }], conversation: 'x' });

it('the open levels of a database of another major version are unknown', () => {
  using db = new DatabaseSync(path);
  db.exec('PRAGMA user_version = 2000');
  expect(levels()).toBeUndefined();
});

it.runIf(process.platform === 'linux')('a file that is not a valid database is closed', () => {
  writeFileSync(path, 'x'.repeat(4_096));
  expect(levels()).toBeUndefined();
  const open = readdirSync('/proc/self/fd').flatMap((fd) => {
    try {
      return readlinkSync(`/proc/self/fd/${fd}`);
    } catch {
      return [];
    }
  });
  expect(open).not.toContain(path);
});
