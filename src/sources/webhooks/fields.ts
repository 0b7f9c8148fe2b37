/** Reads fields of untrusted data. A value of the wrong type counts as missing. */
import type { Json } from '../../core/json.ts';
import { SEVERITIES, type Severity } from '../../core/event.ts';

/**
 * Reads the value at a dotted path. Numbers are positions in lists. Only own properties count, so `constructor` is an ordinary
 * name.
 */
export function at(json: Json | undefined, path: string): Json | undefined {
  let value = json;
  for (const name of path.split('.')) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined;
    value = (value as Readonly<Record<string, Json>>)[name];
  }
  return value;
}

/**
 * Returns the text at a path in one line, cut to a maximum length; undefined for a blank text and for any other value.
 * A number or a boolean becomes text.
 */
export function textAt(json: Json | undefined, path: string, chars = 200): string | undefined {
  const value = at(json, path);
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  if (typeof value !== 'string') return undefined;
  const text = value.replaceAll(/\s+/gu, ' ').trim().toWellFormed();
  if (text === '') return undefined;
  return text.length > chars ? `${text.slice(0, chars - 1).toWellFormed()}…` : text;
}

const WORDS: Readonly<Record<Severity, RegExp>> = {
  debug: /^(?:debug|trace|verbose)$/u,
  info: /^(?:info|information|informational|notice|none|ok|success|succeeded|low|normal|resolved)$/u,
  warning: /^(?:warn|warning|minor|medium|moderate|degraded)$/u,
  error: /^(?:err|error|fail|failed|failure|major|high|severe)$/u,
  critical: /^(?:critical|crit|fatal|emergency|emerg|alert|page|panic|blocker|disaster)$/u,
};

/** Converts another system's word to a severity. */
export function severityOf(word: string | undefined): Severity | undefined {
  const text = word?.trim().toLowerCase() ?? '';
  return SEVERITIES.find((severity) => WORDS[severity].test(text));
}

/** Makes a part of a type from a text. Forbidden characters become `_`. */
export const typePart = (text: string): string =>
  text
    .trim()
    .replaceAll(/[^A-Za-z0-9_.-]+/gu, '_')
    .split('.')
    .filter((part) => part !== '')
    .join('.')
    .slice(0, 90);
