/** Comparisons that name the differences. They use Node's assertions only. A field that is undefined counts as missing. */
import assert from 'node:assert/strict';

export const equal = (actual: unknown, expected: unknown): void => assert.deepEqual(plain(actual), plain(expected));

/** Each field that the shape names has its value. A list has as many entries as its shape. */
export const matches = (actual: unknown, shape: unknown): void => equal(part(actual, shape), shape);

/** The value without the fields that the shape does not name. */
function part(value: unknown, shape: unknown): unknown {
  if (Array.isArray(value) && Array.isArray(shape)) return value.map((one, i) => (i < shape.length ? part(one, shape[i]) : one));
  if (!isObject(value) || !isObject(shape)) return value;
  return Object.fromEntries(Object.keys(shape).map((key) => [key, part(value[key], shape[key])]));
}

function plain(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(plain);
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).flatMap(([key, field]) => (field === undefined ? [] : [[key, plain(field)]])));
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
