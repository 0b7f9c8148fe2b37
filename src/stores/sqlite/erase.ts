/** Erases all data of one agent. */
import type { LogKey } from '../../core/address.ts';
import type { Erased } from '../../core/ports.ts';
import type { Database } from './database.ts';

/**
 * Rewrites each page of the file, so that no byte of the removed data is left after the file is closed. Must not run inside a
 * transaction. `secure_delete` is not enough: when SQLite splits a page, it leaves copies of rows in the free space of the
 * neighbouring pages. Other writers wait until the rewrite ends, about a second for 256 MB.
 */
export const rewrite = (db: Database): void => void db.all('VACUUM');

/**
 * Erases an agent's records and items below position `before`, and its other rows. Returns the numbers of erased rows. Must run
 * inside a transaction.
 */
export function erase(db: Database, log: LogKey, before: number): Erased {
  const count = (sql: string, ...given: readonly (string | number)[]): number => Number(db.run(sql, ...given).changes);
  const id = db.get<{ id: number }>('SELECT id FROM logs WHERE key = ?', log)?.id ?? -1;
  const notifications =
    db.get<{ n: number }>('SELECT count(DISTINCT seq) AS n FROM items WHERE log = ? AND seq < ?', id, before)?.n ?? 0;
  db.run('DELETE FROM items WHERE log = ? AND seq < ?', id, before);
  db.run('DELETE FROM loose WHERE log = ? AND seq < ?', id, before);
  db.run('DELETE FROM bindings WHERE log = ?', id);
  return {
    records: count('DELETE FROM records WHERE log = ? AND seq < ?', id, before),
    notifications,
    conversations: count('DELETE FROM conversations WHERE log = ?', id),
    withheld: count('DELETE FROM withheld WHERE log = ?', id),
    // The keys of these settings name the agent or one of its conversations. The value of a session token is the conversation
    // that it opens.
    settings: count(
      `DELETE FROM settings WHERE substr(key, -length(?1) - 1) = ' ' || ?1 OR instr(key, ' ' || ?1 || '#') > 0
       OR substr(value, 1, length(?1) + 2) = '"' || ?1 || '#'`,
      log,
    ),
  };
}
