import { EarpieceError } from '../core/errors.ts';

/** What a conversation is for: as the command line says, else the environment. Throws `bad_argument` where that is no word. */
export function purposeOf({ purpose = process.env['EARPIECE_PURPOSE'] || undefined }: { purpose?: string }): string | undefined {
  if (purpose === undefined || /^[\w-]{1,64}$/u.test(purpose)) return purpose;
  throw new EarpieceError(
    'bad_argument',
    `--purpose ${JSON.stringify(purpose.slice(0, 80))} is no word of letters, digits, "_" and "-"; write task or chat`,
  );
}
