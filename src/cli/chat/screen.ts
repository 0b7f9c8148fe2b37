/**
 * The terminal as a scroll of finished rows with a few living ones below. Finished rows are written once and belong to the
 * terminal then, its scrollback included; the living ones are drawn anew with each change, in one write.
 */
import { widthOf } from '../table.ts';

export type Output = {
  readonly columns: number;
  readonly rows: number;
  write(text: string): unknown;
};

/** `cursor` is a place in `rows`, from 0; without it the cursor is hidden. */
export type Living = { readonly rows: readonly string[]; readonly cursor?: { readonly row: number; readonly column: number } };

const HIDE = '\u001b[?25l';
const SHOW = '\u001b[?25h';
/** Between these a terminal that knows them shows nothing of what is half drawn. */
const HOLD = '\u001b[?2026h';
const LET_GO = '\u001b[?2026l';

export class Screen {
  readonly #out: Output;
  #living: Living = { rows: [] };
  /** The living rows as they stand on the terminal, and where its cursor is among them. */
  #drawn: readonly string[] = [];
  #at = 0;
  #over = false;

  constructor(out: Output) {
    this.#out = out;
  }

  /** One less than there are: a full row would make some terminals wrap it. */
  get width(): number {
    return Math.max(20, this.#out.columns - 1);
  }

  get height(): number {
    return Math.max(4, this.#out.rows);
  }

  print(rows: readonly string[]): void {
    if (rows.length > 0) this.#draw(rows);
  }

  /** Changes nothing when nothing changed. */
  live(living: Living): void {
    const same =
      living.rows.length === this.#living.rows.length &&
      living.rows.every((row, i) => row === this.#living.rows[i]) &&
      living.cursor?.row === this.#living.cursor?.row &&
      living.cursor?.column === this.#living.cursor?.column;
    this.#living = living;
    if (!same) this.#draw([]);
  }

  /** The terminal has another size: what stands there may be broken into more rows now. */
  resized(): void {
    const { columns } = this.#out;
    const tall = (rows: readonly string[]): number =>
      rows.reduce((sum, row) => sum + Math.max(1, Math.ceil(widthOf(row) / columns)), 0);
    this.#at = Math.max(0, tall(this.#drawn.slice(0, this.#at + 1)) - 1);
    this.#draw([]);
  }

  /** Draws all of it anew on an empty terminal. */
  clear(): void {
    this.#out.write('\u001b[2J\u001b[H');
    this.#drawn = [];
    this.#at = 0;
    this.#draw([]);
  }

  /** The living rows go; the cursor stands below what was printed. */
  end(): void {
    if (this.#over) return;
    this.#living = { rows: [] };
    this.#draw([]);
    this.#over = true;
    this.#out.write(SHOW);
  }

  #draw(finished: readonly string[]): void {
    if (this.#over) return;
    const { rows, cursor } = this.#living;
    // More than the terminal has would scroll away and could not be drawn anew: the last ones count.
    const cut = Math.max(0, rows.length - (this.height - 1));
    const shown = rows.slice(cut);
    const up = this.#at > 0 ? `\u001b[${this.#at}A` : '';
    const end = shown.length - 1;
    this.#at = Math.max(0, cursor === undefined ? end : Math.min(end, cursor.row - cut));
    const back = end - this.#at > 0 ? `\u001b[${end - this.#at}A` : '';
    const column = cursor === undefined ? '' : `\r${cursor.column > 0 ? `\u001b[${cursor.column}C` : ''}${SHOW}`;
    this.#drawn = shown;
    this.#out.write(
      `${HOLD}${HIDE}\r${up}\u001b[J${finished.map((row) => `${row}\r\n`).join('')}${shown.join('\r\n')}${back}${column}${LET_GO}`,
    );
  }
}
