/** Reads the common fields of hook calls. The error for a missing or wrong field names the field and says what to do. */
import { EarpieceError } from '../core/errors.ts';

export type Input = Readonly<Record<string, unknown>>;

export function text(input: Input, field: string): string {
  const value = input[field];
  if (typeof value === 'string' && value !== '') return value;
  throw new EarpieceError(
    'bad_argument',
    `the hook's input has ${field} = ${shown(value)}, expected a text; call earpiece hook from the agent's own hook settings (earpiece install)`,
  );
}

export const optionalText = (input: Input, field: string): string | undefined => {
  const value = input[field];
  return typeof value === 'string' && value !== '' ? value : undefined;
};

const shown = (value: unknown): string => (value === undefined ? 'nothing' : JSON.stringify(value).slice(0, 80));
