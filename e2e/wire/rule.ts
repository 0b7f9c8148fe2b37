import { asList, isObject, type Json, type JsonObject } from '../model/json.ts';

/** A rule that a real API enforces and a mock ignores. */
export type Rule = {
  readonly id: string;
  /** The text of the API's own error, the section of its documentation, or reports of other projects. */
  readonly source: string;
  /** One line for each violation, usually with its place: `messages[3] …`. */
  readonly breaks: (body: JsonObject, model: string) => Iterable<string>;
};

/** Returns the objects of a list with their index, without the list's other values. */
export const objectsOf = (value: Json | undefined): readonly (readonly [number, JsonObject])[] =>
  (asList(value) ?? []).flatMap((item, i) => (isObject(item) ? [[i, item] as const] : []));

/** Yields a line for each repeated value, with its place and the place of the first value. */
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

/** Returns a name in the request, or an empty text if the value is not a string. */
export const word = (value: Json | undefined): string => (typeof value === 'string' ? value : '');
