/**
 * Parses and formats periods in the browser's time zone and in whole minutes. "to 10:32" includes all events that
 * the page shows with 10:32. A period from a chart may need seconds or milliseconds, which the fields and the page then show.
 */
import { day, exact, minuteTime, secondTime } from './clock.ts';

/** A period in epoch ms. `until` is exclusive. */
export type Times = { readonly from: number | null; readonly until: number | null };
/** The values of the fields, such as `2026-11-22T10:00`. An empty text means no limit. */
export type TypedTimes = { readonly from: string; readonly until: string };

export const typedOf = ({ from, until }: Times): TypedTimes => ({
  from: from === null ? '' : typed(from),
  until: until === null ? '' : typed(lastOf(until)),
});

/** Reads the fields. An unchanged field keeps its exact time. */
export function timesIn(now: TypedTimes, before: Times): Times {
  const was = typedOf(before);
  return {
    from: now.from === was.from ? before.from : msOf(now.from),
    until: now.until === was.until ? before.until : endOf(now.until),
  };
}

/** Describes the period with the precision of the fields. Days other than today are named. */
export function spanSays({ from, until }: Times, now: number): string {
  if (from === null) return until === null ? 'at any time' : `until ${said(lastOf(until), now)}`;
  return until === null ? `since ${said(from, now)}` : `from ${said(from, now)} to ${said(lastOf(until), now)}`;
}

const MINUTE = 60_000;
const UNITS = [MINUTE, 1_000, 1] as const;
/** Returns the largest unit that divides the time without a remainder. */
const unitOf = (at: number): number => UNITS.find((unit) => at % unit === 0) ?? 1;

/** Returns the start of the last minute, second or millisecond of a period that ends at `until`. */
const lastOf = (until: number): number => Math.max(0, until - unitOf(until));

/** Returns the end of the typed minute, second or millisecond. */
function endOf(text: string): number | null {
  const at = msOf(text);
  if (at === null) return null;
  return at + (/T\d\d:\d\d$/u.test(text) ? MINUTE : /\.\d+$/u.test(text) ? 1 : 1_000);
}

function typed(at: number): string {
  const date = new Date(at);
  if (Number.isNaN(date.getTime())) return '';
  const two = (n: number, digits = 2): string => String(n).padStart(digits, '0');
  const unit = unitOf(at);
  const seconds =
    unit === MINUTE ? '' : `:${two(date.getSeconds())}${unit === 1_000 ? '' : `.${two(date.getMilliseconds(), 3)}`}`;
  return `${two(date.getFullYear(), 4)}-${two(date.getMonth() + 1)}-${two(date.getDate())}T${two(date.getHours())}:${two(date.getMinutes())}${seconds}`;
}

function msOf(text: string): number | null {
  const at = new Date(text).getTime();
  return text === '' || Number.isNaN(at) ? null : Math.max(0, at);
}

function said(at: number, now: number): string {
  const unit = unitOf(at);
  if (unit === 1) return exact(at);
  const time = unit === MINUTE ? minuteTime(at) : secondTime(at);
  return day(at) === day(now) ? time : `${day(at)}, ${time}`;
}
