/** How the command line looks. Colours only on a terminal and never with NO_COLOR; text of others cannot steer the terminal. */
import { styleText } from 'node:util';
import type { Level } from '../core/notification.ts';

type Style = Parameters<typeof styleText>[0];

export const paint = (style: Style, text: string): string => styleText(style, text, { stream: process.stdout });

const LEVEL_STYLE: Readonly<Record<Level, { sign: string; style: Style }>> = {
  info: { sign: '○', style: 'blue' },
  warning: { sign: '△', style: 'yellow' },
  error: { sign: '▲', style: 'red' },
  critical: { sign: '■', style: ['red', 'bold'] },
};

/** A level by shape and word, not only by colour. */
export const level = (of: Level): string => paint(LEVEL_STYLE[of].style, `${LEVEL_STYLE[of].sign} ${of}`);

/** Makes foreign text safe and one line: control, bidi and zero-width characters become visible. */
export function plain(text: string, max = Number.POSITIVE_INFINITY): string {
  const line = text
    .slice(0, Math.min(max * 2, 100_000))
    .replaceAll(/\s*\r?\n\s*/g, ' ⏎ ')
    // oxlint-disable-next-line no-control-regex -- these are what is taken out
    .replaceAll(/[\u0000-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2066-\u2069\ufeff]/g, '�');
  const points = [...line];
  return points.length > max ? `${points.slice(0, max - 1).join('')}…` : line;
}

export const clock = (at: number): string => new Date(at).toLocaleTimeString(undefined, { hour12: false });

export function ago(at: number, now: number): string {
  const s = Math.max(0, Math.round((now - at) / 1000));
  if (s < 60) return `${s} s ago`;
  if (s < 3600) return `${Math.round(s / 60)} min ago`;
  if (s < 86_400) return `${Math.round(s / 3600)} h ago`;
  return `${Math.round(s / 86_400)} d ago`;
}

/** Aligned columns; the last one takes what is left of the terminal's width. Cells may be painted. */
export function table(rows: readonly (readonly string[])[], head?: readonly string[]): string {
  const all = head ? [head.map((cell) => paint('dim', cell)), ...rows] : rows;
  const widths: number[] = [];
  for (const row of all) row.forEach((cell, i) => (widths[i] = Math.max(widths[i] ?? 0, width(cell))));
  return all
    .map((row) =>
      row
        .map((cell, i) => (i === row.length - 1 ? cell : cell + ' '.repeat((widths[i] ?? 0) - width(cell))))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

export const columns = (): number => process.stdout.columns ?? 100;

// oxlint-disable-next-line no-control-regex -- escape sequences have no width
const width = (cell: string): number => [...cell.replaceAll(/\u001b\[[0-9;]*m/g, '')].length;

export function print(text: string): void {
  process.stdout.write(text.endsWith('\n') ? text : `${text}\n`);
}
export const printJson = (value: unknown): void => print(JSON.stringify(value));
export function complain(text: string): void {
  process.stderr.write(`earpiece: ${text}\n`);
}
