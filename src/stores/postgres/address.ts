/**
 * Parses the address of a database: `postgres://user:password@host:5432/database?schema=name&sslmode=verify-full`. The address may
 * name several hosts: `host:5432,other:5432`.
 */
import { EarpieceError } from '../../core/errors.ts';

export type Address = {
  /**
   * The URLs for the driver, one for each host, without Earpiece's own parameters. These URLs hold the password, so they must never
   * be shown.
   */
  readonly urls: readonly string[];
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
  const [, before = '', hosts = '', after = ''] = HOSTS.exec(given) ?? [];
  const several = hosts.split(',').filter(Boolean);
  const texts = several.length > 1 ? several.map((host) => `${before}${host}${after}`) : [given];
  const parsed = texts.flatMap((text) => (URL.canParse(text) ? [new URL(text)] : []));
  const [url] = parsed.length === texts.length ? parsed : [];
  // The text may hold a password, so the message does not repeat it.
  if (url === undefined || !/^postgres(?:ql)?:\/\//u.test(given))
    throw new EarpieceError(
      'bad_argument',
      'the address of the PostgreSQL database cannot be read: write postgres://user:password@host:5432/database, with special characters of the password as %XX',
    );
  const schema = wanted ?? url.searchParams.get('schema') ?? DEFAULT_SCHEMA;
  if (!SCHEMA.test(schema))
    throw new EarpieceError(
      'bad_argument',
      `schema ${JSON.stringify(schema)}: must have only a–z, 0–9 and _, at most 48 characters, such as ${DEFAULT_SCHEMA}`,
    );
  for (const one of parsed) one.searchParams.delete('schema');
  const user = decodeURIComponent(url.username) || (url.searchParams.get('user') ?? process.env['PGUSER'] ?? 'the system user');
  const database = decodeURIComponent(url.pathname.slice(1)) || process.env['PGDATABASE'] || user;
  const where = `${parsed.map(hostOf).join(',')}/${database}`;
  const shown = shownOf(url, schema);
  return {
    urls: parsed.map(({ href }) => href),
    shown: several.length > 1 ? shown.replace(`@${url.host}`, `@${several.join(',')}`) : shown,
    name: `postgres ${where}${schema === DEFAULT_SCHEMA ? '' : ` ${schema}`}`,
    schema,
    user,
    database,
  };
}

/** The scheme and the user, the hosts, and the rest. */
const HOSTS = /^([a-z]+:\/\/(?:[^@/?]*@)?)([^@/?]*)(.*)$/su;

function hostOf(url: URL): string {
  const host = decodeURIComponent(url.hostname) || (url.searchParams.get('host') ?? process.env['PGHOST'] ?? 'localhost');
  return `${host}:${url.port || (process.env['PGPORT'] ?? '5432')}`;
}

const SHOWN = new Set(['host', 'port', 'user', 'dbname', 'sslmode', 'sslrootcert']);

function shownOf(url: URL, schema: string): string {
  const shown = new URL(url);
  shown.password = '';
  for (const key of url.searchParams.keys()) if (!SHOWN.has(key)) shown.searchParams.delete(key);
  if (schema !== DEFAULT_SCHEMA) shown.searchParams.set('schema', schema);
  return shown.href;
}
