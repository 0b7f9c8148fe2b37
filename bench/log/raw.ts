import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';

/**
 * The raw driver: one prepared insert of one row into one table, committed by itself. What a durable write costs when
 * nobody asks for ids that are unique, for an order, or for what is open.
 */
export function openRaw(folder: string, { busyMs = 0 } = {}): { insert(body: string): void; close(): void } {
  const db = new DatabaseSync(path.join(folder, 'raw.db'), { timeout: busyMs });
  db.exec(
    'PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA cache_size = -16000; PRAGMA journal_size_limit = 67108864',
  );
  db.exec(
    'CREATE TABLE IF NOT EXISTS records (seq INTEGER PRIMARY KEY, log INTEGER NOT NULL, at INTEGER NOT NULL, body TEXT NOT NULL)',
  );
  const statement = db.prepare('INSERT INTO records (log, at, body) VALUES (?, ?, ?)');
  return {
    insert: (body) => void statement.run(1, Date.now(), body),
    close: () => db.close(),
  };
}
