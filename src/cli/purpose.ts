import { EarpieceError } from '../core/errors.ts';

/**
 * Returns the purpose of a conversation from `--purpose`, otherwise from `EARPIECE_PURPOSE`. Throws `bad_argument` for an invalid
 * word.
 */
export function purposeOf({ purpose = process.env['EARPIECE_PURPOSE'] || undefined }: { purpose?: string }): string | undefined {
  if (purpose === undefined || /^[\w-]{1,64}$/u.test(purpose)) return purpose;
  throw new EarpieceError(
    'bad_argument',
    `the purpose ${JSON.stringify(purpose.slice(0, 80))} (--purpose or EARPIECE_PURPOSE) may contain only letters, digits, "_" and "-"; write task or chat`,
  );
}
