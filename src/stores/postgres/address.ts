/** Parses the address of a database: `postgres://user:password@host:5432/database?schema=name&sslmode=verify-full`. */
import { EarpieceError } from '../../core/errors.ts';

export type Address = {
  /** The URL for the driver, without Earpiece's own parameters. This URL holds the password, so it must never be shown. */
  readonly url: string;
  /** The address without the password, for command lines. */
  readonly shown: string;
  /** The name for people: `postgres host:5432/database`, with the schema if it is not the default. */
  readonly name: string;
  readonly schema: string;
  readonly user: string;
  readonly database: string;
};

export const DEFAULT_SCHEMA = 'earpiece';

/** Matches schema names. Schema names are in lower case, so that an administrator can write them without quotes. */
const SCHEMA = /^[a-z_][a-z0-9_]{0,47}$/u;

export function addressOf(given: string, wanted?: string): Address {
  const url = URL.canParse(given) ? new URL(given) : undefined;
  // The text may hold a password, so the message does not repeat it.
  if (url === undefined || !/^postgres(?:ql)?:$/u.test(url.protocol))
    throw new EarpieceError(
      'bad_argument',
      'the address of the PostgreSQL database cannot be read: write postgres://user:password@host:5432/database, with special characters of the password as %XX',
    );
  const schema = wanted ?? url.searchParams.get('schema') ?? DEFAULT_SCHEMA;
  if (!SCHEMA.test(schema))
    throw new EarpieceError(
      'bad_argument',
      `schema ${JSON.stringify(schema)}: must be a–z, 0–9 and _, at most 48 characters, such as ${DEFAULT_SCHEMA}`,
    );
  url.searchParams.delete('schema');
  const user = decodeURIComponent(url.username) || (url.searchParams.get('user') ?? process.env['PGUSER'] ?? 'the system user');
  const database = decodeURIComponent(url.pathname.slice(1)) || process.env['PGDATABASE'] || user;
  const host = decodeURIComponent(url.hostname) || (url.searchParams.get('host') ?? process.env['PGHOST'] ?? 'localhost');
  const port = url.port || (process.env['PGPORT'] ?? '5432');
  const where = `${host}:${port}/${database}`;
  return {
    url: url.href,
    shown: shownOf(url, schema),
    name: `postgres ${where}${schema === DEFAULT_SCHEMA ? '' : ` ${schema}`}`,
    schema,
    user,
    database,
  };
}

const SHOWN = new Set(['host', 'port', 'user', 'dbname', 'sslmode', 'sslrootcert']);

function shownOf(url: URL, schema: string): string {
  const shown = new URL(url);
  shown.password = '';
  for (const key of url.searchParams.keys()) if (!SHOWN.has(key)) shown.searchParams.delete(key);
  if (schema !== DEFAULT_SCHEMA) shown.searchParams.set('schema', schema);
  return shown.href;
}
