import { EarpieceError } from '../core/errors.ts';

/** A place in a text. Lines and columns start at 1, and columns are UTF-16 units, as in editors. */
export type Position = { readonly line: number; readonly column: number };

/** One problem of a configuration. A problem without `file` concerns an environment variable, a flag or a stored project name. */
export type Problem = {
  readonly message: string;
  readonly file?: string;
  readonly line?: number;
  readonly column?: number;
  /** The affected key, in the form that `explain` accepts. */
  readonly key?: string;
};

/** Formats a problem as `earpiece.toml:12:3: message`, because editors and terminals make this form clickable. */
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

/** Formats a value for a message. A text is shown as JSON, and cut after 60 characters. A list or a table is only named. */
export function seen(value: unknown): string {
  if (value instanceof Date) return `the date ${value.toISOString()}`;
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'object' && value !== null) return 'a table';
  if (typeof value === 'bigint' || typeof value === 'number') return String(value);
  const text = JSON.stringify(value) ?? String(value);
  return text.length > 60 ? `${text.slice(0, 60)}…` : text;
}
