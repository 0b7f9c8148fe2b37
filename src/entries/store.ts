/** `earpiece/store`. Stores keep the log: memory, SQLite, the port for your own store, and the contract that every store passes. */
import '../node-version.ts';

import type { Clock, Store } from '../core/ports.ts';
import { check, type Table } from '../library/arguments.ts';
import { memoryStore as inMemory, openSqliteStore as openSqlite, type SqliteOptions, type SqliteStore } from '../stores/index.ts';

const CLOCK = { methods: ['now'], like: 'an object with now()' } as const;
const SQLITE: Table<SqliteOptions> = {
  path: { needed: 'name' },
  clock: CLOCK,
  busyMs: 'amount',
  together: 'flag',
  report: 'function',
  probe: 'function',
  sqliteVersion: 'text',
};

/** A store that lives and ends with its process: for tests, and for agents whose notifications need not outlive them. */
export function memoryStore(options: { readonly clock?: Clock } = {}): Store {
  check('memoryStore', options, { clock: CLOCK });
  return inMemory(options);
}

/**
 * Opens a database file, and makes or migrates it if needed. Rejects with `bad_argument`, `store_refused`, `store_corrupt`,
 * `store_full` or (if others hold its lock for `busyMs`) `store_unavailable`.
 */
export async function openSqliteStore(options: SqliteOptions): Promise<SqliteStore> {
  check('openSqliteStore', options, SQLITE);
  return openSqlite(options);
}

export type { SqliteOptions, SqliteStore };
export { runStoreContract, type TestRunner } from '../stores/contract/contract.ts';
export type { Capability, Producing, StoreUnderTest } from '../stores/contract/under-test.ts';
export { EarpieceError } from '../core/errors.ts';
export { replay, settle, touches, type Item, type Settled, type Touches } from '../core/items.ts';
export type { Appended, Clock, ItemQuery, Presence, ReadQuery, Store, Swap, Wait } from '../core/ports.ts';
export type { Draft, Stored } from '../core/records.ts';
export type { LogKey } from '../core/address.ts';
