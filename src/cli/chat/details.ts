/**
 * Keeps the texts that were shown in a shortened form. Each text has a number. `/show` with this number prints the whole text.
 */
export type Detail = { readonly title: string; readonly text: string };

/** The maximum number of texts. Beyond this number, the oldest text is dropped. */
const KEPT = 500;

export class Details {
  readonly #all = new Map<number, Detail>();
  #last = 0;

  add(detail: Detail): number {
    this.#all.set(++this.#last, detail);
    this.#all.delete(this.#last - KEPT);
    return this.#last;
  }

  get(n: number): Detail | undefined {
    return this.#all.get(n);
  }

  get last(): number {
    return this.#last;
  }
}
