/** Makes the error for unreadable data of a source. */
import { EarpieceError } from '../../core/errors.ts';
import type { Draft } from '../../core/records.ts';

export const unreadable = (name: string, what: string, why: string): EarpieceError =>
  new EarpieceError(
    'store_corrupt',
    `${name} is damaged: ${what} cannot be read (${why}), so the migration cannot continue; restore a backup`,
  );

export function bodyFrom(text: string, name: string, what: string): Draft {
  try {
    return JSON.parse(text) as Draft;
  } catch (error) {
    throw unreadable(name, what, error instanceof Error ? error.message : String(error));
  }
}
