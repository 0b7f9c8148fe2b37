/** Shows a conversation in a pipe or a file: writes texts and lines one after the other, and never half of a character. */
import { stripVTControlCharacters } from 'node:util';
import { Flow } from './wrap.ts';
import type { Surface } from './narrator.ts';

export type PlainSurfaceOptions = {
  readonly text: (text: string) => void;
  /** Prints lines about calls and notifications. */
  readonly lines: (text: string) => void;
  readonly coloured: boolean;
};

export class PlainSurface implements Surface {
  readonly width = Number.POSITIVE_INFINITY;
  readonly showsPending = false;
  readonly #options: PlainSurfaceOptions;
  readonly #flow = new Flow();
  /** The number of characters of the unfinished row that were already written. */
  #written = 0;

  constructor(options: PlainSurfaceOptions) {
    this.#options = options;
  }

  print(lines: readonly string[]): void {
    if (lines.length === 0) return;
    const text = lines.map((line) => `${line}\n`).join('');
    this.#options.lines(this.#options.coloured ? text : stripVTControlCharacters(text));
  }

  text(piece: string): void {
    for (const row of this.#flow.add(piece, Number.POSITIVE_INFINITY)) {
      this.#options.text(`${row.slice(this.#written)}\n`);
      this.#written = 0;
    }
    const { open } = this.#flow;
    // `Flow` keeps back half of a character until the other half arrives.
    this.#options.text(open.slice(this.#written));
    this.#written = open.length;
  }

  endText(): void {
    const open = this.#written > 0;
    this.#flow.end();
    this.#written = 0;
    if (open) this.#options.text('\n');
  }
}
