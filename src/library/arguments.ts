/**
 * Checks the arguments that a program passes to the library. A table names each key of a type and its allowed values. So a
 * misspelt key throws even if the compiler does not find it: in JavaScript, or in an object that was built earlier.
 */
import { didYouMean, EarpieceError } from '../core/errors.ts';

type Rule =
  | 'text'
  /** A text that is not blank. */
  | 'name'
  | 'number'
  /** A number that is 0 or more. */
  | 'amount'
  /** A whole number that is 0 or more, or `Infinity`. */
  | 'count'
  /** The position of a record. */
  | 'position'
  | 'positive'
  /** The number of a port, where 0 means any free port. */
  | 'port'
  /** An http or https URL. */
  | 'url'
  | 'flag'
  | 'json'
  | 'signal'
  | 'function'
  | 'object'
  /** Any value, which the inner code checks. */
  | 'any'
  | Words
  | Keys
  | Kinds
  | Methods
  | { readonly listOf: Rule }
  /** An object whose keys the caller chooses. */
  | { readonly each: Rule };
/** One of these words. */
type Words = readonly string[];
/** An object with these keys and no others. `or` is an allowed alternative. */
type Keys = { readonly keys: Rules; readonly or?: 'text' | Words };
/** An object whose `kind` determines its other keys. */
type Kinds = { readonly kinds: Readonly<Record<string, Rules>> };
/** An object with these methods, such as a store. `or` is an allowed alternative. */
type Methods = { readonly methods: Words; readonly like: string; readonly or?: 'name' };
/** The key is required. */
type Needed = { readonly needed: Rule };
type Rules = Readonly<Record<string, Rule | Needed>>;

/** A rule for each key of `T`. Keys that `T` requires have a `Needed` rule. */
export type Table<T> = { readonly [K in keyof T]-?: T extends Required<Pick<T, K>> ? Needed : Rule };

/**
 * Checks the arguments of a call against a table of types. Throws `bad_argument` with the call, the key, the value seen and what
 * to do. `what` is the name of the whole value in an error.
 */
export function check<T extends object>(call: string, value: T, table: Table<T>, what = 'the options'): void {
  checkKeys(call, { path: '', what }, value, table);
}

export function bad(message: string, field?: string): EarpieceError {
  return new EarpieceError('bad_argument', message, field === undefined ? {} : { data: { field } });
}

/** Throws `bad_argument` unless the value is one of `words`. */
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

/** Throws `bad_argument` unless the value is a text that is not blank. */
export function checkName(call: string, name: string, value: unknown): void {
  checkText(call, name, value);
  if (!isName(value)) throw bad(`${call}: ${name} must be a text that is not blank, got ${shown(value)}`, name);
}

function checkKeys(call: string, { path, what }: { path: string; what: string }, value: unknown, table: Rules): void {
  // The caller's getter or Proxy may throw at any read.
  let now = path;
  try {
    const known = Object.keys(table);
    const at = (key: string): string => (path === '' ? key : `${path}.${key}`);
    if (!isObject(value))
      throw bad(`${call}: ${path === '' ? what : path} must be an object with ${known.join(', ')}, got ${shown(value)}`, path);
    for (const key of Object.keys(value)) {
      if (Object.hasOwn(table, key)) continue;
      const near = didYouMean(key, known);
      throw bad(
        `${call}: ${JSON.stringify(at(key))} is not a known key; ${near === undefined ? `the known keys are ${known.join(', ')}` : `did you mean ${JSON.stringify(near)}?`}`,
        at(key),
      );
    }
    for (const [key, each] of Object.entries(table)) {
      now = at(key);
      const given = value[key];
      const needed = typeof each === 'object' && 'needed' in each;
      if (given === undefined && needed) throw bad(`${call}: ${now} is missing; pass ${describe(each.needed)}`, now);
      if (given !== undefined) checkValue(call, now, given, needed ? each.needed : each);
    }
  } catch (error) {
    throw readable(call, now === '' ? what : now, error);
  }
}

