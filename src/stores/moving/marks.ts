/** Makes the errors for stores with the mark of a move. */
import { EarpieceError } from '../../core/errors.ts';
import type { Mark } from './port.ts';

/** Returns the error for a process that opens a marked store, or writes into it. */
export function markedError(name: string, mark: Mark): EarpieceError {
  const { role, to, from, doneAt, startedAt } = mark;
  const data = { store: name, move: { role, from, to, done: doneAt !== undefined } };
  const error = (text: string): EarpieceError => new EarpieceError('store_refused', text, { data });
  if (role === 'target') return error(`${name} holds an unfinished migration: continue the migration with ${commandOf(mark)}`);
  if (doneAt !== undefined)
    return error(
      `${name} was migrated to ${to} at ${new Date(doneAt).toISOString()}: use the new database (--db, EARPIECE_DB or db in earpiece.toml), and remove the old database later. To go back: ${wayBack(mark)}`,
    );
  return error(
    `${name} is being migrated to ${to} (begun at ${new Date(startedAt).toISOString()}): continue with ${commandOf(mark)}, or cancel with ${giveUp(mark)}`,
  );
}

/** Returns the error for a writer that opened the source before the source was marked. */
export const frozenError = (name: string, cause: unknown): EarpieceError =>
  new EarpieceError(
    'store_refused',
    `${name} refuses writes, because the database is being migrated or was migrated: nothing was written. To see the name of the new database, open the database again`,
    { cause, data: { store: name } },
  );

/** The text with which a database's own triggers refuse a write. */
export const FROZEN = 'earpiece: this database is being migrated or was migrated';

/** Returns the command that continues a move. The command contains no passwords. */
export const commandOf = ({ from, to }: Pick<Mark, 'from' | 'to'>): string =>
  `earpiece migrate --from ${quoted(from)} --to ${quoted(to)}`;
export const giveUp = ({ from, to }: Pick<Mark, 'from' | 'to'>): string => `${commandOf({ from, to })} --cancel`;

/**
 * Returns the command that undoes a finished move. If the source was a file, the command replaces it. Otherwise, you replace
 * `NEW_DATABASE` in the command.
 */
export const wayBack = ({ from, to }: Pick<Mark, 'from' | 'to'>): string =>
  commandOf({ from: to, to: from.startsWith('sqlite:') ? from : 'NEW_DATABASE' });

const quoted = (word: string): string => (/^[\w./:@=,+~-]+$/u.test(word) ? word : `'${word.replaceAll("'", String.raw`'\''`)}'`);
