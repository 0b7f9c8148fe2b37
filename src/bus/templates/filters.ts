/**
 * Earpiece's own filters for templates. minijinja passes plain values, arrays and Maps. Jinja's undefined and none both arrive as
 * undefined. Keyword arguments come last, as a Map.
 */
import { encode } from '@toon-format/toon';
import type { Severity } from '../../core/event.ts';
import type { Json } from '../../core/json.ts';

export type Filter = (value: unknown, ...more: readonly unknown[]) => string;

/** Makes Earpiece's filters for templates. `timeZone` returns the zone for the template that is being rendered. */
export const filtersFor = (timeZone: () => string, nulls: () => Nulls = () => NO_NULLS): Readonly<Record<string, Filter>> => ({
  toon_encode: (value) => toonOf(value, nulls()),
  format_time: (value) => formatTime(value, timeZone()),
  severity_prefix: (value) => severityPrefix(value),
  truncate: (value, ...more) => truncate(textOf(value), more),
});

/**
 * The names of all fields of each object from which null fields were removed. The map's key is the JSON of the remaining object.
 * Templates see no null, but tables keep all columns.
 */
export type Nulls = ReadonlyMap<string, readonly string[]>;
const NO_NULLS: Nulls = new Map();

/** Encodes a value with the official TOON encoder. An undefined value becomes the empty text. */
export function toonOf(value: unknown, nulls: Nulls = NO_NULLS): string {
  const json = jsonOf(value, nulls);
  return json === null ? '' : encode(Array.isArray(json) ? asTable(json) : json);
}

function jsonOf(value: unknown, nulls: Nulls = NO_NULLS): Json {
  if (value === undefined || value === null) return null;
  if (value instanceof Map) {
    const object: Record<string, Json> = Object.fromEntries(Array.from(value, ([key, each]) => [String(key), jsonOf(each)]));
    const fields = nulls.size === 0 ? undefined : nulls.get(nameOf(object));
    const known = Object.fromEntries(Array.from(value, ([key, each]) => [String(key), jsonOf(each, nulls)]));
    return fields === undefined ? known : Object.fromEntries(fields.map((field) => [field, known[field] ?? null]));
  }
  if (Array.isArray(value)) return value.map((each) => jsonOf(each, nulls));
  return typeof value === 'bigint' ? String(value) : (value as Json);
}

/** Makes the key of an object in `Nulls`. The order of the object's fields does not matter. */
export const nameOf = (object: Readonly<Record<string, Json>>): string =>
  JSON.stringify(Object.entries(object).toSorted(([a], [b]) => (a < b ? -1 : 1)));

/**
 * Gives rows of plain values the same fields, with null for missing fields. The rows then become one table instead of a list that
 * repeats each name. If most cells would be missing, the rows stay unchanged, because a list is shorter.
 */
function asTable(rows: readonly Json[]): readonly Json[] {
  const flat = rows.filter(
    (row): row is { readonly [key: string]: Json } =>
      typeof row === 'object' &&
      row !== null &&
      !Array.isArray(row) &&
      Object.values(row).every((cell) => cell === null || typeof cell !== 'object'),
  );
  const fields = [...new Set(flat.flatMap((row) => Object.keys(row)))];
  const cells = flat.reduce((sum, row) => sum + Object.keys(row).length, 0);
  if (flat.length < rows.length || cells * 2 < fields.length * rows.length) return rows;
  return flat.map((row) =>
    Object.fromEntries(fields.map((field) => [field, Object.hasOwn(row, field) ? (row[field] ?? null) : null])),
  );
}

/** Formats an ISO text or epoch ms as HH:MM:SS. A value that is not a time stays unchanged. */
export function formatTime(value: unknown, timeZone: string): string {
  if (value === undefined || value === null || value === '') return '';
  const time = new Date(typeof value === 'number' || typeof value === 'string' ? value : Number.NaN);
  return Number.isNaN(time.getTime()) ? textOf(value) : clockOf(timeZone).format(time);
}

let clock: { readonly timeZone: string; readonly format: Intl.DateTimeFormat } | undefined;

/** Makes or reuses the formatter of a time zone. An unknown zone counts as UTC. */
function clockOf(timeZone: string): Intl.DateTimeFormat {
  if (clock?.timeZone !== timeZone) {
    const options = { hour: '2-digit', minute: '2-digit', second: '2-digit', hourCycle: 'h23' } as const;
    let format: Intl.DateTimeFormat;
    try {
      format = new Intl.DateTimeFormat('en-GB', { ...options, timeZone });
    } catch {
      format = new Intl.DateTimeFormat('en-GB', { ...options, timeZone: 'UTC' });
    }
    clock = { timeZone, format };
  }
  return clock.format;
}

const HAS_PREFIX: Readonly<Record<Severity, boolean>> = {
  debug: false,
  info: false,
  warning: true,
  error: true,
  critical: true,
};

/** Returns the prefix for the severity of an event or a notification, or for a severity itself. */
export function severityPrefix(value: unknown): string {
  const severity: unknown = value instanceof Map ? (value.get('severity') ?? value.get('level')) : value;
  return typeof severity === 'string' && Object.hasOwn(HAS_PREFIX, severity) && HAS_PREFIX[severity as Severity]
    ? `!${severity}:`
    : '';
}

/**
 * Jinja's `truncate`, with positional and keyword arguments: `length` 255, `killwords` false, `end` "...", `leeway` 5. The filter
 * of minijinja accepts only keyword arguments.
 */
export function truncate(text: string, more: readonly unknown[]): string {
  const last = more.at(-1);
  const named = last instanceof Map ? last : new Map<unknown, unknown>();
  const placed = last instanceof Map ? more.slice(0, -1) : more;
  const given = (name: string, at: number): unknown => named.get(name) ?? placed[at];
  const number = (value: unknown, otherwise: number): number =>
    typeof value === 'number' && value >= 0 ? Math.floor(value) : otherwise;
  const length = number(given('length', 0), 255);
  const end = textOf(given('end', 2) ?? '...');
  const leeway = number(given('leeway', 3), 5);
  const characters = Array.from(text);
  if (characters.length <= length + leeway) return text;
  const kept = characters.slice(0, Math.max(0, length - Array.from(end).length)).join('');
  const space = kept.lastIndexOf(' ');
  return (given('killwords', 1) === true || space < 0 ? kept : kept.slice(0, space)) + end;
}

function textOf(value: unknown): string {
  const json = jsonOf(value);
  if (json === null) return '';
  return typeof json === 'string' ? json : JSON.stringify(json);
}
