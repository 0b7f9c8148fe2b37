import { asList, isObject, type Json, type JsonObject } from '../model/json.ts';

/** What a real API enforces and a mock lets pass. */
export type Rule = {
  readonly id: string;
  /** The text of the API's own error, or the section of its documentation that says so. */
  readonly source: string;
  /** One line for each place that breaks it: `messages[3] …`. */
  readonly breaks: (body: JsonObject, model: string) => Iterable<string>;
};

/** The objects of a list with their index; whatever else is in it is another rule's business. */
export const objectsOf = (value: Json | undefined): readonly (readonly [number, JsonObject])[] =>
  (asList(value) ?? []).flatMap((item, i) => (isObject(item) ? [[i, item] as const] : []));

/** Each value that was there before, with where. */
export function* repeated(values: Iterable<readonly [string, Json | undefined]>): Generator<string> {
  const seen = new Map<Json | undefined, string>();
  for (const [where, value] of values) {
    if (value === undefined) continue;
    const before = seen.get(value);
    if (before === undefined) seen.set(value, where);
    else yield `${where} has ${JSON.stringify(value)} again, it is in ${before}`;
  }
}

export const isBlank = (value: Json | undefined): boolean => typeof value === 'string' && value.trim() === '';

export const isJsonText = (value: Json | undefined): boolean => {
  if (typeof value !== 'string') return false;
  try {
    JSON.parse(value);
    return true;
  } catch {
    return false;
  }
};

export const show = (value: Json | undefined): string => JSON.stringify(value) ?? 'nothing';

/** A name in the request; what is no text has no name. */
export const word = (value: Json | undefined): string => (typeof value === 'string' ? value : '');
