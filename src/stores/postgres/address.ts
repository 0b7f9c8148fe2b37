/**
 * Parses the URL of a database: `postgres://user:password@host:5432/database?schema=name&sslmode=verify-full`. The URL may name
 * several hosts: `host:5432,other:5432`.
 */
import { accessSync, constants } from 'node:fs';
import { didYouMean, EarpieceError } from '../../core/errors.ts';

export type Address = {
  /**
   * The URLs for the driver, one for each host, without Earpiece's own parameters. These URLs contain the password, so they must
   * never be shown.
   */
  readonly urls: readonly string[];
  /** The URL without the password, and only with the parameters in `SHOWN` and the schema, for command lines. */
  readonly shown: string;
  /** The name for people: `postgres host:5432/database`, with the schema if it is not the default. */
  readonly name: string;
  readonly schema: string;
  readonly user: string;
  readonly database: string;
};

export const DEFAULT_SCHEMA = 'earpiece';

/**
 * Matches schema names. Schema names are in lower case, so that an administrator can write them without quotes. PostgreSQL
 * reserves names that begin with `pg_`.
 */
const SCHEMA = /^(?!pg_)[a-z_][a-z0-9_]{0,47}$/u;

/** The parameters that name files of TLS. */
const FILES = ['sslrootcert', 'sslcert', 'sslkey'];
/** The known parameters. Neither Earpiece nor the driver uses `channel_binding`, but hosting services write it. */
const PARAMETERS = [
  'schema',
  'sslmode',
  ...FILES,
  'ssl',
  'sslnegotiation',
  'uselibpqcompat',
  'host',
  'port',
  'user',
  'password',
  'application_name',
  'client_encoding',
  'options',
  'statement_timeout',
  'lock_timeout',
  'query_timeout',
  'idle_in_transaction_session_timeout',
  'channel_binding',
];
const MODES = ['disable', 'prefer', 'require', 'verify-ca', 'verify-full', 'no-verify'];
/** The driver treats these modes as verify-full, and prints a warning. */
const VERIFYING = new Set(['prefer', 'require', 'verify-ca']);

export function addressOf(given: string, wanted?: string): Address {
  const [, before = '', hosts = '', after = ''] = HOSTS.exec(given) ?? [];
  const several = hosts.split(',').filter(Boolean);
  const texts = several.length > 1 ? several.map((host) => `${before}${host}${after}`) : [given];
  const parsed = texts.flatMap((text) => (URL.canParse(text) ? [new URL(text)] : []));
  const isShowable = before.includes('@') || !given.includes('@');
  const port = several.map((host) => /:(\d+)$/u.exec(host)?.[1]).find((digits) => digits !== undefined && !isPort(digits));
  if (port !== undefined && isShowable) throw bad(`port ${port} in the URL of the PostgreSQL database: must be 1–65535`);
  const [url] = parsed.length === texts.length ? parsed : [];
  // The URL may contain a password, so the error does not repeat the URL.
  if (url === undefined || !/^postgres(?:ql)?:\/\//u.test(given))
    throw bad(
      'the URL of the PostgreSQL database cannot be read: write postgres://user:password@host:5432/database, with special characters of the password as %XX',
    );
  const schema = wanted ?? url.searchParams.get('schema') ?? DEFAULT_SCHEMA;
  if (!SCHEMA.test(schema))
    throw bad(
      `schema ${JSON.stringify(schema)}: must have only a–z, 0–9 and _, at most 48 characters, and must not begin with pg_; write e.g. ${DEFAULT_SCHEMA}`,
    );
  checkParameters(url.searchParams);
  for (const one of parsed) {
    one.searchParams.delete('schema');
    if (VERIFYING.has(one.searchParams.get('sslmode') ?? '') && !one.searchParams.has('uselibpqcompat'))
      one.searchParams.set('sslmode', 'verify-full');
  }
  const user = decodeURIComponent(url.username) || (url.searchParams.get('user') ?? process.env['PGUSER'] ?? 'the system user');
  const database = decodeURIComponent(url.pathname.slice(1)) || process.env['PGDATABASE'] || user;
  const where = `${parsed.map(hostOf).join(',')}/${database}`;
  const shown = shownOf(new URL(texts[0] as string), schema);
  return {
    urls: parsed.map(({ href }) => href),
    shown: several.length > 1 ? shown.replace(`@${url.host}`, `@${several.join(',')}`) : shown,
    name: `postgres ${where}${schema === DEFAULT_SCHEMA ? '' : ` ${schema}`}`,
    schema,
    user,
    database,
  };
}

const bad = (message: string): EarpieceError => new EarpieceError('bad_argument', message);
const isPort = (digits: string): boolean => Number(digits) >= 1 && Number(digits) <= 65_535;

/**
 * Refuses unknown parameters, wrong values of `sslmode` and `port`, and unreadable files. A misspelled `sslmode` would give a
 * connection without encryption.
 */
function checkParameters(parameters: URLSearchParams): void {
  const unknown = [...parameters.keys()].find((key) => !PARAMETERS.includes(key));
  if (unknown !== undefined) {
    const near = didYouMean(unknown, PARAMETERS);
    throw bad(
      `the URL of the PostgreSQL database has the unknown parameter ${JSON.stringify(unknown)}${near === undefined ? '' : `, did you mean ${near}`}; the known parameters are ${PARAMETERS.join(', ')}`,
    );
  }
  const mode = parameters.get('sslmode');
  if (mode !== null && !MODES.includes(mode)) throw bad(`sslmode ${JSON.stringify(mode)}: must be one of ${MODES.join(', ')}`);
  const port = parameters.get('port');
  if (port !== null && !(/^\d+$/u.test(port) && isPort(port))) throw bad(`port ${JSON.stringify(port)}: must be 1–65535`);
  for (const key of FILES) {
    const file = parameters.get(key);
    if (file === null) continue;
    try {
      accessSync(file, constants.R_OK);
    } catch (error) {
      throw bad(
        `${key} ${JSON.stringify(file)} cannot be read (${String((error as NodeJS.ErrnoException).code)}): name a readable file`,
      );
    }
  }
}

/** Matches a URL in three parts: the scheme with the user, the hosts, and the rest. */
const HOSTS = /^([a-z]+:\/\/(?:[^@/?]*@)?)([^@/?]*)(.*)$/su;

function hostOf(url: URL): string {
  const host = decodeURIComponent(url.hostname) || (url.searchParams.get('host') ?? process.env['PGHOST'] ?? 'localhost');
  return `${host}:${url.port || (process.env['PGPORT'] ?? '5432')}`;
}

const SHOWN = new Set(['host', 'port', 'user', 'sslmode', 'sslrootcert']);

function shownOf(url: URL, schema: string): string {
  const shown = new URL(url);
  shown.password = '';
  for (const key of url.searchParams.keys()) if (!SHOWN.has(key)) shown.searchParams.delete(key);
  if (schema !== DEFAULT_SCHEMA) shown.searchParams.set('schema', schema);
  return shown.href;
}