function checkValue(call: string, path: string, value: unknown, rule: Rule): void {
  if (rule === 'any') return;
  if (rule === 'json') return checkJson(call, path, value);
  if (isWords(rule)) return checkWord(call, path, value, rule);
  if (typeof rule === 'string') {
    if (!FITS[rule](value)) throw bad(`${call}: ${path} must be ${describe(rule)}, got ${shown(value)}`, path);
    return;
  }
  if ('listOf' in rule) {
    if (!Array.isArray(value)) throw bad(`${call}: ${path} must be ${describe(rule)}, got ${shown(value)}`, path);
    for (const [n, each] of value.entries()) checkValue(call, `${path}.${n}`, each, rule.listOf);
    return;
  }
  if ('each' in rule) {
    if (!isObject(value)) throw bad(`${call}: ${path} must be ${describe(rule)}, got ${shown(value)}`, path);
    for (const [key, each] of Object.entries(value)) if (each !== undefined) checkValue(call, `${path}.${key}`, each, rule.each);
    return;
  }
  if ('methods' in rule) {
    if (rule.or !== undefined && isName(value)) return;
    const lacks = (name: string): boolean => typeof (value as Readonly<Record<string, unknown>>)[name] !== 'function';
    const missing = typeof value === 'object' && value !== null ? rule.methods.filter(lacks) : rule.methods;
    if (missing.length === 0) return;
    const partial = missing.length < rule.methods.length ? ` without ${missing.map((name) => `${name}()`).join(', ')}` : '';
    throw bad(`${call}: ${path} must be ${describe(rule)}, got ${shown(value)}${partial}`, path);
  }
  if ('kinds' in rule) {
    if (!isObject(value)) throw bad(`${call}: ${path} must be ${describe(rule)}, got ${shown(value)}`, path);
    const { kind } = value;
    checkWord(call, `${path}.kind`, kind, Object.keys(rule.kinds));
    return checkKeys(call, { path, what: path }, value, { kind: 'any', ...rule.kinds[kind as string] });
  }
  if (typeof value === 'string' && rule.or !== undefined) {
    if (rule.or !== 'text') checkWord(call, path, value, rule.or);
    return;
  }
  checkKeys(call, { path, what: path }, value, rule.keys);
}

const FITS: Readonly<Record<Exclude<Rule & string, 'any' | 'json'>, (value: unknown) => boolean>> = {
  text: (value) => typeof value === 'string',
  name: isName,
  number: (value) => typeof value === 'number' && !Number.isNaN(value),
  amount: (value) => typeof value === 'number' && value >= 0,
  count: (value) => (Number.isInteger(value) ? (value as number) >= 0 : value === Number.POSITIVE_INFINITY),
  position: (value) => Number.isSafeInteger(value) && (value as number) >= 0,
  positive: (value) => typeof value === 'number' && value > 0,
  port: (value) => Number.isInteger(value) && (value as number) >= 0 && (value as number) <= 65_535,
  url: (value) => typeof value === 'string' && /^https?:$/u.test(URL.parse(value)?.protocol ?? ''),
  function: (value) => typeof value === 'function',
  object: isObject,
  flag: (value) => typeof value === 'boolean',
  signal: (value) => value instanceof AbortSignal,
};

/** Runs a check that reads a value of the caller, and names that value if its getter, Proxy or `toJSON` throws. */
export function reading<T>(call: string, path: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw readable(call, path, error);
  }
}

/** Makes the error for a value whose getter, Proxy or `toJSON` throws. The error names the value. */
function readable(call: string, path: string, error: unknown): EarpieceError {
  if (error instanceof EarpieceError) return error;
  const why = error instanceof Error ? error.message : String(error);
  return new EarpieceError('bad_argument', `${call}: ${path} cannot be read (${why}); pass plain values`, {
    cause: error,
    data: { field: path },
  });
}

