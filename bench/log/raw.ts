import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { LogKey } from '../../src/core/address.ts';
import { openSqliteStore } from '../../src/stores/sqlite/store.ts';

const PRAGMAS =
  'PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA cache_size = -16000; PRAGMA journal_size_limit = 67108864';

/**
 * Opens the raw driver: one prepared insert of one row into one table, in one transaction. This side measures the cost of a
 * durable write without unique ids, order, or an index of open items.
 */
export function openRaw(folder: string, { busyMs = 0 } = {}): { insert(body: string): void; close(): void } {
  const db = new DatabaseSync(path.join(folder, 'raw.db'), { timeout: busyMs });
  db.exec(PRAGMAS);
  db.exec(
    'CREATE TABLE IF NOT EXISTS records (seq INTEGER PRIMARY KEY, log INTEGER NOT NULL, at INTEGER NOT NULL, body TEXT NOT NULL)',
  );
  const statement = db.prepare('INSERT INTO records (log, at, body) VALUES (?, ?, ?)');
  return {
    insert: (body) => void statement.run(1, Date.now(), body),
    close: () => db.close(),
  };
}

/**
 * Opens the raw driver, which writes the same rows as queueing (a record and an open item) into the same tables and indexes.
 * This side checks nothing, reads nothing, and makes ids by counting.
 */
export async function openSame(folder: string): Promise<{ insert(body: string): void; close(): void }> {
  const file = path.join(folder, 'same.db');
  const store = await openSqliteStore({ path: file });
  await store.append('bench/agent' as LogKey, [{ type: 'turn_start' }]);
  await store.close();
  const db = new DatabaseSync(file, { timeout: 0 });
  db.exec(PRAGMAS);
  const [begin, commit] = [db.prepare('BEGIN IMMEDIATE'), db.prepare('COMMIT')];
  const record = db.prepare('INSERT INTO records (seq, log, at, type, notification, body) VALUES (?, ?, ?, ?, ?, ?)');
  const item = db.prepare("INSERT INTO items (log, phase, seq, audience, level, gate) VALUES (?, 0, ?, '', 0, 0)");
  let seq = 1;
  return {
    insert(body) {
      seq++;
      const log = 1 + Math.floor(seq / 500);
      begin.run();
      record.run(seq, log, Date.now(), 'system_notification_queued', `n_${String(seq).padStart(20, '0')}`, body);
      item.run(log, seq);
      commit.run();
    },
    close: () => db.close(),
  };
}
