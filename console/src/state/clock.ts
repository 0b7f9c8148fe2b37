/** Estimates the server's time, and formats times. */
import { Cell, useCell } from './cell.ts';
import type { TimeWords } from '../../../src/wire/client/index.ts';
import { useEffect, useState } from 'react';

let skewMs = 0;
const tick = new Cell(Date.now());
let lookers = 0;
let timer: ReturnType<typeof setInterval> | undefined;

export function serverSaid(now: number): void {
  skewMs = now - Date.now();
  tick.set(now);
}

export const serverNow = (): number => Date.now() + skewMs;

/** Returns the server's time, and renders the component again each second. */
export function useNow(): number {
  useEffect(() => {
    if (lookers++ === 0) timer = setInterval(() => tick.set(serverNow()), 1_000);
    return () => {
      if (--lookers === 0) clearInterval(timer);
    };
  }, []);
  return Math.max(useCell(tick), serverNow() - 1_000);
}

/** Returns the server's time, and renders the component again when that time reaches `moment`, within the next 24 days. */
export function useNowAt(moment: number): number {
  const [, again] = useState(0);
  useEffect(() => {
    const left = moment - serverNow();
    if (left < 0 || left > MAX_TIMER_MS) return;
    const at = setTimeout(() => again((n) => n + 1), left + 1);
    return () => clearTimeout(at);
  }, [moment]);
  return serverNow();
}
const MAX_TIMER_MS = 2 ** 31 - 2;

/** Returns the formats of the times in a verdict. */
export const timeWords = (now: number): TimeWords => ({
  now,
  clock: (at) => whenSays(at, now),
  span,
});

/** Formats a duration: `40 ms`, `4.2 s`, `3 min`, `2 h`, `5 d`. Seconds are never rounded up, as in a running time. */
export function span(ms: number): string {
  const s = Math.max(0, ms) / 1_000;
  if (s < 0.1) return `${Math.round(s * 1_000)} ms`;
  if (s < 10) return `${(Math.floor(s * 10) / 10).toFixed(1)} s`;
  if (s < 90) return `${Math.floor(s)} s`;
  if (s < 90 * 60) return `${Math.round(s / 60)} min`;
  if (s < 36 * 3_600) return `${Math.round(s / 3_600)} h`;
  return `${Math.round(s / 86_400)} d`;
}

/** Formats a running time: below 90 s in whole seconds, and otherwise like `span`. */
export const lasting = (ms: number): string => {
  const s = Math.max(0, Math.floor(ms / 1_000));
  return s < 90 ? `${s} s` : span(ms);
};

export const ago = (at: number, now: number): string => (now - at < 5_000 ? 'just now' : `${lasting(now - at)} ago`);

const TIME = new Intl.DateTimeFormat('en-GB', {
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
  fractionalSecondDigits: 3,
});
const SECOND = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit', second: '2-digit' });
const MINUTE = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit' });
const DAY = new Intl.DateTimeFormat('en-GB', { year: 'numeric', month: 'short', day: 'numeric' });

export const exactTime = (at: number): string => TIME.format(at);
export const secondTime = (at: number): string => SECOND.format(at);
export const minuteTime = (at: number): string => MINUTE.format(at);
export const day = (at: number): string => DAY.format(at);
/** Formats a time as `14:00`, with the day if it is not today. */
export const whenSays = (at: number, now: number): string =>
  day(at) === day(now) ? minuteTime(at) : `${day(at)}, ${minuteTime(at)}`;
/** Replaces the times of the log in a text, such as `2026-11-28T17:45:39.176Z`, by times as this page shows them. */
export const localTimes = (text: string): string =>
  text.replaceAll(/\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z/gu, (utc) => exact(Date.parse(utc)));
export const exact = (at: number): string => `${DAY.format(at)}, ${TIME.format(at)}`;