/** Checks that JSON can represent a value. The check uses no recursion, because deep data must not overflow the call stack. */
function checkJson(call: string, path: string, value: unknown): void {
  type Step = { readonly value: unknown; readonly path: string; readonly leave?: true };
  const inside = new Set<unknown>();
  const rest: Step[] = [{ value, path }];
  let now = path;
  try {
    for (let step = rest.pop(); step !== undefined; step = rest.pop()) {
      if (step.leave) {
        inside.delete(step.value);
        continue;
      }
      now = step.path;
      const plain = toJson(step.value);
      const problem = notJson(plain) ?? (inside.has(step.value) ? 'contains itself' : undefined);
      if (problem !== undefined) throw bad(`${call}: ${step.path} ${problem}; pass only values that JSON can hold`, step.path);
      if (typeof plain !== 'object' || plain === null) continue;
      inside.add(step.value);
      rest.push({ ...step, leave: true });
      for (const key of Object.keys(plain)) {
        now = `${step.path}.${key}`;
        const each = (plain as Readonly<Record<string, unknown>>)[key];
        // JSON leaves out a key whose value is undefined.
        if (each !== undefined || Array.isArray(plain)) rest.push({ value: each, path: now });
      }
    }
  } catch (error) {
    throw readable(call, now, error);
  }
}

function notJson(value: unknown): string | undefined {
  if (typeof value === 'bigint') return `is the bigint ${value}n`;
  if (value === undefined) return 'is undefined';
  if (typeof value === 'function' || typeof value === 'symbol') return `is a ${typeof value}`;
  if (typeof value === 'number' && !Number.isFinite(value)) return `is ${value}`;
  return value instanceof Map || value instanceof Set ? `is a ${value.constructor.name}` : undefined;
}

/** Returns the value that JSON writes, such as the text of a date. */
const toJson = (value: unknown): unknown =>
  typeof value === 'object' && value !== null && 'toJSON' in value && typeof value.toJSON === 'function'
    ? (value.toJSON as () => unknown)()
    : value;

function isName(value: unknown): boolean {
  return typeof value === 'string' && value.trim() !== '';
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !isPromise(value);
}

/** Whether a value is a promise, which the caller forgot to await. */
export function isPromise(value: unknown): boolean {
  try {
    return value instanceof Promise;
  } catch {
    // The value is a revoked Proxy.
    return false;
  }
}

const isWords = (rule: Rule): rule is Words => Array.isArray(rule);

function describe(rule: Rule): string {
  if (isWords(rule)) return `one of ${rule.join(', ')}`;
  if (typeof rule === 'object' && 'methods' in rule)
    return `${rule.or === undefined ? '' : 'a text that is not blank or '}${rule.like}`;
  if (typeof rule === 'object' && 'listOf' in rule)
    return isWords(rule.listOf) ? `a list of ${rule.listOf.join(', ')}` : `a list, each ${describe(rule.listOf)}`;
  if (typeof rule === 'object' && 'each' in rule) return `an object, each value ${describe(rule.each)}`;
  if (typeof rule === 'object' && 'kinds' in rule) return `an object whose kind is one of ${Object.keys(rule.kinds).join(', ')}`;
  if (typeof rule === 'object') return 'an object';
  return {
    text: 'a text',
    name: 'a text that is not blank',
    number: 'a number',
    amount: 'a number that is 0 or more',
    count: 'a whole number that is 0 or more',
    position: 'a whole number that is 0 or more, such as the seq of a record',
    positive: 'a number greater than 0',
    port: 'a whole number from 0 to 65535',
    url: 'a URL such as "http://127.0.0.1:4747"',
    flag: 'true or false',
    json: 'JSON',
    signal: 'an AbortSignal',
    function: 'a function',
    object: 'an object',
    any: 'a value',
  }[rule];
}

export function shown(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(value.length > 80 ? `${value.slice(0, 80)}…` : value);
  if (typeof value === 'function') return 'a function';
  if (typeof value !== 'object' || value === null) return String(value);
  try {
    if (isPromise(value)) return 'a promise; await it';
    return Array.isArray(value) ? 'a list' : 'an object';
  } catch {
    // The value is a revoked Proxy.
    return 'an object that cannot be read';
  }
}
