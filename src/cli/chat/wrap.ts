/** Text as rows of a terminal. What comes in may be anybody's; what comes out cannot steer the terminal. */
import { widthOf } from '../table.ts';
import { plain } from '../terminal.ts';

const TAB = '    ';
const SEGMENTS = new Intl.Segmenter(undefined, { granularity: 'grapheme' });

/** One line of foreign text, made safe; tabs become spaces, other control characters visible. */
export const safe = (line: string): string => plain(line.replaceAll('\r', '').replaceAll('\t', TAB));

/** Broken at spaces, and inside words that are longer than a row. `line` has no line end and is safe; the indent of its first row stays. */
export function wrap(line: string, width: number): string[] {
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
    // The spaces at a break are the break.
    const blank = token.startsWith(' ');
    if (row !== '' || blank) close();
    if (blank) continue;
    for (const { segment } of SEGMENTS.segment(token)) {
      const one = widthOf(segment);
      if (used + one > width && used > 0) close();
      row += segment;
      used += one;
    }
  }
  rows.push(row);
  return rows;
}

/** Foreign text of several lines, safe and wrapped; the first row stands behind `first`, the others behind `rest`. */
export function wrapAll(text: string, width: number, first = '', rest: string = first): string[] {
  const room = Math.max(10, width - Math.max(widthOf(first), widthOf(rest)));
  return text
    .replace(/\n+$/u, '')
    .split('\n')
    .flatMap((line) => wrap(safe(line), room))
    .map((row, i) => `${i === 0 ? first : rest}${row}`.trimEnd());
}

/**
 * Text that comes in pieces. A row that is full is finished and never changes again; the last one may still grow, and its
 * last word may still move to a row of its own.
 */
export class Flow {
  #open = '';
  /** Half a character whose other half comes with the next piece. */
  #half = '';

  /** The rows that this piece finished. */
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

  /** The row that is not finished. */
  get open(): string {
    return this.#open;
  }

  /** The last row, when the text is over; none when it ended with a line end. */
  end(): string[] {
    const last = this.#open.trimEnd();
    this.#open = '';
    this.#half = '';
    return last === '' ? [] : [last];
  }
}
