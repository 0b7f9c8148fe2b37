/**
 * Runs statements and transactions on connections to one database. A transaction pooler may be in between, because no connection
 * keeps state between transactions, and a pooled connection uses no named statements (`statements.ts`).
 */
import { hash } from 'node:crypto';
import type pg from 'pg';
import { EarpieceError } from '../../core/errors.ts';
import type { Wait } from '../../core/ports.ts';
import { before, insist, Late } from '../insist.ts';
import type { Address } from './address.ts';
import { closingClient, type Driver, typesOf } from './driver.ts';
import { Statements } from './statements.ts';
import { explain, incomplete, isIncomplete, isLoss, isLost, isPassing, Unsure } from './trouble.ts';

/** Runs one statement. In its text, `@name` is replaced by the object of that name in the schema, such as a table. */
export type Query = <R = Record<string, unknown>>(text: string, ...values: readonly unknown[]) => Promise<R[]>;

/** The names of locks. While a transaction holds a lock, no other transaction of any process can take this lock. */
type Locks = readonly string[];

/** How long a transaction in which no statement runs keeps its locks, for example because its process is suspended. */
const IDLE_MS = 10_000;

export class Database {
  readonly address: Address;
  /** A pool for each host of the URL. */
  readonly #pools: readonly pg.Pool[];
  /** The index of the host for the next call. After an error that another host may not have, the index moves to the next host. */
  #at = 0;
  /** Connections to a primary. */
  readonly #primary = new WeakSet<pg.PoolClient>();
  readonly #statements: Statements;
  readonly #lockNumbers = new Map<string, bigint>();

