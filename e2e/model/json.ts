export type Json = null | boolean | number | string | readonly Json[] | JsonObject;
export interface JsonObject {
  readonly [key: string]: Json | undefined;
}

export function parseJson(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return undefined;
  }
}

export const isObject = (value: Json | undefined): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

export const asObject = (value: Json | undefined): JsonObject | undefined => (isObject(value) ? value : undefined);

export const asString = (value: Json | undefined): string | undefined => (typeof value === 'string' ? value : undefined);

// Array.isArray does not narrow a readonly array out of a union.
export const asList = (value: Json | undefined): readonly Json[] | undefined =>
  Array.isArray(value) ? (value as readonly Json[]) : undefined;

/** Merges objects key by key. Every other value in `over` replaces the value in `base`. */
export function merge(base: JsonObject, over: JsonObject): JsonObject {
  const merged: Record<string, Json | undefined> = { ...base };
  for (const [key, value] of Object.entries(over)) {
    const old = merged[key];
    merged[key] = isObject(old) && isObject(value) ? merge(old, value) : value;
  }
  return merged;
}
