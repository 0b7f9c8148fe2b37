import type { Json } from '../core/json.ts';

/** Replaces what matches by `[redacted]`. Patterns are checked when the config is read. */
export function redactor(patterns: readonly string[]): (text: string) => string {
  if (patterns.length === 0) return (text) => text;
  const all = patterns.map((pattern) => new RegExp(pattern, 'gu'));
  return (text) => all.reduce((clean, pattern) => clean.replaceAll(pattern, '[redacted]'), text);
}

/** The same for every text in a value; names of members stay. */
export function redactedJson(value: Json, clean: (text: string) => string): Json {
  if (typeof value === 'string') return clean(value);
  if (value === null || typeof value !== 'object') return value;
  if (Array.isArray(value)) return (value as readonly Json[]).map((element) => redactedJson(element, clean));
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, redactedJson(member, clean)]));
}
