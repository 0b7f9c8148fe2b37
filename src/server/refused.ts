/** Describes in one sentence why a schema refuses a value: the field, its value, the allowed values, and a likely correction. */
import type { z } from '@hono/zod-openapi';
import { didYouMean } from '../core/errors.ts';
import { ProblemError } from './problems.ts';

type Issue = z.core.$ZodIssue;

/** Makes the problem of an error. `given` is the value that the schema checked, and `known` are the keys of the schema. */
export function refusedBy(error: z.ZodError, given: unknown, target: string, known: readonly string[]): ProblemError {
  const issue = deepest(error.issues[0] as Issue);
  const where = target === 'json' ? '' : target === 'param' ? 'the path: ' : `the ${target}: `;
  const field = [...issue.path, ...(issue.code === 'unrecognized_keys' ? issue.keys.slice(0, 1) : [])].map(String).join('.');
  const said = issue.code === 'unrecognized_keys' ? unknownKey(issue.keys[0] ?? '', field, known) : wrong(issue, field, given);
  return new ProblemError('bad_argument', `${where}${said}`, field === '' ? {} : { field });
}

function unknownKey(key: string, field: string, known: readonly string[]): string {
  const near = didYouMean(key, known);
  return `${JSON.stringify(field.slice(0, 80))} is not known here${near === undefined ? '' : `; did you mean ${near}?`}`;
}

function wrong(issue: Issue, field: string, given: unknown): string {
  const value = valueAt(given, issue.path);
  const type = issue.code === 'invalid_type' ? typeName(issue.expected) : undefined;
  if (field === '') return `the body is ${shown(value)}: ${type === undefined ? rule(issue, value) : `give ${type}`}`;
  if (value === undefined) return `${field} is missing: give ${type ?? 'it'}`;
  return `${field} ${shown(value)}: ${type === undefined ? rule(issue, value) : `must be ${type}`}`;
}

/** Describes the rule of the schema that the value breaks. */
function rule(issue: Issue, value: unknown): string {
  switch (issue.code) {
    case 'invalid_value': {
      const near = typeof value === 'string' ? didYouMean(value, issue.values.map(String)) : undefined;
      const only = issue.values.length === 1 ? '' : 'one of ';
      return `must be ${only}${issue.values.map(String).join(', ')}${near === undefined ? '' : `; did you mean ${near}?`}`;
    }
    case 'too_small':
      return `must ${amount('at least', issue.minimum, issue)}`;
    case 'too_big':
      return `must ${amount('at most', issue.maximum, issue)}`;
    case 'invalid_format':
      // A custom message of the schema is used unchanged.
      if (!issue.message.startsWith('Invalid ')) return issue.message;
      return 'pattern' in issue && issue.pattern !== undefined
        ? `must match ${issue.pattern.replace(/^\/(.*)\/[a-z]*$/u, '$1')}`
        : `must be ${issue.format}`;
    case 'not_multiple_of':
      return `must be a multiple of ${issue.divisor}`;
    case 'custom':
    case 'invalid_element':
    case 'invalid_key':
    case 'invalid_type':
    case 'invalid_union':
    case 'unrecognized_keys':
      return issue.message;
  }
}

/** Describes the limit that the value breaks: for the value of a number, or for the length of a text or list. */
function amount(
  bound: string,
  limit: number | bigint,
  { origin, inclusive }: { origin: string; inclusive?: boolean | undefined },
): string {
  const most = inclusive === false ? `${bound === 'at least' ? 'more than' : 'less than'} ${limit}` : `${bound} ${limit}`;
  const things = origin === 'string' ? 'character' : origin === 'array' || origin === 'set' ? 'entry' : undefined;
  if (things === undefined) return `be ${most}`;
  return `have ${most} ${Number(limit) === 1 ? things : things === 'entry' ? 'entries' : 'characters'}`;
}

const TYPES: Readonly<Record<string, string>> = {
  string: 'a text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  object: 'an object',
  record: 'an object',
  array: 'a list',
  null: 'null',
};
const typeName = (expected: string): string => TYPES[expected] ?? expected;

const SHOWN_CHARS = 80;

function shown(value: unknown): string {
  if (Array.isArray(value)) return 'a list';
  const text = JSON.stringify(value) ?? 'missing';
  return text.length > SHOWN_CHARS ? `${text.slice(0, SHOWN_CHARS)}…` : text;
}

function valueAt(given: unknown, path: readonly PropertyKey[]): unknown {
  let value = given;
  for (const key of path)
    value = typeof value === 'object' && value !== null ? (value as Record<PropertyKey, unknown>)[key] : undefined;
  return value;
}

/**
 * Finds the error to report: for a union, the error of the branch that matched furthest, unless that error is about a type.
 */
function deepest(issue: Issue): Issue {
  if (issue.code !== 'invalid_union') return issue;
  const best = issue.errors
    .flatMap((branch) => branch.slice(0, 1))
    .toSorted((a, b) => b.path.length - a.path.length)
    .at(0);
  return best === undefined || best.code === 'invalid_type' ? issue : { ...best, path: [...issue.path, ...best.path] };
}
