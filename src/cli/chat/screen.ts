/**
 * Draws on the terminal: printed rows that scroll, with a few live rows below. Printed rows are written once and never change.
 * Live rows are redrawn at each change, in one write.
 */
import { widthOf } from '../table.ts';

export type Output = {
  readonly columns: number;
  readonly rows: number;
  write(text: string): unknown;
};

/** Rows to draw. `cursor` is a position in `rows`, from 0; without a position, the cursor is hidden. */
export type Living = { readonly rows: readonly string[]; readonly cursor?: { readonly row: number; readonly column: number } };

const HIDE = '\u001b[?25l';
const SHOW = '\u001b[?25h';
/** Between these two sequences, a terminal that supports the sequences keeps showing its previous content. */
const HOLD = '\u001b[?2026h';
const LET_GO = '\u001b[?2026l';

export class Screen {
  readonly #out: Output;
  /** Returns the rows to draw. The screen calls this function at each draw, so that printed and live rows always match. */
  readonly #ask: () => Living;
  #living: Living = { rows: [] };
  /** The live rows on the terminal. `#at` is the cursor's row among these rows. */
  #drawn: readonly string[] = [];
  #at = 0;
  #over = true;

  constructor(out: Output, living: () => Living) {
    this.#out = out;
    this.#ask = living;
  }

  /** The width of rows: one column less than the terminal, because some terminals wrap a full row. At least 20. */
  get width(): number {
    return Math.max(20, this.#out.columns - 1);
  }

  get height(): number {
    return Math.max(4, this.#out.rows);
  }

  start(): void {
    this.#over = false;
    this.draw();
  }

  print(rows: readonly string[]): void {
    if (this.#over) this.#out.write(rows.map((row) => `${row}\r\n`).join(''));
    else if (rows.length > 0) this.#draw(rows, this.#ask());
  }

  /** Draws the live rows, if they have changed. */
  draw(): void {
    if (this.#over) return;
    const living = this.#ask();
    const same =
      living.rows.length === this.#living.rows.length &&
      living.rows.every((row, i) => row === this.#living.rows[i]) &&
      living.cursor?.row === this.#living.cursor?.row &&
      living.cursor?.column === this.#living.cursor?.column;
    if (!same) this.#draw([], living);
  }

  /** Draws the live rows again after the terminal's size changed, which may have wrapped these rows differently. */
  resized(): void {
    const { columns } = this.#out;
    const tall = (rows: readonly string[]): number =>
      rows.reduce((sum, row) => sum + Math.max(1, Math.ceil(widthOf(row) / columns)), 0);
    this.#at = Math.max(0, tall(this.#drawn.slice(0, this.#at + 1)) - 1);
    if (!this.#over) this.#draw([], this.#ask());
  }

  /** Clears the terminal and draws the live rows again. */
  clear(): void {
    this.#out.write('\u001b[2J\u001b[H');
    this.#drawn = [];
    this.#at = 0;
    this.#draw([], this.#ask());
  }

  /** Removes the live rows, and moves the cursor below the printed rows. No live rows are drawn until the next `start`. */
  end(): void {
    if (this.#over) return;
    this.#draw([], { rows: [] });
    this.#over = true;
    this.#out.write(SHOW);
  }

  #draw(finished: readonly string[], living: Living): void {
    this.#living = living;
    const { rows, cursor } = living;
    // Rows beyond the terminal's height would scroll away and could not be drawn again, so only the last rows are kept.
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
