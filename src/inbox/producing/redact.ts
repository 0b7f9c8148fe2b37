import { type Json, jsonCopy } from '../../core/json.ts';
import { readPattern } from '../../input/index.ts';

const REDACTED = '[redacted]';

/** The replacement for a text if one of the patterns is invalid. */
export const UNUSABLE = '[redacted: the setting "redact" is invalid; `earpiece config check` shows the problem]';

/** The maximum work for one text, in characters times pattern instructions: about a second with the slowest patterns. */
const MAX_WORK = 50_000_000;
/** The number of characters before a cut that are also removed, because they may be the first part of a secret. */
const TAIL = 4_096;

/**
 * Returns a function that replaces every match in a text by `[redacted]`. If a pattern is invalid, the whole text is replaced, so
 * that no secret is stored. A text that is too long for its patterns is cut.
 */
export function redactor(patterns: readonly string[]): (text: string) => string {
  if (patterns.length === 0) return (text) => text;
  const all = patterns.map(readPattern).map((read) => (read.kind === 'pattern' ? read.pattern : undefined));
  const usable = all.filter((pattern) => pattern !== undefined);
  if (usable.length < all.length) return (text) => (text === '' ? text : UNUSABLE);
  const longest = Math.floor(MAX_WORK / usable.reduce((sum, { size }) => sum + size, 1));
  const clean = (text: string): string => usable.reduce((left, pattern) => pattern.replaceAll(left, REDACTED), text);
  return (text) => {
    if (text.length <= longest) return clean(text);
    const kept = clean(text.slice(0, longest)).slice(0, -TAIL);
    return `${kept}[redacted: the rest; the text has ${text.length} characters, and at most ${longest} can be searched]`;
  };
}

/** Copies a value with each string value redacted. Keys stay. */
export const redactedJson = (value: Json, clean: (text: string) => string): Json => jsonCopy(value, clean) as Json;
