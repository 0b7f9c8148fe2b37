/** Limits the JSON of one page of a list. A page of large records is short, and the next page continues after it. */

/** The maximum size of one page in bytes, without its frame. Fifty readers of larger pages would delay every other request. */
export const PAGE_BYTES = 512 * 1024;

export class PageBytes {
  #used = 0;

  /**
   * Takes all of the views or none, and returns whether they fit. The first views of a page always fit, so that they can be read
   * at all.
   */
  take(views: readonly unknown[]): boolean {
    const bytes = views.reduce<number>((sum, view) => sum + Buffer.byteLength(JSON.stringify(view)) + 1, 0);
    if (this.#used > 0 && this.#used + bytes > PAGE_BYTES) return false;
    this.#used += bytes;
    return true;
  }
}

/** Returns the first views, as many as fit on one page. */
export function onOnePage<T>(views: readonly T[]): readonly T[] {
  const room = new PageBytes();
  const over = views.findIndex((view) => !room.take([view]));
  return over === -1 ? views : views.slice(0, over);
}

/** Decides how many records to read next for one page: few at first, because they may be large, then twice as many each time. */
export class Chunks {
  readonly #most: number;
  #next: number;

  constructor(most: number, first = 16) {
    this.#most = most;
    this.#next = Math.min(first, most);
  }

  next(): number {
    const now = this.#next;
    this.#next = Math.min(this.#most, now * 2);
    return now;
  }
}
