/**
 * Lays out the terminal: two columns if the terminal is wide enough, otherwise a single column. The model's text has a bar on its
 * left. Waiting notifications are hollow, and delivered notifications are solid.
 */
import { stripVTControlCharacters } from 'node:util';
import { paint } from '../../src/cli/terminal.ts';

export type Style = Parameters<typeof paint>[0];

/** Text that is wrapped if it is too long. `sign` precedes its first line, and `bar` all its lines. Both may be coloured. */
export type Line = { readonly text: string; readonly style?: Style; readonly sign?: string; readonly bar?: string };

export type Column = 'world' | 'model';

const TITLES: Readonly<Record<Column, string>> = { world: 'what happens', model: 'what the model reads' };
const WIDE = 100;
const TIME = 8;
/** The indentation of the lines after a first line with `sign`. */
const HANG = 2;

export class Page {
  readonly width: number;
  readonly #write: (text: string) => void;

  constructor(width: number, write: (text: string) => void) {
    this.width = Math.max(40, Math.min(width, 140));
    this.#write = write;
  }

  /** Prints the heads of the columns. */
  begin(): void {
    if (!this.#wide) return;
    const [left, right] = this.#widths;
    this.#write(
      `\n${' '.repeat(TIME)}${paint('bold', TITLES.world.padEnd(left))} ${paint('dim', '│')} ${paint('bold', TITLES.model)}\n` +
        `${paint('dim', `${'─'.repeat(TIME + left)}─┼${'─'.repeat(right + 1)}`)}\n`,
    );
  }

  /** The number of seconds since this process was started. */
  get seconds(): number {
    return performance.now() / 1000;
  }

  /** Prints an event in its column, with the present time. */
  row(column: Column, lines: readonly Line[]): void {
    const time = `${this.seconds.toFixed(1)} s`.padStart(TIME - 2);
    if (!this.#wide) {
      const bar = column === 'model' ? paint('dim', '│ ') : '  ';
      const all = wrapAll(lines, this.width - 2);
      this.#write(
        `\n${paint('dim', `${time.trimStart()} · ${TITLES[column]}`)}\n${all.map((line) => `${bar}${line.painted}\n`).join('')}`,
      );
      return;
    }
    const [left, right] = this.#widths;
    const all = wrapAll(lines, column === 'world' ? left : right);
    const bar = paint('dim', '│');
    const rows = all.map(({ painted, width }, i) => {
      const before = i === 0 ? paint('dim', time) + '  ' : ' '.repeat(TIME);
      return column === 'world'
        ? `${before}${painted}${' '.repeat(left - width)} ${bar}`
        : `${before}${' '.repeat(left)} ${bar} ${painted}`;
    });
    this.#write(`${rows.join('\n')}\n${' '.repeat(TIME + left)} ${bar}\n`);
  }

  /** Prints lines across the whole width. */
  text(...lines: readonly (Line | string)[]): void {
    const all = wrapAll(
      lines.map((line) => (typeof line === 'string' ? { text: line } : line)),
      Math.min(this.width, 118),
    );
    this.#write(all.map(({ painted }) => `${painted}\n`).join(''));
  }

  /**
   * The environment for a command whose output is shown here: with the same width, and with colours if this terminal has them.
   */
  get env(): Readonly<Record<string, string>> {
    const coloured = paint('bold', '.') !== '.';
    return { COLUMNS: String(this.width), ...(coloured ? { FORCE_COLOR: '1' } : { NO_COLOR: '1' }) };
  }

  /**
   * Prints the output of a command, with its own colours. A sentence that is too long for a line is wrapped, and a row is cut.
   */
  printed(output: string): void {
    for (const line of output.split('\n'))
      if (IS_SENTENCE.test(line)) this.text(line);
      else this.#write(`${clip(line, this.width)}\n`);
  }

  get #wide(): boolean {
    return this.width >= WIDE;
  }

  get #widths(): readonly [number, number] {
    const room = this.width - TIME - 3;
    const left = Math.floor(room * 0.44);
    return [left, room - left];
  }
}

/** Matches a sentence without colours, which begins in the first column and ends with a full stop. */
const IS_SENTENCE = /^[A-Z][\P{Cc}]*\.$/u;

type Wrapped = { readonly painted: string; readonly width: number };

const wrapAll = (lines: readonly Line[], width: number): Wrapped[] => lines.flatMap((line) => wrapped(line, width));

function wrapped({ text, style, sign = '', bar = '' }: Line, width: number): Wrapped[] {
  const hang = ' '.repeat(Math.min(HANG, length(sign)));
  return wrap(text, width - length(bar) - length(hang), length(sign) - length(hang)).map((piece, i) => {
    const before = bar + (i === 0 ? sign : hang);
    return {
      painted: before + (style === undefined || piece === '' ? piece : paint(style, piece)),
      width: length(before) + length(piece),
    };
  });
}

/**
 * Wraps a text at spaces and after commas, and inside words that are longer than a line. The following lines are indented like
 * the first line, which is shorter by `less`.
 */
export function wrap(text: string, width: number, less = 0): string[] {
  const pieces: string[] = [];
  for (const line of text.split('\n')) {
    const indent = Array<string>(Math.min(line.search(/[^ ]|$/), Math.floor(width / 2))).fill(' ');
    let rest = [...indent, ...line.trimStart()];
    for (;;) {
      const room = pieces.length === 0 ? width - less : width;
      if (rest.length <= room) break;
      const at = breakIn(rest, indent.length, room);
      pieces.push(rest.slice(0, at).join('').trimEnd());
      rest = [...indent, ...rest.slice(rest[at] === ' ' ? at + 1 : at)];
    }
    pieces.push(rest.join(''));
  }
  return pieces;
}

function breakIn(line: readonly string[], from: number, room: number): number {
  for (let at = room; at > from; at--) if (line[at] === ' ' || line[at - 1] === ',') return at;
  return Math.max(room, from + 1);
}

function clip(line: string, width: number): string {
  if (length(line) <= width) return line;
  let seen = 0;
  let kept = '';
  // oxlint-disable-next-line no-control-regex -- colours stay, and have no width
  for (const [part] of line.matchAll(/\u001b\[[\d;]*m|./gu)) {
    if (part.startsWith('\u001b')) kept += part;
    else if (++seen < width) kept += part;
    else if (seen === width) kept += '…';
  }
  return kept;
}

/** Returns the length of a text without its colours. */
const length = (text: string): number => [...stripVTControlCharacters(text)].length;
