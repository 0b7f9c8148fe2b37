/**
 * Checks what a program hands to the library. A table names each key of a type and what its value may be, so that a misspelt
 * key throws where the compiler did not see it: in JavaScript, and in an object that was built before.
 */
import { didYouMean, EarpieceError } from '../core/errors.ts';

type Rule =
  | 'text'
  /** A text that is not blank. */
  | 'name'
  | 'number'
  /** A number from 0. */
  | 'amount'
  | 'flag'
  | 'json'
  | 'signal'
  | 'function'
  | 'object'
  /** The inner code checks it. */
  | 'any'
  | Words
  | Keys
  | Methods
  | { readonly listOf: Words };
/** One of these words. */
type Words = readonly string[];
/** An object with these keys and no others; `or`: something else instead. */
type Keys = { readonly keys: Readonly<Record<string, Rule>>; readonly or?: 'text' | Words };
/** An object with these methods, such as a store; `or`: something else instead. */
type Methods = { readonly methods: Words; readonly like: string; readonly or?: 'name' };
/** The key may not be left out. */
type Needed = { readonly needed: Rule };

/** A rule for each key of `T`; a key that `T` demands has a rule that demands it. */
export type Table<T> = { readonly [K in keyof T]-?: T extends Required<Pick<T, K>> ? Needed : Rule };

/** Throws `bad_argument`, naming the call, the key, the value seen and the way out. */
export function check<T extends object>(call: string, value: T, table: Table<T>): void {
  checkKeys(call, '', value, table);
}

export function bad(message: string, field?: string): EarpieceError {
  return new EarpieceError('bad_argument', message, field === undefined ? {} : { data: { field } });
}

/** Throws `bad_argument` for anything but one of `words`. */
export function checkWord(call: string, name: string, value: unknown, words: Words): void {
  if (typeof value === 'string' && words.includes(value)) return;
  const near = typeof value === 'string' ? didYouMean(value, words) : undefined;
  throw bad(
    `${call}: ${name} must be one of ${words.join(', ')}, got ${shown(value)}${near === undefined ? '' : `; did you mean ${JSON.stringify(near)}?`}`,
    name,
  );
}

export function checkText(call: string, name: string, value: unknown): void {
  if (typeof value !== 'string') throw bad(`${call}: ${name} must be a text, got ${shown(value)}`, name);
}

/** Throws `bad_argument` for anything but a text that is not blank. */
export function checkName(call: string, name: string, value: unknown): void {
  checkText(call, name, value);
  if (!isName(value)) throw bad(`${call}: ${name} must be a text that is not blank, got ${shown(value)}`, name);
}

function checkKeys(call: string, path: string, value: unknown, table: Readonly<Record<string, Rule | Needed>>): void {
  const known = Object.keys(table);
  const at = (key: string): string => (path === '' ? key : `${path}.${key}`);
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw bad(
      `${call}: ${path === '' ? 'the options' : path} must be an object with ${known.join(', ')}, got ${shown(value)}`,
      path,
    );
  for (const key of Object.keys(value)) {
    if (Object.hasOwn(table, key)) continue;
    const near = didYouMean(key, known);
    throw bad(
      `${call}: ${JSON.stringify(at(key))} is not a known key; ${near === undefined ? `known are ${known.join(', ')}` : `did you mean ${JSON.stringify(near)}?`}`,
      at(key),
    );
  }
  for (const [key, each] of Object.entries(table)) {
    const given = (value as Readonly<Record<string, unknown>>)[key];
    const needed = typeof each === 'object' && 'needed' in each;
    if (given === undefined && needed) throw bad(`${call}: ${at(key)} is missing; pass ${describe(each.needed)}`, at(key));
    if (given !== undefined) checkValue(call, at(key), given, needed ? each.needed : each);
  }
}

