/** `earpiece/store`. Stores keep the log: memory, SQLite, and the port for your own store. */
import '../node-version.ts';

export { memoryStore, openSqliteStore, type SqliteOptions, type SqliteStore } from '../stores/index.ts';
export { EarpieceError } from '../core/errors.ts';
export { replay, settle, touches, type Item, type Settled, type Touches } from '../core/items.ts';
export type { Appended, Clock, ItemQuery, Presence, ReadQuery, Store, Swap, Wait } from '../core/ports.ts';
export type { Draft, Stored } from '../core/records.ts';
export type { LogKey } from '../core/address.ts';
