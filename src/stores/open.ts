import { existsSync } from 'node:fs';
import { basename, isAbsolute } from 'node:path';
import { didYouMean, EarpieceError } from '../core/errors.ts';
import type { Clock, Store } from '../core/ports.ts';

const SCHEMES = ['memory', 'sqlite', 'postgres', 'nats'] as const;
const ENGINES: ReadonlySet<string> = new Set([...SCHEMES, 'file', 'postgresql', 'tls']);

type StoreOptions = {
  clock?: Clock;
  busyMs?: number;
  /** Called with a message for people, for example if the file was deleted. Default: a process warning. */
  report?: (line: string) => void;
  /**
   * Opens a file in a separate thread, for long-lived processes: a hanging disk or a held lock delays only callers that wait for
   * the store. Simultaneous writes are committed together. The thread costs some milliseconds and megabytes.
   */
  thread?: boolean;
};

/**
 * Opens the store that a URL or a path names: `memory:`, a path, `sqlite:<path>`, `postgres://…` (needs the package `pg`) or
 * `nats://…` (needs `@nats-io/transport-node` and `@nats-io/jetstream`). Rejects with `bad_argument`, or with the store's own
 * error.
 */
export async function openStore(url: string, options: StoreOptions = {}): Promise<Store> {
  const { scheme, rest } = partsOf(url);
  switch (scheme) {
    case undefined:
      if (url.trim() === '')
        throw new EarpieceError(
          'bad_argument',
          'the database has no name: give a path, sqlite:<path>, memory:, postgres://… or nats://…',
        );
      refuseHiddenAddress(url);
      if (basename(url) === 'memory' && !existsSync(url))
        throw new EarpieceError(
          'bad_argument',
          `${JSON.stringify(url)} would be a new file with this name; for a store in memory write memory:, for the file write ${JSON.stringify(`sqlite:${url}`)}`,
        );
      return openSqlite(url, options);
    case 'memory':
      return openMemory(options);
    case 'sqlite':
    case 'file': {
      const path = pathOf(rest);
      if (path === '' || path.startsWith('//'))
        throw new EarpieceError('bad_argument', `${JSON.stringify(url)} names no file: write sqlite:/path/to/earpiece.db`);
      return openSqlite(path, options);
    }
    case 'postgres':
    case 'postgresql':
      return openPostgres(url, options);
    case 'nats':
    case 'tls':
      return openNats(url, options);
    default: {
      const near = didYouMean(scheme, SCHEMES);
      throw new EarpieceError(
        'bad_argument',
        `${JSON.stringify(redacted(url))} must name a store: ${near === undefined ? `${JSON.stringify(`${scheme}:`)} is unknown` : `did you mean ${near}:`}; give a path, sqlite:<path>, memory:, postgres://… or nats://…`,
      );
    }
  }
}

/** Returns the path of the file that `openStore` opens or creates. Undefined for a store without a file. */
export function fileOf(url: string): string | undefined {
  const { scheme, rest } = partsOf(url);
  if (scheme === undefined) {
    refuseHiddenAddress(url);
    return url;
  }
  return scheme === 'sqlite' || scheme === 'file' ? pathOf(rest) : undefined;
}

export function partsOf(url: string): { readonly scheme: string | undefined; readonly rest: string } {
  const [, scheme, rest = ''] = /^([a-z][a-z0-9+.-]+):(.*)$/su.exec(url) ?? [];
  return { scheme, rest };
}

/**
 * Matches a name with a colon and a slash, at the beginning of a path or after a slash: `POSTGRES:/`, ` nats:/`. The name has at
 * least two characters, because a single letter is a drive of Windows.
 */
const HIDDEN = /(?:^|\/)(\s*([a-z][a-z0-9+.-]+)):\/+(.*)$/isu;

/**
 * Refuses a path that contains a URL, for example the URL of a server with capital letters or a leading space. The configuration
 * has already made such a URL a path inside of a folder. A file at this path would contain the data, and its name would show the
 * password. An absolute path passes if its name with the colon is an existing folder and names no engine.
 */
export function refuseHiddenAddress(path: string, named = ''): void {
  const [, shown = '', name = '', rest = ''] = HIDDEN.exec(path) ?? [];
  if (name === '') return;
  const scheme = name.toLowerCase();
  const isEngine = ENGINES.has(scheme);
  if (!isEngine && isAbsolute(path) && existsSync(path.slice(0, -rest.length))) return;
  throw new EarpieceError(
    'bad_argument',
    `${named}${JSON.stringify(redacted(`${shown}://${rest}`))} must name a store: ${isEngine ? `write ${scheme}:// in small letters, without spaces` : `${JSON.stringify(`${name}:`)} is unknown`}; give a path, sqlite:<path>, memory:, postgres://… or nats://…`,
  );
}

export const pathOf = (rest: string): string => (rest.startsWith('///') ? rest.slice(2) : rest);

/** Loads the memory store at its first use, because loading a store takes some milliseconds. */
async function openMemory(options: StoreOptions): Promise<Store> {
  const { memoryStore } = await import('./memory.ts');
  return memoryStore(options);
}

async function openSqlite(path: string, { thread, ...options }: StoreOptions): Promise<Store> {
  if (basename(path) === ':memory:')
    throw new EarpieceError('bad_argument', '":memory:" would be a file of that name; for a store in memory write memory:');
  if (thread) {
    const { openThreadStore } = await import('./thread/store.ts');
    return openThreadStore({ ...options, path });
  }
  const { openSqliteStore } = await import('./sqlite/store.ts');
  return openSqliteStore({ ...options, path });
}

async function openPostgres(url: string, { clock }: StoreOptions): Promise<Store> {
  const { openPostgresStore } = await import('./postgres/store.ts');
  return openPostgresStore({ url, ...(clock === undefined ? {} : { clock }) });
}

async function openNats(url: string, { clock }: StoreOptions): Promise<Store> {
  const { openNatsStore } = await import('./nats/store.ts');
  return openNatsStore({ url, ...(clock === undefined ? {} : { clock }) });
}

/** Hides the user, the password and the parameters in the URL. A password may contain a slash or an @. */
export const redacted = (url: string): string => url.replace(/\/\/.*@/su, '//…@').replace(/\?.*$/su, '?…');