function checkValue(call: string, path: string, value: unknown, rule: Rule): void {
  if (rule === 'any') return;
  if (rule === 'json') return checkJson(call, path, value);
  if (isWords(rule)) return checkWord(call, path, value, rule);
  if (typeof rule === 'object' && 'listOf' in rule) {
    if (!Array.isArray(value)) throw bad(`${call}: ${path} must be ${describe(rule)}, got ${shown(value)}`, path);
    for (const each of value) checkWord(call, path, each, rule.listOf);
    return;
  }
  if (typeof rule === 'object' && 'methods' in rule) {
    if (rule.or !== undefined && isName(value)) return;
    const has = (name: string): boolean => typeof (value as Readonly<Record<string, unknown>>)[name] === 'function';
    if (typeof value !== 'object' || value === null || !rule.methods.every(has))
      throw bad(`${call}: ${path} must be ${describe(rule)}, got ${shown(value)}`, path);
    return;
  }
  if (typeof rule === 'object') {
    if (typeof value === 'string' && rule.or !== undefined) {
      if (rule.or !== 'text') checkWord(call, path, value, rule.or);
      return;
    }
    return checkKeys(call, path, value, rule.keys);
  }
  const fits = {
    text: typeof value === 'string',
    name: isName(value),
    number: typeof value === 'number' && !Number.isNaN(value),
    amount: typeof value === 'number' && value >= 0,
    function: typeof value === 'function',
    object: typeof value === 'object' && value !== null && !Array.isArray(value),
    flag: typeof value === 'boolean',
    signal: value instanceof AbortSignal,
  }[rule];
  if (!fits) throw bad(`${call}: ${path} must be ${describe(rule)}, got ${shown(value)}`, path);
}

/** Walks without recursion, so that data of any depth is answered and not a full stack. */
function checkJson(call: string, path: string, value: unknown): void {
  type Step = { readonly value: unknown; readonly path: string; readonly leave?: true };
  const inside = new Set<unknown>();
  const rest: Step[] = [{ value, path }];
  for (let step = rest.pop(); step !== undefined; step = rest.pop()) {
    if (step.leave) {
      inside.delete(step.value);
      continue;
    }
    const problem = notJson(step.value) ?? (inside.has(step.value) ? 'contains itself' : undefined);
    if (problem !== undefined) throw bad(`${call}: ${step.path} ${problem}; pass what JSON can hold`, step.path);
    if (typeof step.value !== 'object' || step.value === null) continue;
    const plain = toJson(step.value);
    if (plain !== step.value) {
      rest.push({ value: plain, path: step.path });
      continue;
    }
    inside.add(step.value);
    rest.push({ ...step, leave: true });
    for (const [key, each] of Object.entries(step.value))
      // JSON leaves out a key without a value.
      if (each !== undefined || Array.isArray(step.value)) rest.push({ value: each, path: `${step.path}.${key}` });
  }
}

function notJson(value: unknown): string | undefined {
  if (typeof value === 'bigint') return `is the bigint ${value}n`;
  if (value === undefined) return 'is undefined';
  if (typeof value === 'function' || typeof value === 'symbol') return `is a ${typeof value}`;
  if (typeof value === 'number' && !Number.isFinite(value)) return `is ${value}`;
  return value instanceof Map || value instanceof Set ? `is a ${value.constructor.name}` : undefined;
}

/** A date is its text. */
const toJson = (value: object): unknown =>
  'toJSON' in value && typeof value.toJSON === 'function' ? (value.toJSON as () => unknown)() : value;

const isName = (value: unknown): boolean => typeof value === 'string' && value.trim() !== '';
const isWords = (rule: Rule): rule is Words => Array.isArray(rule);

function describe(rule: Rule): string {
  if (isWords(rule)) return `one of ${rule.join(', ')}`;
  if (typeof rule === 'object' && 'methods' in rule)
    return `${rule.or === undefined ? '' : 'a text that is not blank or '}${rule.like}`;
  if (typeof rule === 'object') return 'listOf' in rule ? `a list of ${rule.listOf.join(', ')}` : 'an object';
  return {
    text: 'a text',
    name: 'a text that is not blank',
    number: 'a number',
    amount: 'a number from 0',
    flag: 'true or false',
    json: 'JSON',
    signal: 'an AbortSignal',
    function: 'a function',
    object: 'an object',
    any: 'a value',
  }[rule];
}

function shown(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(value.length > 80 ? `${value.slice(0, 80)}…` : value);
  if (typeof value === 'function') return 'a function';
  if (Array.isArray(value)) return 'a list';
  return typeof value === 'object' && value !== null ? 'an object' : String(value);
}
