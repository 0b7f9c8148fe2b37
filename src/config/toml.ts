/** Parses TOML. The result is the table, or the problem that makes the text invalid, with its place. */
import { createRequire } from 'node:module';
import type * as SmolToml from 'smol-toml';
import type { Problem } from './problems.ts';
import type { Table } from './servers.ts';
import { excessOf } from './toml-size.ts';

/** The TOML parser, loaded when the first file is parsed, because most folders have no configuration file. */
let parser: typeof SmolToml | undefined;
const smolToml = (): typeof SmolToml => (parser ??= createRequire(import.meta.url)('smol-toml') as typeof SmolToml);

export type Toml = { readonly kind: 'table'; readonly table: Table } | { readonly kind: 'problem'; readonly problem: Problem };

/** Parses a text and never throws. Whole numbers beyond 2^53 are bigints. */
export function readToml(text: string, file: string): Toml {
  const excess = excessOf(text);
  if (excess !== undefined) {
    const before = text.slice(0, excess.at);
    const place = { line: before.split('\n').length, column: excess.at - before.lastIndexOf('\n') };
    return { kind: 'problem', problem: { file, ...place, message: excess.message } };
  }
  try {
    return { kind: 'table', table: smolToml().parse(text, { integersAsBigInt: 'asNeeded' }) };
  } catch (cause) {
    return { kind: 'problem', problem: syntaxProblem(cause, text, file) };
  }
}

function syntaxProblem(cause: unknown, text: string, file: string): Problem {
  if (!(cause instanceof smolToml().TomlError)) return { file, message: `cannot be read as TOML: ${(cause as Error).message}` };
  const what = (cause.message.split('\n')[0] ?? '').replace(/^Invalid TOML document: /, '');
  const line = text.split('\n')[cause.line - 1]?.trim() ?? '';
  const way = /redefine/.test(what)
    ? 'merge both places into one'
    : what === 'invalid value'
      ? 'put a text in double quotes'
      : /comma or end of structure/.test(what)
        ? 'before this place, a "," between two values is missing, or the end: "]" of a list, "}" of an inline table'
        : 'see https://toml.io';
  const shown = line.length > 60 ? `${line.slice(0, 60)}…` : line;
  return {
    file,
    line: cause.line,
    column: cause.column,
    message: `is not valid TOML: ${what}${line === '' ? '' : `, in ${JSON.stringify(shown)}`}; ${way}`,
  };
}

export const byPlace = (a: Problem, b: Problem): number => (a.line ?? 0) - (b.line ?? 0) || (a.column ?? 0) - (b.column ?? 0);
