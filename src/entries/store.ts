/**
 * `earpiece/store`: stores in memory and in SQLite, the interface for your own store, and the contract that every store passes.
 */
import '../node-version.ts';

import type { Clock, Store } from '../core/ports.ts';
import type { Draft, Stored } from '../core/records.ts';
import * as items from '../core/items.ts';
import { bad, check, checkText, shown, type Table } from '../library/arguments.ts';
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

/**
 * Makes a store in memory, which ends with its process. Use this store for tests, and for agents whose notifications need not
 * survive a restart.
 */
export function memoryStore(options: { readonly clock?: Clock } = {}): Store {
  check('memoryStore', options, { clock: CLOCK });
  return inMemory(options);
}

/**
 * Opens a database file, and creates or migrates it if needed. Rejects with `bad_argument`, `store_refused`, `store_corrupt`,
 * `store_full` or `store_unavailable`. `store_unavailable`: another process locks the file for `busyMs`, the file cannot be read,
 * or its `-wal` or `-shm` was deleted while in use.
 */
export async function openSqliteStore(options: SqliteOptions): Promise<SqliteStore> {
  check('openSqliteStore', options, SQLITE);
  if (options.path === ':memory:')
    throw bad(
      'openSqliteStore: path ":memory:" would create a file with this name; use memoryStore() for a store in memory',
      'path',
    );
  return openSqlite(options);
}

/**
 * Names the items that `settle` needs for a record. Read these items from your index. Throws `bad_argument` for a draft without a
 * type.
 */
export function touches(draft: Draft): items.Touches {
  checkDraft('touches', draft);
  return items.touches(draft);
}

/** Returns the effect of a record on the items that `touches` names. Throws `bad_argument` for a draft without a type. */
export function settle(draft: Draft, place: Pick<Stored, 'seq' | 'at' | 'clock'>, found: readonly items.Item[]): items.Settled {
  checkDraft('settle', draft);
  return items.settle(draft, place, found);
}

/** Computes the items of a log from its records alone. */
export function replay(records: Iterable<Pick<Stored, 'seq' | 'at' | 'clock' | 'body'>>): Map<string, items.Item> {
  if (typeof (records as Iterable<unknown> | undefined)?.[Symbol.iterator] !== 'function')
    throw bad(`replay: records must be a list, got ${shown(records)}`, 'records');
  return items.replay(records);
}

function checkDraft(call: string, draft: Draft): void {
  checkText(call, 'the type of the draft', (draft as Draft | undefined)?.type);
}

export type { SqliteOptions, SqliteStore };
export { clockBeside, isExpired } from '../core/clocks.ts';
export { ANYONE, formerOf } from '../core/items.ts';
export { MAX_CONVERSATIONS_OF_AN_OVERVIEW } from '../core/ports.ts';
export { isSignOfWork } from '../core/records.ts';
export { heldFor } from '../stores/audience.ts';
export { presenceAfter } from '../stores/presence.ts';
export { isHousekeeping, isPast, mustConcernNoItem, removable, removableLoose } from '../stores/retention.ts';
export { unsound } from '../stores/soundness.ts';
export { runStoreContract, type TestRunner } from '../stores/contract/contract.ts';
export type { Capability, Producing, StoreUnderTest } from '../stores/contract/under-test.ts';
export { EarpieceError } from '../core/errors.ts';
export type { Item, Settled, Touches } from '../core/items.ts';
export type {
  AgentOverview,
  Appended,
  Clock,
  Erased,
  ItemQuery,
  LogOverview,
  Presence,
  PresenceUpdate,
  Progress,
  ReadQuery,
  Store,
  Swap,
  Wait,
  Withheld,
} from '../core/ports.ts';
export type { Draft, Owner, Stored } from '../core/records.ts';
export type { ConversationId, LogKey } from '../core/address.ts';
export type { NotificationId } from '../core/notification.ts';
export type { Json } from '../core/json.ts';
