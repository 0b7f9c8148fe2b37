/**
 * Formats the output of the command line. Colours usually appear only on a terminal, and not with NO_COLOR. Untrusted text cannot
 * control the terminal.
 */
import type { styleText } from 'node:util';
import { spelledOut } from '../core/blank.ts';
import type { Level } from '../core/notification.ts';
import { joinsEmoji, shapesLetter } from '../core/joiners.ts';

type Style = Parameters<typeof styleText>[0];

/** Colours a text. `styleText` is taken from `process`, because an import of `node:util` costs each start 4 ms and 2 MB. */
export const paint = (style: Style, text: string): string =>
  process.getBuiltinModule('node:util').styleText(style, text, { stream: process.stdout });

const LEVEL_STYLE: Readonly<Record<Level, { sign: string; style: Style }>> = {
  info: { sign: '○', style: 'blue' },
  warning: { sign: '△', style: 'yellow' },
  error: { sign: '▲', style: 'red' },
  critical: { sign: '■', style: ['red', 'bold'] },
};

/** Shows a level by shape and word, not only by colour. */
export const level = (of: Level): string => paint(LEVEL_STYLE[of].style, `${LEVEL_STYLE[of].sign} ${of}`);

const UNSAFE =
  // oxlint-disable-next-line no-control-regex -- these characters are replaced
  /[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\ud800-\udfff\u{e0000}-\u{e007f}]/gu;

/** Replaces each unsafe character, except the joiners of emoji and of scripts that need them. */
const withoutUnsafe = (text: string, by: (sign: string) => string): string =>
  text.replaceAll(UNSAFE, (sign, at: number) => (joinsEmoji(text, at) || shapesLetter(text, at) ? sign : by(sign)));

/**
 * Makes one safe line of untrusted text, with at most `max` characters: control, bidi and zero-width characters become visible.
 */
export function plain(text: string, max = 100_000): string {
  const line = withoutUnsafe(text.slice(0, max * 2).replaceAll(/\s*\r?\n\s*/g, ' ⏎ '), () => '�');
  const points = [...line];
  return points.length > max ? `${points.slice(0, max - 1).join('')}…` : line;
}

/**
 * Makes a name or an id one safe part of a row. Each blank, invisible character, bar, square and comma is spelled out, so the name
 * cannot look like other parts of a row.
 */
export const nameOf = (name: string, max = 400): string => plain(spelledOut(name.slice(0, max * 2)), max);

/** Formats a time in local time: only the time of day if it is today, otherwise with the date. */
export function clock(at: number, now: number = Date.now()): string {
  const [then, today] = [new Date(at), new Date(now)];
  const two = (n: number): string => String(n).padStart(2, '0');
  const time = `${two(then.getHours())}:${two(then.getMinutes())}:${two(then.getSeconds())}`;
  if (then.toDateString() === today.toDateString()) return time;
  return `${then.getFullYear()}-${two(then.getMonth() + 1)}-${two(then.getDate())} ${time}`;
}

export function ago(at: number, now: number): string {
  const s = Math.max(0, Math.round((now - at) / 1000));
  if (s < 60) return `${s} s ago`;
  if (s < 3600) return `${Math.round(s / 60)} min ago`;
  if (s < 86_400) return `${Math.round(s / 3600)} h ago`;
  return `${Math.round(s / 86_400)} d ago`;
}

/**
 * Returns the width of the terminal, or the value of COLUMNS. Without both, returns Infinity, because output to a pipe or a file
 * is not cut.
 */
export function columns(): number {
  if (process.stdout.columns) return process.stdout.columns;
  const told = Number(process.env['COLUMNS']);
  return Number.isInteger(told) && told >= 20 ? told : Number.POSITIVE_INFINITY;
}

export function print(text: string): void {
  process.stdout.write(text.endsWith('\n') ? text : `${text}\n`);
}

export const printJson = (value: unknown): void => print(JSON.stringify(value));

/** Writes a problem to stderr. Control characters, except line breaks, are spelled out. */
export function complain(text: string): void {
  const safe = withoutUnsafe(text, (char) => (char === '\n' ? char : `\\u{${(char.codePointAt(0) ?? 0).toString(16)}}`));
  process.stderr.write(`earpiece: ${safe}\n`);
}

/**
 * Writes a text that counts as delivered only when stdout has accepted the text. Resolves with the error, if any, which the
 * caller reports.
 */
export async function handOver(text: string): Promise<NodeJS.ErrnoException | undefined> {
  if (text === '') return undefined;
  // This listener is never removed, because the stream emits the error only after it has called the callback.
  process.stdout.on('error', () => {});
  return new Promise((resolve) => {
    process.stdout.write(text.endsWith('\n') ? text : `${text}\n`, (error) => resolve(error ?? undefined));
  });
}

/**
 * Handles errors of stdout. If the reader closes early (`earpiece log | head`), the process ends without an error. A full disk
 * after `>` is an error. Other code that listens for errors of stdout handles these errors itself. If that code throws the error,
 * `run` handles it in the same way.
 */
export function endWithReaders(code: () => number, failed: number): void {
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    failure = error;
    if (process.stdout.listenerCount('error') > 1) return;
    if (error.code === 'EPIPE') process.exit(code());
    complain(unwritten(error));
    process.exit(failed);
  });
  // Stderr is broken, so nothing can be reported.
  process.stderr.on('error', () => {});
}

/**
 * The error with which stdout failed. The error is kept here, because Node sets `process.stdout.errored` to null again at once.
 */
let failure: NodeJS.ErrnoException | undefined;

/** Whether `error` is the error with which stdout failed. */
export const lost = (error: unknown): error is NodeJS.ErrnoException => error !== undefined && error === failure;

export const unwritten = (error: NodeJS.ErrnoException): string =>
  `the output could not be written (${error.code ?? error.message})`;
