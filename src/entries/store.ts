/** `earpiece/store`. Stores keep the log: memory, SQLite, the port for your own store, and the contract that every store passes. */
import '../node-version.ts';

export { memoryStore, openSqliteStore, type SqliteOptions, type SqliteStore } from '../stores/index.ts';
export { runStoreContract, type TestRunner } from '../stores/contract/contract.ts';
export type { Capability, Producing, StoreUnderTest } from '../stores/contract/under-test.ts';
export { EarpieceError } from '../core/errors.ts';
export { replay, settle, touches, type Item, type Settled, type Touches } from '../core/items.ts';
export type { Appended, Clock, ItemQuery, Presence, ReadQuery, Store, Swap, Wait } from '../core/ports.ts';
export type { Draft, Stored } from '../core/records.ts';
export type { LogKey } from '../core/address.ts';
