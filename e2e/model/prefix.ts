import { asList, isObject, type Json, type JsonObject } from './json.ts';
import type { Recorded } from './tap.ts';
import { messagesOf } from './texts.ts';

/** A part of a request that differs in the next request of the conversation. */
export interface Change {
  /** Indices of the two requests. */
  readonly from: number;
  readonly to: number;
  /** The index of the message, or the name of another field. */
  readonly where: number | string;
  readonly was: string;
  readonly is: string;
}

export interface PrefixOptions {
  /** Keys to ignore everywhere. Gemini CLI itself drops `thoughtSignature` after a turn. */
  readonly ignore?: readonly string[];
  /**
   * Whether a single text block counts as different from a plain string. Claude Code changes one to the other when it moves
   * cache_control.
   */
  readonly strict?: boolean;
}

/**
 * Returns the changes between each request and the previous request. The list is empty if every message list extends the previous
 * list, and the system prompt and the tools stay the same. The comparison uses parsed JSON, including the order of keys.
 */
export function prefixChanges(requests: readonly Recorded[], options: PrefixOptions = {}): readonly Change[] {
  const { ignore = ['cache_control'], strict = false } = options;
  const normal = (request: Recorded): readonly Json[] =>
    messagesOf(request.body).map((message) => (strict ? (strip(message, ignore) ?? null) : loosen(strip(message, ignore))));
  return requests.slice(1).flatMap((request, from) => {
    const previous = requests[from];
    if (!previous) return [];
    const now = normal(request);
    const fields = ['system', 'instructions', 'systemInstruction', 'tools'].map((field) => ({
      where: field,
      was: strip(previous.body?.[field], ignore),
      is: strip(request.body?.[field], ignore),
    }));
    const messages = normal(previous).map((was, where) => ({ where, was, is: now[where] }));
    return [...fields, ...messages].flatMap(({ where, was, is }) => {
      const difference = differenceOf(text(was), text(is));
      return difference ? [{ from, to: from + 1, where, ...difference }] : [];
    });
  });
}

const text = (value: Json | undefined): string => JSON.stringify(value) ?? '(absent)';

function strip(value: Json | undefined, ignore: readonly string[]): Json | undefined {
  if (isObject(value))
    return Object.fromEntries(
      Object.entries(value)
        .filter(([key]) => !ignore.includes(key))
        .map(([key, item]) => [key, strip(item, ignore)]),
    );
  return asList(value)?.map((item) => strip(item, ignore) ?? null) ?? value;
}

function loosen(message: Json | undefined): Json {
  if (!isObject(message)) return message ?? null;
  const content = asList(message['content']);
  const only = content?.length === 1 ? content[0] : undefined;
  return isObject(only) && isLoneText(only) ? { ...message, content: only['text'] } : message;
}

const isLoneText = (part: JsonObject): boolean => part['type'] === 'text' && Object.keys(part).length === 2;

function differenceOf(was: string, is: string): { was: string; is: string } | undefined {
  if (was === is) return undefined;
  let at = 0;
  while (was[at] === is[at]) at++;
  const from = Math.max(0, at - 40);
  return { was: was.slice(from, at + 80), is: is.slice(from, at + 80) };
}
