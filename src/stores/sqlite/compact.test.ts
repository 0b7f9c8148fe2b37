/**
 * Tests that a database of release 0.0.0 is rewritten once. A database that is too large for the rewrite keeps its size, and
 * the store reports the unused bytes.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { proves } from '../../../e2e/verifies.ts';
import { compactStep, unusedBytes } from './compact.ts';
import { Database } from './database.ts';

it('unused space is counted only in a file that is too large to be compacted', () => {
  proves('store:unused');
  const folder = mkdtempSync(join(tmpdir(), 'earpiece-compact-'));
  const db = new Database({ path: join(folder, 'e.db') });
  onTestFinished(() => {
    db.close();
    rmSync(folder, { recursive: true, force: true });
  });
  // Release 0.0.0 made databases with this setting.
  db.all('PRAGMA auto_vacuum = NONE');
  db.all('VACUUM');
  db.run('CREATE TABLE large (text TEXT)');
  for (let n = 0; n < 100; n++) db.run('INSERT INTO large VALUES (?)', 'x'.repeat(10_000));
  db.run('DELETE FROM large');
  expect(compactStep(db, 100_000)).toBe(false);
  expect(unusedBytes(db)).toBeGreaterThan(900_000);
  expect(compactStep(db, 10_000_000)).toBe(false);
  expect(unusedBytes(db)).toBe(0);
});
