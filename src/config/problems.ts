import { EarpieceError } from '../core/errors.ts';

/** A place in a text: both count from 1, columns in UTF-16 units as editors do. */
export type Position = { readonly line: number; readonly column: number };

/** One problem of a configuration. A problem without `file` concerns an environment variable or a flag. */
export type Problem = {
  readonly message: string;
  readonly file?: string;
  readonly line?: number;
  readonly column?: number;
  /** The affected key, as `explain` takes it. */
  readonly key?: string;
};

/** `earpiece.toml:12:3: message`, the form that editors and terminals make clickable. */
export function formatProblem(problem: Problem): string {
  const place = [problem.file, problem.line, problem.line === undefined ? undefined : problem.column].filter(
    (part) => part !== undefined,
  );
  return place.length === 0 ? problem.message : `${place.join(':')}: ${problem.message}`;
}

export function configError(problems: readonly Problem[]): EarpieceError {
  const lines = problems.map((problem) => formatProblem(problem));
  const text =
    lines.length === 1
      ? lines.join('')
      : [`the configuration has ${lines.length} problems:`, ...lines.map((line) => `  ${line}`)].join('\n');
  return new EarpieceError('bad_config', text, {
    data: { problems },
  });
}

/** A value as a message shows it: JSON, cut. */
export function seen(value: unknown): string {
  if (value instanceof Date) return `the date ${value.toISOString()}`;
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'object' && value !== null) return 'a table';
  if (typeof value === 'bigint' || typeof value === 'number') return String(value);
  const text = JSON.stringify(value) ?? String(value);
  return text.length > 60 ? `${text.slice(0, 60)}…` : text;
}
