/**
 * Connections to one database. Works behind a transaction pooler: a connection keeps no state between transactions, and no statement
 * has a name.
 */
import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import type { Wait } from '../../core/ports.ts';
import type { Address } from './address.ts';
import { type Driver, typesOf } from './driver.ts';
import { explain, isLoss, isPassing, Late, Unsure } from './trouble.ts';

/** Runs one statement. `@name` in it is a table of the schema. */
export type Query = <R = Record<string, unknown>>(text: string, ...values: readonly unknown[]) => Promise<R[]>;

/** Another transaction of this process or another one holds none of these locks meanwhile. */
type Locks = readonly string[];

export const DEFAULT_MS = 5_000;
/** A call with less time than that could not even reach the server. */
const LEAST_MS = 50;
const PAUSE_MS = { min: 20, max: 250 };
/** A process that stops in the middle of a transaction holds locks no longer than that. */
const IDLE_MS = 10_000;

export class Database {
  readonly address: Address;
  readonly #pool: pg.Pool;
  readonly #texts = new Map<string, string>();

  constructor(driver: Driver, address: Address, connections: number) {
    this.address = address;
    this.#pool = new driver.Pool({
      connectionString: address.url,
      types: typesOf(driver),
      max: connections,
      application_name: 'earpiece',
      keepAlive: true,
      allowExitOnIdle: true,
    });
    // An idle connection that the server closed. The next call makes another one.
    this.#pool.on('error', () => {});
  }

  /** The name of a table with its schema, quoted. */
  named(text: string): string {
    let named = this.#texts.get(text);
    if (named === undefined) {
      named = text.replaceAll(/@([a-z]+)/gu, `"${this.address.schema}".$1`);
      this.#texts.set(text, named);
    }
    return named;
  }

  /** One statement on its own. */
  read<R = Record<string, unknown>>(options: Wait | undefined, text: string, ...values: readonly unknown[]): Promise<R[]> {
    return this.#insist(options, (client) => this.#queries(client)<R>(text, ...values));
  }

  /** Several reads on one snapshot. */
  snapshot<T>(options: Wait | undefined, work: (query: Query) => Promise<T>): Promise<T> {
    return this.#insist(options, async (client) => {
      await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY');
      const result = await work(this.#queries(client));
      await client.query('COMMIT');
      return result;
    });
  }

  /**
   * One transaction under these locks. A result that `keep` rejects is rolled back and still returned. `notify`: the text that
   * listeners get with the commit.
   */
  write<T>(
    options: Wait | undefined,
    locks: Locks,
    work: (query: Query) => Promise<T>,
    {
      keep = () => true,
      notify,
    }: { readonly keep?: (result: T) => boolean; readonly notify?: (result: T) => number | undefined } = {},
  ): Promise<T> {
    return this.#insist(options, async (client, leftMs) => {
      const ms = Math.ceil(leftMs);
      const locking = locks.map((lock) => `SELECT pg_advisory_xact_lock(${this.#lockNumber(lock)})`);
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
      const seq = notify?.(result);
      try {
        await client.query(seq === undefined ? 'COMMIT' : `NOTIFY "${this.channel}", '${seq}'; COMMIT`);
      } catch (error) {
        throw isLoss(error) ? new Unsure(begun[4]?.rows[0]?.xid ?? '0', result, error) : error;
      }
      return result;
    });
  }

  get channel(): string {
    return `earpiece_${this.address.schema}`;
  }

  async end(): Promise<void> {
    await this.#pool.end();
  }

  /** Tries until the time of the call is over: a server that restarts or hands over to its standby is back within that. */
  async #insist<T>(options: Wait | undefined, work: (client: pg.PoolClient, leftMs: number) => Promise<T>): Promise<T> {
    const started = performance.now();
    const deadline = started + Math.max(options?.withinMs ?? DEFAULT_MS, LEAST_MS);
    let unsure: Unsure | undefined;
    for (let pause = PAUSE_MS.min; ; pause = Math.min(2 * pause, PAUSE_MS.max)) {
      options?.signal?.throwIfAborted();
      try {
        return await this.#once(deadline, async (client, leftMs) => {
          if (unsure !== undefined && (await isCommitted(client, unsure))) return unsure.result as T;
          unsure = undefined;
          return work(client, leftMs);
        });
      } catch (error) {
        if (error instanceof Unsure) unsure = error;
        if (!isPassing(error) || performance.now() + pause >= deadline)
          throw explain(error, this.address, performance.now() - started);
        await sleep(pause);
      }
    }
  }

  async #once<T>(deadline: number, work: (client: pg.PoolClient, leftMs: number) => Promise<T>): Promise<T> {
    const connecting = this.#pool.connect();
    const client = await before(deadline, connecting, () =>
      connecting.then(
        (late) => late.release(),
        () => {},
      ),
    );
    // Without a listener, a connection that breaks between two statements would end the process.
    const broke = (): void => {};
    client.on('error', broke);
    let failed: unknown;
    try {
      return await before(deadline, work(client, Math.max(1, deadline - performance.now())), () => {});
    } catch (error) {
      failed = error;
      throw error;
    } finally {
      client.off('error', broke);
      // A connection whose transaction failed is closed: the server then rolls back.
      client.release(failed !== undefined);
    }
  }

  #queries(client: pg.PoolClient): Query {
    return async <R>(text: string, ...values: readonly unknown[]) => {
      const { rows } = await client.query({ text: this.named(text), values: [...values] });
      return rows as R[];
    };
  }

  /** Locks of all schemas of a database share one space of numbers. Two names of one number only wait for each other. */
  #lockNumber(name: string): bigint {
    return createHash('sha256').update(`${this.address.schema}\n${name}`).digest().readBigInt64BE();
  }
}

/** Whether the transaction is in the database. A server that does not know its number never saw its end. */
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

/** The promise's value, or `Late` when the time is over. */
async function before<T>(deadline: number, promise: Promise<T>, onLate: () => unknown): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(
      () => {
        onLate();
        reject(new Late('no answer'));
      },
      Math.max(1, deadline - performance.now()),
    );
  });
  promise.catch(() => {});
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}
