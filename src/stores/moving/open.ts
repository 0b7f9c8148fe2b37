/** Opens one end of a move. Only `begin` creates a store. */
import { EarpieceError } from '../../core/errors.ts';
import { partsOf, pathOf, refuseHiddenAddress } from '../open.ts';
import type { End } from './port.ts';

/** Opens the source or the target of a migration. `option`: the option that named the URL, for errors. */
export async function openEnd(url: string, option: string): Promise<End> {
  const { scheme, rest } = partsOf(url);
  const bad = (why: string): EarpieceError => new EarpieceError('bad_argument', `${option} ${why}`);
  if (url.trim() === '') throw bad('names no database: give a path, postgres://… or nats://…');
  switch (scheme) {
    case undefined:
    case 'sqlite':
    case 'file': {
      if (scheme === undefined) refuseHiddenAddress(url, `${option} `);
      const path = scheme === undefined ? url : pathOf(rest);
      if (path === '' || path.startsWith('//'))
        throw bad(`${JSON.stringify(url)} names no file: write sqlite:/path/to/earpiece.db`);
      const { openSqliteEnd } = await import('../sqlite/move.ts');
      return openSqliteEnd(path, option);
    }
    case 'postgres':
    case 'postgresql': {
      const { openPostgresEnd } = await import('../postgres/move.ts');
      return openPostgresEnd(url);
    }
    case 'nats':
    case 'tls': {
      const { openNatsEnd } = await import('../nats/move.ts');
      return openNatsEnd(url);
    }
    case 'memory':
      throw bad('names a database in memory, which ends with its process: give a path, postgres://… or nats://…');
    default:
      throw bad(`begins with ${JSON.stringify(`${scheme}:`)}, which names no store: give a path, postgres://… or nats://…`);
  }
}
