/** Wraps text into rows of a terminal. The input may be untrusted, but the output cannot control the terminal. */
import { segmentsOf, widthOf } from '../table.ts';
import { plain } from '../terminal.ts';

const TAB = '    ';

/**
 * Makes one line of untrusted text safe: tabs become spaces, carriage returns are removed, and other control characters become
 * visible.
 */
export const safe = (line: string): string => plain(line.replaceAll('\r', '').replaceAll('\t', TAB));

/**
 * Wraps at spaces, and inside words that are longer than a row. `line` must be safe and without a line end. The first row keeps
 * its indentation.
 */
export function wrap(line: string, width: number): string[] {
  if (width === Number.POSITIVE_INFINITY) return [line];
  const rows: string[] = [];
  let row = '';
  let used = 0;
  const close = (): void => {
    rows.push(row.trimEnd());
    row = '';
    used = 0;
  };
  for (const token of line.split(/( +)/u)) {
    const wide = widthOf(token);
    if (used + wide <= width) {
      row += token;
      used += wide;
      continue;
    }
    // Spaces at the end of a row are dropped.
    const blank = token.startsWith(' ');
    if (row !== '' || blank) close();
    if (blank) continue;
    for (const { segment } of segmentsOf(token)) {
      const one = widthOf(segment);
      if (used + one > width && used > 0) close();
      row += segment;
      used += one;
    }
  }
  rows.push(row);
  return rows;
}

/**
 * Makes untrusted text of several lines safe, and wraps it. `first` precedes the first row, and `rest` precedes the other rows.
 */
export function wrapAll(text: string, width: number, first = '', rest: string = first): string[] {
  const room = Math.max(10, width - Math.max(widthOf(first), widthOf(rest)));
  return text
    .replace(/\n+$/u, '')
    .split('\n')
    .flatMap((line) => wrap(safe(line), room))
    .map((row, i) => `${i === 0 ? first : rest}${row}`.trimEnd());
}

/**
 * Wraps text that arrives in pieces. A full row is finished and never changes. The last row may still grow, and its last word
 * may still move to the next row.
 */
export class Flow {
  #open = '';
  /** The first half of a character whose second half arrives with the next piece. */
  #half = '';

  /** Adds a piece, and returns the rows that are finished now. */
  add(piece: string, width: number): string[] {
    const text = this.#half + piece;
    const whole = /[\ud800-\udbff]$/u.test(text) ? text.slice(0, -1) : text;
    this.#half = text.slice(whole.length);
    const lines = whole.split('\n');
    const finished: string[] = [];
    for (const [i, line] of lines.entries()) {
      const rows = wrap(this.#open + safe(line), width);
      this.#open = rows.pop() ?? '';
      finished.push(...rows);
      if (i === lines.length - 1) break;
      finished.push(this.#open.trimEnd());
      this.#open = '';
    }
    return finished;
  }

  /** The unfinished row. */
  get open(): string {
    return this.#open;
  }

  /** Ends the text, and returns its last row; returns no row if the text ended with a line end. */
  end(): string[] {
    const last = this.#open.trimEnd();
    this.#open = '';
    this.#half = '';
    return last === '' ? [] : [last];
  }
}
