/** Parses values of TOML, and the texts of environment variables and flags. */
import type { QuietHours } from '../core/policy.ts';
import { parseAddress } from '../core/address.ts';
import { didYouMean } from '../core/errors.ts';
import { MAX_PATTERNS, readPattern } from '../input/index.ts';
import { seen } from './problems.ts';

/**
 * A type of setting values. `read` accepts a value of the TOML parser. `fromText` accepts the text of an environment variable or
 * a flag.
 */
export type Value<T> = {
  readonly read: (raw: unknown) => Read<T>;
  readonly fromText: (text: string) => Read<T>;
  /** Formats a value as a text for people, without secrets. */
  readonly show: (value: T) => string;
  readonly expects: string;
  /** Whether the value is a whole table, and not a level of keys. */
  readonly takesTable?: true;
  /** The minimum and maximum of a duration, in milliseconds. */
  readonly rangeMs?: { readonly min: number; readonly max: number };
  /** The input field for the value on a page. Without `form`, no page can change the value. */
  readonly form?: Form;
};

export type Form =
  | { readonly kind: 'switch' }
  | { readonly kind: 'number'; readonly min: number; readonly max: number }
  | { readonly kind: 'choice'; readonly words: readonly string[] }
  /** A field for a duration such as `30m`. If `never` is true, the field also accepts the word "never". */
  | { readonly kind: 'duration'; readonly never: boolean }
  | { readonly kind: 'list' };

export type Read<T> =
  | { readonly kind: 'value'; readonly value: T }
  /**
   * The problems of an invalid value. For a protective setting, `counts` is the value that applies until the problems are fixed.
   * Without `counts`, the value of another layer applies.
   */
  | { readonly kind: 'problems'; readonly problems: readonly Complaint[]; readonly counts?: unknown };

/**
 * A problem of a value. `text` follows the name of the key, and contains the value seen and the allowed values. `at` is the path
 * to a part of the value.
 */
export type Complaint = {
  readonly text: string;
  readonly at?: readonly (string | number)[];
  /** Whether the complaint concerns the name at the end of `at`, and not its value. */
  readonly aboutKey?: true;
};

export const value = <T>(value: T): Read<T> => ({ kind: 'value', value });
export const problem = (text: string, at: readonly (string | number)[] = [], about: 'key' | 'value' = 'value'): Read<never> => ({
  kind: 'problems',
  problems: [{ text, at, ...(about === 'key' ? { aboutKey: true as const } : {}) }],
});
export const refuse = (raw: unknown, expects: string): Read<never> => problem(`is ${seen(raw)}; write ${expects}`);

export function boolean(): Value<boolean> {
  const expects = 'true or false';
  const words: Readonly<Record<string, boolean>> = {
    true: true,
    '1': true,
    yes: true,
    on: true,
    false: false,
    '0': false,
    no: false,
    off: false,
  };
  return {
    read: (raw) => (typeof raw === 'boolean' ? value(raw) : refuse(raw, expects)),
    fromText: (text) => {
      const word = words[text.trim().toLowerCase()];
      return word === undefined ? refuse(text, expects) : value(word);
    },
    show: String,
    expects,
    form: { kind: 'switch' },
  };
}

export function integer(range: { readonly min: number; readonly max: number }): Value<number> {
  const expects = `a whole number from ${range.min} to ${range.max}`;
  const within = (raw: unknown): Read<number> =>
    typeof raw === 'number' && Number.isInteger(raw) && raw >= range.min && raw <= range.max ? value(raw) : refuse(raw, expects);
  return {
    read: within,
    fromText: (text) => (/^[+-]?\d{1,15}$/.test(text.trim()) ? within(Number(text)) : refuse(text, expects)),
    show: String,
    expects,
    form: { kind: 'number', ...range },
  };
}

