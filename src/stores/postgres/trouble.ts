import type pg from 'pg';
import { EarpieceError } from '../../core/errors.ts';
import { Late } from '../insist.ts';
import { frozenError } from '../moving/marks.ts';
import type { Address } from './address.ts';

/** The code with which the triggers of a store with the mark of a move refuse writers. */
export const FROZEN_CODE = 'EAR01';

const codeOf = (error: unknown): string => {
  const code = (error as { readonly code?: unknown } | undefined)?.code;
  return typeof code === 'string' ? code : '';
};

/** The error of a connection that broke during COMMIT. A later query with `xid` shows whether the transaction was committed. */
export class Unsure extends Error {
  readonly xid: string;
  readonly result: unknown;
  /** Looks for the result in the tables. */
  readonly isStored: ((client: pg.ClientBase) => Promise<boolean>) | undefined;

  constructor(xid: string, result: unknown, cause: unknown, isStored?: (client: pg.ClientBase) => Promise<boolean>) {
    super('the connection broke during COMMIT', { cause });
    this.xid = xid;
    this.result = result;
    this.isStored = isStored;
  }
}

const CONNECTION: ReadonlySet<string> = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'EAI_AGAIN',
  'ENOTFOUND',
]);
/**
 * Error codes of a server that starts, stops or fails over, is a read-only standby, has no free connection, or has ended an idle
 * transaction.
 */
const PASSING: ReadonlySet<string> = new Set(['57P01', '57P02', '57P03', '25006', '53300', '25P03']);
/** Error codes of a conflict with another transaction. */
const CLASH: ReadonlySet<string> = new Set(['40001', '40P01']);

/** Codes for a missing table, function, column, schema or unique key, and for a table that exists although `meta` is missing. */
const INCOMPLETE: ReadonlySet<string> = new Set(['42P01', '42883', '42703', '3F000', '42P10', '42P07']);

/** Whether an object of the schema is missing. */
export const isIncomplete = (error: unknown): boolean => INCOMPLETE.has(codeOf(error));

export const incomplete = ({ name, schema }: Address, what: string, cause: unknown): EarpieceError =>
  new EarpieceError(
    'store_corrupt',
    `${name} is damaged (${what} in the schema ${schema}): restore a backup with the tools of PostgreSQL, or name another schema with ?schema=name`,
    { cause, data: { store: name } },
  );

export const isLoss = (error: unknown): boolean =>
  CONNECTION.has(codeOf(error)) ||
  codeOf(error).startsWith('08') ||
  (error instanceof Error && codeOf(error) === '' && /connection (?:terminated|ended|error)|not queryable/iu.test(error.message));

/** Whether another host may be the primary now. */
export const isLost = (error: unknown): boolean => isLoss(error) || error instanceof Unsure || PASSING.has(codeOf(error));

/** Whether a retry on another connection may succeed. */
export const isPassing = (error: unknown): boolean =>
  isLoss(error) || PASSING.has(codeOf(error)) || CLASH.has(codeOf(error)) || error instanceof Unsure;

/** Whether the error shows a full disk: the server cannot write the caches that a connection needs. */
const isUnwritable = (error: unknown): boolean =>
  codeOf(error) === 'XX000' && error instanceof Error && error.message.startsWith('could not write');

/** Whether the call waited for locks or answers until its time had passed. */
const isLate = (error: unknown): boolean => error instanceof Late || codeOf(error) === '55P03' || codeOf(error) === '57014';

/**
 * Turns an error of the driver or the server into an `EarpieceError`. Returns other errors unchanged. No message contains the
 * password.
 */
export function explain(error: unknown, address: Address, waitedMs: number): unknown {
  if (error instanceof EarpieceError) return error;
  const { name, user, database, schema } = address;
  const code = codeOf(error);
  const said = error instanceof Error ? `${error.message.split('\n', 1)[0]}${code === '' ? '' : `, ${code}`}` : String(error);
  const options = { cause: error, data: { store: name } };
  const unavailable = (why: string): EarpieceError =>
    new EarpieceError('store_unavailable', `${name} ${why}`, { ...options, retryable: true });
  const refused = (why: string): EarpieceError => new EarpieceError('store_refused', `${name} ${why}`, options);
  if (code === FROZEN_CODE) return frozenError(name, error);
  if (isLate(error))
    return unavailable(
      `gave no answer for ${Math.round(waitedMs)} ms (${said}): try again, find in pg_stat_activity the process that holds a lock, or raise the statement_timeout of the user`,
    );
  if (code === '53300')
    return unavailable(`has no connection left (${said}): raise max_connections, or put a pooler in front of the server`);
  if (code === '25006')
    return unavailable(`is a read-only standby (${said}): name the primary server, or wait until this standby is promoted`);
  if (isPassing(error))
    return unavailable(
      `did not complete the call within ${Math.round(waitedMs)} ms (${said}): start the server, correct the URL, or try again`,
    );
  if (code.startsWith('28')) return refused(`refuses the user ${user} (${said}): correct the user and the password in the URL`);
  if (/client password must be a (?:non-empty )?string/u.test(said))
    return refused(
      `needs a password of the user ${user}, but none was given: give the password in PGPASSWORD, in ~/.pgpass or in the URL`,
    );
  if (code === '3D000')
    return refused(`does not exist (${said}): create the database with createdb ${database}, or name another database`);
  if (code === '42501')
    return refused(
      /for database/u.test(said)
        ? `does not let ${user} write (${said}): let the owner of the database run CREATE SCHEMA ${schema} AUTHORIZATION ${user}`
        : `does not let ${user} use the schema ${schema} (${said}): let its owner grant its rights to ${user}, or name another schema with ?schema=name`,
    );
  if (code === '53100' || code === '53200' || isUnwritable(error))
    return new EarpieceError(
      'store_full',
      `${name} cannot be written (${said}): free some space; no acknowledged record is lost`,
      {
        ...options,
        retryable: true,
      },
    );
  if (isIncomplete(error)) return incomplete(address, said, error);
  if (code.startsWith('XX') || code === '58030')
    return new EarpieceError(
      'store_corrupt',
      `${name} is damaged (${said}): restore a backup with the tools of PostgreSQL`,
      options,
    );
  if (/self[- ]signed|certificate|SSL|TLS/u.test(said))
    return refused(
      `has no connection that sslmode allows (${said}): add sslrootcert=<file> with the certificate of the server's authority, or correct sslmode`,
    );
  return error;
}
