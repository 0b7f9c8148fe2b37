export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };

/**
 * The maximum depth of data, in levels. Data that is thousands of levels deep overflows the stack of recursive code, such as
 * `JSON.stringify`.
 */
export const MAX_DEPTH = 64;

export const tooDeep = (what: string): string =>
  `${what} nests more than ${MAX_DEPTH} levels deep; write the data to a file and send the path`;

/** Whether a value nests more than `MAX_DEPTH` deep or contains itself. Does not recurse. */
export function isTooDeep(value: unknown): boolean {
  const rest: { readonly value: object; readonly depth: number }[] = isObject(value) ? [{ value, depth: 1 }] : [];
  for (let next = rest.pop(); next !== undefined; next = rest.pop()) {
    if (next.depth > MAX_DEPTH) return true;
    for (const each of Object.values(next.value)) if (isObject(each)) rest.push({ value: each, depth: next.depth + 1 });
  }
  return false;
}

/** Returns the number of characters of the value as JSON, or the reason why JSON cannot represent the value. */
export function jsonSize(value: unknown): number | string {
  try {
    return JSON.stringify(value)?.length ?? `JSON has no ${typeof value}`;
  } catch (error) {
    return (error instanceof Error ? error.message : String(error)).split('\n', 1)[0] ?? '';
  }
}

/** Returns the value for an error message: as JSON, or as text if JSON cannot represent the value. */
export const shownJson = (value: unknown): string =>
  typeof jsonSize(value) === 'string' ? String(value) : JSON.stringify(value);

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null;

/**
 * Whether a JSON text nests deeper than `limit`. Counts brackets and does not parse the text, because `JSON.parse` accepts a
 * million levels, but `JSON.stringify` fails on the result.
 */
export function nestsDeeper(text: string, limit: number): boolean {
  let depth = 0;
  let inText = false;
  for (let at = 0; at < text.length; at++) {
    const char = text.charCodeAt(at);
    if (inText) {
      if (char === BACKSLASH) at++;
      else if (char === QUOTE) inText = false;
    } else if (char === QUOTE) inText = true;
    else if (char === BRACE || char === BRACKET) {
      if (++depth > limit) return true;
    } else if (char === BRACE + 2 || char === BRACKET + 2) depth--;
  }
  return false;
}

const BACKSLASH = 0x5c;
const QUOTE = 0x22;
const BRACE = 0x7b;
const BRACKET = 0x5b;

/**
 * Copies a value as JSON represents the value. Because of the copy, later changes by the caller do not reach the log, and all
 * stores keep the same value. `clean` converts each string value, but no keys. For a small record, `jsonCopy` takes a third of
 * the time of `JSON.parse(JSON.stringify(value))`.
 */
export function jsonCopy(value: unknown, clean?: (text: string) => string): unknown {
  if (typeof value === 'string') return clean === undefined ? value : clean(value);
  if (typeof value !== 'object' || value === null) {
    if (typeof value === 'number' && !Number.isFinite(value)) return null;
    if (typeof value === 'bigint') throw new TypeError('a JSON value must not be a bigint; convert it to a number or a text');
    return value;
  }
  if (Array.isArray(value)) return value.map((entry) => (isLost(entry) ? null : jsonCopy(entry, clean)));
  if (typeof (value as { toJSON?: unknown }).toJSON === 'function') return jsonCopy(JSON.parse(JSON.stringify(value)), clean);
  const into: Record<string, unknown> = {};
  for (const key of Object.keys(value)) {
    const entry = (value as Record<string, unknown>)[key];
    if (isLost(entry)) continue;
    if (key === '__proto__')
      Object.defineProperty(into, key, { value: jsonCopy(entry, clean), enumerable: true, writable: true, configurable: true });
    else into[key] = jsonCopy(entry, clean);
  }
  return into;
}

const isLost = (value: unknown): boolean => value === undefined || typeof value === 'function' || typeof value === 'symbol';