export function oneOf<const T extends string>(words: readonly T[]): Value<T> {
  const expects = `one of ${words.join(', ')}`;
  const read = (raw: unknown): Read<T> => {
    if (words.includes(raw as T)) return value(raw as T);
    const near = typeof raw === 'string' ? didYouMean(raw, words) : undefined;
    return near === undefined ? refuse(raw, expects) : problem(`is ${seen(raw)}; did you mean "${near}"? Write ${expects}`);
  };
  return { read, fromText: (text) => read(text.trim()), show: (word) => word, expects, form: { kind: 'choice', words } };
}

/** Reads hours of a day, such as `"22:00-07:00"`, as minutes since midnight. */
export function hours(): Value<QuietHours> {
  const expects = 'two times of day such as "22:00-07:00"';
  const read = (raw: unknown): Read<QuietHours> => {
    const [, ...parts] =
      (typeof raw === 'string' && /^([01]?\d|2[0-3]):([0-5]\d)\s*-\s*([01]?\d|2[0-3]):([0-5]\d)$/.exec(raw.trim())) || [];
    const [fromHour = Number.NaN, fromMinute = 0, toHour = Number.NaN, toMinute = 0] = parts.map(Number);
    const [from, to] = [fromHour * 60 + fromMinute, toHour * 60 + toMinute];
    return Number.isNaN(from) || from === to ? refuse(raw, expects) : value({ from, to });
  };
  const time = (minutes: number): string => `${two(Math.floor(minutes / 60))}:${two(minutes % 60)}`;
  return { read, fromText: read, show: ({ from, to }) => `${time(from)}-${time(to)}`, expects };
}

const two = (n: number): string => String(n).padStart(2, '0');

/** Reads a text that is not blank and that `check` accepts. `hide` keeps the text out of messages, because it may be a secret. */
export function text(expects: string, check: (text: string) => boolean = () => true, hide = false): Value<string> {
  const read = (raw: unknown): Read<string> =>
    typeof raw === 'string' && raw.trim() !== '' && check(raw)
      ? value(raw)
      : hide
        ? problem(`has an invalid value; write ${expects}`)
        : refuse(raw, expects);
  return { read, fromText: read, show: (words) => words, expects };
}

/** Reads a list of texts. In a variable or a flag, commas separate the texts. */
export function texts(expects: string, check: (text: string) => string | undefined = () => undefined): Value<readonly string[]> {
  const read = (raw: unknown): Read<readonly string[]> => {
    if (!Array.isArray(raw)) return refuse(raw, expects);
    for (const [i, element] of raw.entries()) {
      if (typeof element !== 'string') return problem(`has ${seen(element)} as element ${i + 1}; write ${expects}`, [i]);
      const wrong = check(element);
      if (wrong !== undefined) return problem(`has ${seen(element)} as element ${i + 1}: ${wrong}`, [i]);
    }
    return value(raw as string[]);
  };
  return {
    read,
    fromText: (line) =>
      read(
        line
          .split(',')
          .map((part) => part.trim())
          .filter((part) => part !== ''),
      ),
    show: (list) => (list.length === 0 ? 'none' : list.map((element) => JSON.stringify(element)).join(', ')),
    expects,
    form: { kind: 'list' },
  };
}

const UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 };

type Range = { readonly min: string; readonly max: string; readonly example?: string };

/** Reads a duration such as `"30m"` or `"1h 30m"`, in milliseconds. */
export function duration(range: Range): Value<number> {
  const value = optionalDuration(range, expected(range), false);
  return { ...value, read: value.read as Value<number>['read'], fromText: value.fromText as Value<number>['fromText'] };
}

/** Reads a duration in milliseconds, or null for `"never"`. */
export const durationOrNever = (range: Range): Value<number | null> =>
  optionalDuration(range, `${expected(range)}, or "never"`, true);

const expected = (range: Range): string =>
  `a duration such as "${range.example ?? '30m'}", from "${range.min}" to "${range.max}"`;

