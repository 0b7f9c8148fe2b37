/** `earpiece/postgres`. A PostgreSQL database keeps the logs of many machines. Needs the package pg. */
import '../node-version.ts';

import type { Store } from '../core/ports.ts';
import { check, type Table } from '../library/arguments.ts';
import { openPostgresStore as open, type PostgresOptions } from '../stores/postgres/store.ts';

const POSTGRES: Table<PostgresOptions> = {
  url: { needed: 'name' },
  schema: 'text',
  connections: 'amount',
  clock: { methods: ['now'], like: 'an object with now()' },
};

/**
 * Opens a PostgreSQL database, and makes or migrates its tables if needed. Rejects with `bad_argument`, `store_refused`,
 * `store_corrupt`, `store_full` or (if the server gives no answer) `store_unavailable`. No error message contains the password.
 */
export async function openPostgresStore(options: PostgresOptions): Promise<Store> {
  check('openPostgresStore', options, POSTGRES);
  return open(options);
}

export type { PostgresOptions };
export type { Clock, Store } from '../core/ports.ts';
