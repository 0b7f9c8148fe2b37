/**
 * Shows the narrator's output on a screen. Finished rows are printed once. The row that the model is writing is redrawn at each
 * change.
 */
import type { Screen } from './screen.ts';
import type { Surface } from './narrator.ts';
import { Flow } from './wrap.ts';

export class LiveSurface implements Surface {
  readonly showsPending = true;
  readonly #screen: Screen;
  readonly #flow = new Flow();
  readonly #changed: () => void;

  constructor(screen: Screen, changed: () => void) {
    this.#screen = screen;
    this.#changed = changed;
  }

  get width(): number {
    return this.#screen.width;
  }

  /** The row that the model is writing. */
  get open(): string {
    return this.#flow.open;
  }

  print(lines: readonly string[]): void {
    this.#screen.print(lines);
  }

  text(piece: string): void {
    const rows = this.#flow.add(piece, this.width);
    if (rows.length > 0) this.#screen.print(rows);
    else this.#changed();
  }

  endText(): void {
    const rows = this.#flow.end();
    if (rows.length > 0) this.#screen.print(rows);
    else this.#changed();
  }
}
