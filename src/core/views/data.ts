import type { Json } from '../json.ts';
import { escapeSigns } from './body.ts';

/**
 * Copies a notification's data with neutralized strings. Undefined if the data has more than `maxChars` characters or is not
 * JSON. The copy stops when it exceeds `maxChars`.
 */
export function neutralData(data: unknown, maxChars: number): Json | undefined {
  try {
    return copy(data, { chars: maxChars });
  } catch {
    return undefined;
  }
}

function copy(value: unknown, left: { chars: number }): Json {
  const spend = (chars: number): void => {
    left.chars -= chars;
    if (left.chars < 0) throw new RangeError('too much');
  };
  const text = (body: string): string => {
    spend(body.length + 2);
    return escapeSigns(body);
  };
  if (typeof value === 'string') return text(value);
  if (typeof value === 'number' && Number.isFinite(value)) {
    spend(String(value).length);
    return value;
  }
  spend(4);
  if (value === null || typeof value === 'number') return null;
  if (typeof value === 'boolean') return value;
  if (Array.isArray(value)) return value.map((each) => copy(each, left));
  if (typeof value === 'object')
    return Object.fromEntries(Object.entries(value).map(([key, each]) => [text(key), copy(each, left)]));
  throw new TypeError('no JSON');
}

/** Whether the rows make a table: all are objects with the same keys, and nothing is nested. */
export function isTable(rows: readonly Json[]): boolean {
  const columns = (row: Json): string | undefined =>
    typeof row !== 'object' ||
    row === null ||
    Array.isArray(row) ||
    Object.values(row).some((cell) => typeof cell === 'object' && cell !== null)
      ? undefined
      : JSON.stringify(Object.keys(row));
  const first = rows[0] === undefined ? undefined : columns(rows[0]);
  return first !== undefined && first !== '[]' && rows.every((row) => columns(row) === first);
}
