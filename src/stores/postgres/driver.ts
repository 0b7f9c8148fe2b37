/** Loads the driver, an optional peer dependency, at the first use of a PostgreSQL store. */
import type { EventEmitter } from 'node:events';
import type { Socket } from 'node:net';
import type pg from 'pg';
import { EarpieceError, isGone } from '../../core/errors.ts';
import { addPackages } from '../../input/add-package.ts';

export type Driver = typeof pg;

/** Loads the package pg. `load` is for tests. */
export async function loadDriver(load = () => import('pg')): Promise<Driver> {
  try {
    return (await load()).default;
  } catch (cause) {
    if (!isGone(cause)) throw cause;
    throw new EarpieceError(
      'bad_argument',
      `a PostgreSQL store needs the package pg, which is not installed: ${addPackages(['pg'])}`,
      { cause },
    );
  }
}

/** Makes the driver return 64-bit integers as numbers, because positions and times fit into a number. */
export const typesOf = (driver: Driver): pg.CustomTypesConfig => ({
  getTypeParser: ((oid: Parameters<Driver['types']['getTypeParser']>[0], format: 'text') =>
    oid === driver.types.builtins.INT8
      ? Number
      : driver.types.getTypeParser(oid, format)) as pg.CustomTypesConfig['getTypeParser'],
});

/**
 * Makes a class of connections that close their socket after an error. The driver would let the server close the socket. Each
 * connection also has an error listener from the start, because a server may end the connection before a caller listens for
 * errors. An error without a listener would end the process.
 */
export const closingClient = (driver: Driver): new () => pg.ClientBase =>
  class extends driver.Client {
    constructor(config?: pg.ClientConfig) {
      super(config);
      const { connection } = this as unknown as { readonly connection: EventEmitter & { readonly stream: Socket } };
      connection.on('error', () => connection.stream.destroy());
      this.on('error', () => {});
    }
  };