function optionalDuration(range: Range, expects: string, never: boolean): Value<number | null> {
  const min = parseDuration(range.min) ?? 0;
  const max = parseDuration(range.max) ?? Number.POSITIVE_INFINITY;
  const read = (raw: unknown): Read<number | null> => {
    if (never && raw === 'never') return value(null);
    if (typeof raw === 'number') return problem(`is ${raw}, without a unit; write ${expects}`);
    const ms = typeof raw === 'string' ? parseDuration(raw) : undefined;
    return ms === undefined || ms < min || ms > max ? refuse(raw, expects) : value(ms);
  };
  return {
    read,
    fromText: (text) => (/^\d+$/.test(text.trim()) && Number(text) > 0 ? read(Number(text)) : read(text.trim())),
    show: (ms) => (ms === null ? 'never' : formatDuration(ms)),
    expects,
    rangeMs: { min, max },
    form: { kind: 'duration', never },
  };
}

/** Parses a duration, in milliseconds. Returns undefined if the text is not a duration. */
export function parseDuration(text: string): number | undefined {
  const trimmed = text.trim();
  if (trimmed === '0') return 0;
  if (!/^(?:\d{1,9}(?:ms|[smhdw])\s*)+$/.test(trimmed)) return undefined;
  let sum = 0;
  for (const [, number, unit] of trimmed.matchAll(/(\d+)(ms|[smhdw])/g)) sum += Number(number) * (UNITS[unit ?? ''] ?? 0);
  return sum;
}

/** Formats a duration with the units d, h, m, s and ms, and leaves out units of 0: `1m 30s` for 90,000 ms. */
export function formatDuration(ms: number): string {
  if (ms === 0) return '0s';
  const parts: string[] = [];
  let rest = ms;
  for (const unit of ['d', 'h', 'm', 's', 'ms']) {
    const size = UNITS[unit] ?? 1;
    const count = Math.floor(rest / size);
    if (count > 0) parts.push(`${count}${unit}`);
    rest -= count * size;
  }
  return parts.join(' ');
}

/** Reads an address: `project/agent`, `project/agent#conversation`, `project/*`, or the name of an agent of this project. */
export function address(): Value<string> {
  const expects = "an agent's name, project/agent, project/agent#conversation or project/*";
  const good = (text: string): boolean => {
    try {
      parseAddress(text.includes('/') ? text : `project/${text}`);
      return true;
    } catch {
      return false;
    }
  };
  return text(expects, good);
}

export function database(): Value<string> {
  return {
    ...text('the path of a file, such as "earpiece.db", or memory: for a database that ends with its process'),
    show: withoutPassword,
  };
}

export const withoutPassword = (url: string): string => url.replace(/\/\/[^@/]*@/u, '//…@');

export function timeZone(): Value<string> {
  return text('a time zone such as "Europe/Berlin" or "UTC"', (name) => {
    try {
      return Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone !== '';
    } catch {
      return false;
    }
  });
}

/**
 * Reads regular expressions for texts that must not be stored. A list with an invalid pattern still takes effect: the invalid
 * pattern makes redaction remove whole texts.
 */
export function patterns(): Value<readonly string[]> {
  const list = texts(`a list of regular expressions such as ["sk-[A-Za-z0-9]{20,}"]`, (source) => {
    const read = readPattern(source);
    return read.kind === 'problem' ? read.problem : undefined;
  });
  const guarded =
    <R>(read: (raw: R) => Read<readonly string[]>) =>
    (raw: R): Read<readonly string[]> => {
      const one = Array.isArray(raw) && raw.length > MAX_PATTERNS ? tooMany(raw.length) : read(raw);
      if (one.kind === 'value') return one;
      const elements: readonly unknown[] = Array.isArray(raw) ? raw.slice(0, MAX_PATTERNS) : [raw];
      // An element that is not a text counts as an invalid pattern.
      return { ...one, counts: elements.map((element) => (typeof element === 'string' ? element : '(')) };
    };
  return { ...list, read: guarded(list.read), fromText: guarded(list.fromText) };
}

const tooMany = (length: number): Read<never> => problem(`has ${length} elements; write at most ${MAX_PATTERNS}`);
