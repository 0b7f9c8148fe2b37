/**
 * Limits the size of one page of a list in JSON. A page of large records has fewer records, and the next page continues after it.
 */

/** The maximum size of the records of one page, in bytes. Fifty readers of larger pages would delay every other request. */
export const PAGE_BYTES = 512 * 1024;

export class PageBytes {
  #used = 0;

  /**
   * Adds all views to the page or none, and returns whether they fit. The first views of a page always fit, because otherwise no
   * page would contain them.
   */
  take(views: readonly unknown[]): boolean {
    const bytes = views.reduce<number>((sum, view) => sum + Buffer.byteLength(JSON.stringify(view)) + 1, 0);
    if (this.#used > 0 && this.#used + bytes > PAGE_BYTES) return false;
    this.#used += bytes;
    return true;
  }
}

/** Returns as many of the first views as fit on one page. */
export function onOnePage<T>(views: readonly T[]): readonly T[] {
  const room = new PageBytes();
  const over = views.findIndex((view) => !room.take([view]));
  return over === -1 ? views : views.slice(0, over);
}

/**
 * Decides how many records to read next for one page. The number starts small, because the records may be large. Each read
 * doubles the number, up to `most`.
 */
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