  constructor(driver: Driver, address: Address, connections: number) {
    this.address = address;
    this.#statements = new Statements(address.schema);
    const Client = closingClient(driver);
    this.#pools = address.urls.map((connectionString) => {
      const pool = new driver.Pool({
        connectionString,
        Client,
        types: typesOf(driver),
        max: connections,
        application_name: 'earpiece',
        keepAlive: true,
        allowExitOnIdle: true,
      });
      // This error means that the server has closed an idle connection. The next call opens another connection.
      pool.on('error', () => {});
      return pool;
    });
  }

  /** The URL of the host for the next call. */
  get url(): string {
    return this.address.urls[this.#at] as string;
  }

  /** Runs a single statement that reads. */
  read<R = Record<string, unknown>>(options: Wait | undefined, text: string, ...values: readonly unknown[]): Promise<R[]> {
    return this.#insist(options, (client) => this.#queries(client)<R>(text, ...values));
  }

  /**
   * Runs a single statement that writes. After a lost answer, the statement is repeated, and `again` says how often. The
   * statement itself must find out whether an earlier attempt took effect.
   */
  repeated<T>(options: Wait | undefined, work: (query: Query, again: number, leftMs: number) => Promise<T>): Promise<T> {
    let again = 0;
    return this.#insist(options, (client, leftMs) => work(this.#queries(client), again++, leftMs));
  }

  /** Runs several reads on one snapshot. */
  snapshot<T>(options: Wait | undefined, work: (query: Query) => Promise<T>): Promise<T> {
    return this.#insist(options, async (client) => {
      await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY');
      const result = await work(this.#queries(client));
      await client.query('COMMIT');
      return result;
    });
  }

  /**
   * Runs one transaction under these locks. If `keep` rejects the result, the transaction is rolled back, and the result is
   * still returned. After a commit without an answer, `isStored` checks whether the result is stored. The number of the
   * transaction alone does not prove the commit. A server that crashed, or a standby that took over, may have given the number
   * to another transaction.
   */
  write<T>(
    options: Wait | undefined,
    locks: Locks,
    work: (query: Query) => Promise<T>,
    {
      keep = () => true,
      isStored,
    }: {
      readonly keep?: (result: T) => boolean;
      readonly isStored?: (query: Query, result: T) => Promise<boolean>;
    } = {},
  ): Promise<T> {
    return this.#insist(options, async (client, leftMs) => {
      const ms = Math.ceil(leftMs);
      const locking = locks.map((lock) => `SELECT pg_advisory_xact_lock(${this.lockNumber(lock)})`);
      const begun = (await client.query(
        [
          'BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE',
          `SET LOCAL lock_timeout = ${ms}`,
          `SET LOCAL statement_timeout = ${ms}`,
          `SET LOCAL idle_in_transaction_session_timeout = ${IDLE_MS}`,
          'SELECT pg_current_xact_id()::text AS xid',
          ...locking,
        ].join('; '),
      )) as unknown as readonly pg.QueryResult<{ readonly xid: string }>[];
      const result = await work(this.#queries(client));
      if (!keep(result)) {
        await client.query('ROLLBACK');
        return result;
      }
      try {
        await client.query('COMMIT');
      } catch (error) {
        const stored = isStored && ((later: pg.ClientBase) => isStored(this.#queries(later), result));
        throw isLoss(error) ? new Unsure(begun[4]?.rows[0]?.xid ?? '0', result, error, stored) : error;
      }
      return result;
    });
  }

  get channel(): string {
    return `earpiece_${this.address.schema}`;
  }

  async end(): Promise<void> {
    await Promise.all(this.#pools.map((pool) => pool.end()));
  }

  /** Retries until the call's time has passed, because a server may be restarting or failing over to its standby. */
  async #insist<T>(options: Wait | undefined, work: (client: pg.PoolClient, leftMs: number) => Promise<T>): Promise<T> {
    try {
      return await this.#insistent(options, work);
    } catch (error) {
      if (error instanceof EarpieceError && isIncomplete(error.cause)) throw await this.#damaged(error);
      throw error;
    }
  }

  /** Adds all missing objects to an error that names the first missing object. */
  async #damaged(error: EarpieceError): Promise<EarpieceError> {
    try {
      const { missingObjects, listOf } = await import('./objects.ts');
      const gone = await this.#insistent(undefined, (client) => missingObjects(this.#queries(client), this.address.schema));
      return gone.length === 0 ? error : incomplete(this.address, `missing: ${listOf(gone)}`, error.cause);
    } catch {
      return error;
    }
  }

  #insistent<T>(options: Wait | undefined, work: (client: pg.PoolClient, leftMs: number) => Promise<T>): Promise<T> {
    let unsure: Unsure | undefined;
    return insist(
      options,
      (deadline) =>
        this.#once(deadline, async (client, leftMs) => {
          if (unsure !== undefined && (await this.#isCommitted(client, unsure))) return unsure.result as T;
          unsure = undefined;
          return work(client, leftMs);
        }),
      {
        isPassing: (error) => {
          if (error instanceof Unsure) unsure = error;
          return isPassing(error) || this.#statements.areWrong(error);
        },
        explain: (error, waitedMs) => explain(error, this.address, waitedMs),
      },
    );
  }

  async #once<T>(deadline: number, work: (client: pg.PoolClient, leftMs: number) => Promise<T>): Promise<T> {
    const at = this.#at;
    try {
      return await this.#with(this.#pools[at] as pg.Pool, deadline, work);
    } catch (error) {
      // Another host may be the primary now. Calls that fail together change the host once.
      if (this.#at === at && (isLost(error) || error instanceof Late)) this.#at = (at + 1) % this.#pools.length;
      throw error;
    }
  }

  async #with<T>(pool: pg.Pool, deadline: number, work: (client: pg.PoolClient, leftMs: number) => Promise<T>): Promise<T> {
    const connecting = pool.connect();
    const client = await before(deadline, connecting, () =>
      connecting.then(
        (late) => late.release(),
        () => {},
      ),
    );
    // Without this listener, a connection that breaks between two statements would end the process.
    const broke = (): void => {};
    client.on('error', broke);
    let failed: unknown;
    const run = async (): Promise<T> => {
      await this.#isPrimary(client);
      await this.#statements.use(client);
      return work(client, Math.max(1, deadline - performance.now()));
    };
    try {
      return await before(deadline, run(), () => {});
    } catch (error) {
      failed = error;
      throw error;
    } finally {
      // A connection whose transaction failed is closed, so that the server rolls the transaction back. The pool no longer
      // listens to such a connection, and the server may still end the connection with an error.
      if (failed === undefined) client.off('error', broke);
      client.release(failed !== undefined);
    }
  }

  /**
   * Rejects with the code of a read-only server if the connection leads to a standby, which may be behind. Checks nothing if the
   * URL names only one host.
   */
  async #isPrimary(client: pg.PoolClient): Promise<void> {
    if (this.#pools.length === 1 || this.#primary.has(client)) return;
    const { rows } = await client.query<{ standby: boolean }>('SELECT pg_is_in_recovery() AS standby');
    if (rows[0]?.standby !== false) throw Object.assign(new Error('the server is a standby'), { code: '25006' });
    this.#primary.add(client);
  }

  async #isCommitted(client: pg.PoolClient, unsure: Unsure): Promise<boolean> {
    const committed = await isCommitted(client, unsure);
    return committed && (unsure.isStored === undefined || unsure.isStored(client));
  }

  #queries(client: pg.ClientBase): Query {
    return async <R>(text: string, ...values: readonly unknown[]) => {
      const { rows } = await client.query(this.#statements.query(client, text, values));
      return rows as R[];
    };
  }

  /**
   * Returns the number of a lock. All schemas of a database share these numbers. Locks with the same number are safe, but
   * their holders wait for each other.
   */
  lockNumber(name: string): bigint {
    let number = this.#lockNumbers.get(name);
    if (number === undefined) {
      number = hash('sha256', `${this.address.schema}\n${name}`, 'buffer').readBigInt64BE();
      if (this.#lockNumbers.size >= MOST_NUMBERS) this.#lockNumbers.clear();
      this.#lockNumbers.set(name, number);
    }
    return number;
  }
}

/** The maximum number of lock numbers in memory. */
const MOST_NUMBERS = 1_000;

/**
 * Whether the transaction with this number was committed. A server that does not know the number did not commit the transaction.
 * Throws if the transaction is still in progress.
 */
async function isCommitted(client: pg.PoolClient, { xid }: Unsure): Promise<boolean> {
  const { rows } = await client
    .query<{ status: string | null }>('SELECT pg_xact_status($1::xid8) AS status', [xid])
    .catch((error: unknown) => {
      if (isLoss(error)) throw error;
      return { rows: [] };
    });
  if (rows[0]?.status === 'in progress') throw Object.assign(new Error('its transaction has not ended'), { code: '57P03' });
  return rows[0]?.status === 'committed';
}
