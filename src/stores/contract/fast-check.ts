/** Loads fast-check, which makes random logs. This package is an optional peer dependency, which only this suite needs. */
import type fc from 'fast-check';
import { EarpieceError } from '../../core/errors.ts';

export type FastCheck = typeof fc;

export async function fastCheck(): Promise<FastCheck> {
  try {
    return (await import('fast-check')).default;
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== 'ERR_MODULE_NOT_FOUND') throw cause;
    throw new EarpieceError(
      'bad_argument',
      'the store contract needs the package fast-check, which is not installed: npm install --save-dev fast-check',
      { cause },
    );
  }
}
