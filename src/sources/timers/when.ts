/** Parses the time of a reminder, in a person's words and time zone. */
import type { ParsedResult } from 'chrono-node';
import { EarpieceError } from '../../core/errors.ts';

/** The time of a reminder: `at` in milliseconds since the epoch, or `afterTurns` turns later. */
export type When = { readonly at: number } | { readonly afterTurns: number };

export type Here = {
  /** The current time in epoch ms. */
  readonly now: number;
  /** The IANA name of the time zone in which `at 9` is nine o'clock. */
  readonly timeZone: string;
};

const YEAR_MS = 366 * 86_400_000;
const MAX_TURNS = 1_000;
/** The maximum number of characters of the input. Valid times are shorter. */
const MAX_CHARS = 200;
const FORMS = 'write e.g. "in 10m", "at 15:30", "tomorrow at 9", "May 1 at 10:00" or "after 3 turns"';

/**
 * Parses a time. Throws `bad_argument` for a time that has passed or is more than a year away, and for a text that is not fully
 * understood. A reminder at the wrong time is worse than no reminder.
 */
export async function parseWhen(text: string, there: Here): Promise<When> {
  const refuse = (why: string): never => {
    throw new EarpieceError('bad_argument', `the time ${JSON.stringify(text.slice(0, 80))} ${why}`);
  };
  const [, turns] = /^\s*(?:after|in)\s+(\d{1,9})\s+turns?\s*$/iu.exec(text) ?? [];
  if (turns !== undefined) {
    const afterTurns = Number(turns);
    if (afterTurns < 1 || afterTurns > MAX_TURNS) return refuse(`must be 1 to ${MAX_TURNS} turns, got ${turns}`);
    return { afterTurns };
  }
  const [words, here] = elsewhere(text, there);
  const found = text.length > MAX_CHARS ? undefined : await read(words, here);
  if (found === undefined) return refuse(`is not understood; ${FORMS}`);
  if (found.end) return refuse(`is a span from one time to another; for a single time, ${FORMS}`);
  const at = instantOf(found.start, here.timeZone);
  if (at <= here.now) return refuse(`has passed (${showTime(at, here.timeZone)}); ${FORMS}`);
  if (at - here.now > YEAR_MS)
    return refuse(`is more than a year away (${showTime(at, here.timeZone)}); write a time within a year`);
  return { at };
}

/**
 * Checks a time from a program. Throws `bad_argument` for a time that has passed or is more than a year away, and for an invalid
 * number of turns.
 */
export function checkWhen(when: When | { readonly inMs: number }, now: number): void {
  const refuse = (why: string): never => {
    throw new EarpieceError('bad_argument', `remind: when ${JSON.stringify(when)} ${why}`, { data: { field: 'when' } });
  };
  if ('afterTurns' in when) {
    const { afterTurns } = when;
    if (!Number.isInteger(afterTurns) || afterTurns < 1 || afterTurns > MAX_TURNS)
      refuse(`must be a whole number of turns from 1 to ${MAX_TURNS}`);
    return;
  }
  const inMs = 'inMs' in when ? when.inMs : when.at - now;
  if (!(inMs > 0)) refuse('has passed; write a future time');
  if (inMs > YEAR_MS) refuse('is more than a year away; write a time within a year');
}

/** Formats a time in a time zone, such as `Fri 2026-05-01 10:00`. */
export function showTime(at: number, timeZone: string): string {
  const parts = partsOf(at, timeZone);
  const weekday = new Intl.DateTimeFormat('en', { timeZone, weekday: 'short' }).format(at);
  const two = (n: number): string => String(n).padStart(2, '0');
  const seconds = parts.second === 0 ? '' : `:${two(parts.second)}`;
  return `${weekday} ${parts.year}-${two(parts.month)}-${two(parts.day)} ${two(parts.hour)}:${two(parts.minute)}${seconds}`;
}

/** Separates the time zone from the time, as in `at 15:30 Europe/Berlin`. */
function elsewhere(text: string, here: Here): readonly [string, Here] {
  const [, words = '', timeZone = ''] = /^(.*\S)\s+\(?([A-Za-z_]+(?:\/[A-Za-z0-9_+-]+)+)\)?\s*$/u.exec(text) ?? [];
  try {
    return [words, { ...here, timeZone: new Intl.DateTimeFormat('en', { timeZone }).resolvedOptions().timeZone }];
  } catch {
    return [text, here];
  }
}

async function read(text: string, { now, timeZone }: Here): Promise<ParsedResult | undefined> {
  // This large module is loaded only here, so that other commands start faster.
  const { casual } = await import('chrono-node/en');
  const reference = { instant: new Date(now), timezone: offsetOf(now, timeZone) / 60_000 };
  const [found, ...more] = casual.parse(text, reference, { forwardDate: true });
  if (found === undefined || more.length > 0) return undefined;
  const around = `${text.slice(0, found.index)} ${text.slice(found.index + found.text.length)}`;
  return /^\s*(?:at|on|by)?\s*$/iu.test(around) ? found : undefined;
}

/**
 * Returns the instant of a parsed time. A time with a zone, or a time from now such as "in 10m", is already an instant. Any other
 * time is a wall-clock time: "tomorrow at 9" means nine o'clock even if the clocks change tonight.
 */
function instantOf(start: ParsedResult['start'], timeZone: string): number {
  const fromNow = start.tags().has('result/relativeDate');
  const instant = start.tags().has('result/relativeDateAndTime') || (start.isCertain('timezoneOffset') && !fromNow);
  if (instant) return start.date().getTime();
  const get = (part: 'year' | 'month' | 'day' | 'hour' | 'minute' | 'second'): number => start.get(part) ?? 0;
  const wall = Date.UTC(get('year'), get('month') - 1, get('day'), get('hour'), get('minute'), get('second'));
  // The offset depends on the instant. A clock change may be between the first guess and the result, so the offset is read again.
  const guess = wall - offsetOf(wall, timeZone);
  return wall - offsetOf(guess, timeZone);
}

/** Returns the difference between a zone's clocks and UTC, in ms. */
function offsetOf(at: number, timeZone: string): number {
  const { year, month, day, hour, minute, second } = partsOf(at, timeZone);
  return Date.UTC(year, month - 1, day, hour, minute, second) - Math.floor(at / 1_000) * 1_000;
}

type Parts = Record<'year' | 'month' | 'day' | 'hour' | 'minute' | 'second', number>;

function partsOf(at: number, timeZone: string): Parts {
  const numeric = 'numeric' as const;
  const format = new Intl.DateTimeFormat('en', {
    timeZone,
    hourCycle: 'h23',
    year: numeric,
    month: numeric,
    day: numeric,
    hour: numeric,
    minute: numeric,
    second: numeric,
  });
  return Object.fromEntries(format.formatToParts(at).map(({ type, value }) => [type, Number(value)])) as Parts;
}
