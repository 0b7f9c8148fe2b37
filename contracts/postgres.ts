/** Runs the contract of the PostgreSQL store on one server for all cases. Each store has a separate schema. */
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { LogKey } from '../src/core/address.ts';
import type { Store } from '../src/core/ports.ts';
import { runStoreContract } from '../src/stores/contract/contract.ts';
import { openPostgresStore } from '../src/stores/postgres/store.ts';
import { proves } from '../e2e/verifies.ts';
import { type PostgresServer, startPostgres } from '../e2e/stores/postgres-server.ts';
import type { Version } from '../scripts/postgres.ts';
import { startProducer } from './producers.ts';

/** The number of closed stores whose schemas are not reused yet, because a case may open its closed store again. */
const KEPT = 3;
const TABLES = ['settings', 'logs', 'records', 'items', 'conversations', 'bindings', 'withheld'];

export function postgresContract(version: Version): void {
  let server: PostgresServer;
  let admin: pg.Client;
  beforeAll(async () => {
    server = await startPostgres({ version });
    admin = new pg.Client(server.url);
    await admin.connect();
  });
  afterAll(async () => {
    await admin.end();
    await server.remove();
  });

  /**
   * Schemas of closed stores, the oldest first. The oldest schema is emptied and reused, because making a schema takes longer
   * than most cases.
   */
  const free: string[] = [];
  let schemas = 0;
  const urls = new WeakMap<Store, string>();
  const open = async (url: string, clock: { now: () => number }): Promise<Store> => {
    const store = await openPostgresStore({ url, clock });
    urls.set(store, url);
    return store;
  };
  const urlOf = (store: Store): string => urls.get(store) ?? '';

  async function empty(schema: string): Promise<void> {
    const { rows } = await admin.query<{ made: boolean }>('SELECT to_regclass($1) IS NOT NULL AS made', [`${schema}.meta`]);
    if (rows[0]?.made !== true) return;
    await admin.query(
      [
        ...TABLES.map((table) => `DELETE FROM ${schema}.${table}`),
        `DELETE FROM ${schema}.meta WHERE key = 'secret'`,
        `SELECT setval('${schema}.positions', 1, false)`,
      ].join('; '),
    );
  }

  test(`the store of PostgreSQL ${version} passes the contract`, async () => {
    proves('store:contract', 'store:postgres');
    const { rows } = await admin.query<{ server_version: string }>('SHOW server_version');
    expect(Number.parseInt(rows[0]?.server_version ?? '', 10)).toBe(version);
  });

  runStoreContract(
    `postgres ${version}`,
    {
      make: async ({ clock }) => {
        const schema = (free.length > KEPT ? free.shift() : undefined) ?? `s${schemas++}`;
        await empty(schema);
        const store = await open(`${server.url}?schema=${schema}`, clock);
        const close = store.close.bind(store);
        let closing: Promise<void> | undefined;
        store.close = () => {
          if (closing === undefined) free.push(schema);
          return (closing ??= close());
        };
        return store;
      },
      again: (store, { clock }) => open(urlOf(store), clock),
      producers: async (store, log: LogKey, count) => {
        const running = Array.from({ length: count }, (_, i) => startProducer(urlOf(store), log, `p${i}`));
        return { stop: async () => (await Promise.all(running.map((one) => one.stop()))).flat() };
      },
      lacks: { 'overwrites-erased': 'the server keeps old rows until VACUUM, and in its log and its backups' },
    },
    { describe, test },
  );
}
