/**
 * Computes which part of a long timeline is on the page. A position in the list is stored as the `seq` of an entry's record. The
 * index of an entry changes when earlier entries are loaded.
 */

/**
 * The number of entries on the page, at most doubled while the reader has scrolled up. A browser takes noticeable time to lay out
 * more entries.
 */
export const SHOWN = 240;
/** The number of entries by which the part moves at an edge. The visible lines stay on the page. */
const STEP = 80;

/**
 * The end of the shown part. `upTo` is the `seq` of its last entry; null means the newest entry, even after new entries have
 * arrived.
 */
export type Place = { readonly upTo: number | null };
export const NEWEST: Place = { upTo: null };

export type Span = { readonly start: number; readonly end: number };
type Placed = { readonly seq: number };

/**
 * Returns the shown part. If the reader has scrolled up, `keep` is the `seq` of the previous first entry. That entry stays on the
 * page while entries are added below, until the part has doubled.
 */
export function spanOf(entries: readonly Placed[], { upTo }: Place, keep: number | null = null): Span {
  const last = upTo === null ? entries.length : entries.findLastIndex(({ seq }) => seq <= upTo) + 1;
  // The part has at least a whole page, if there are enough entries.
  const end = Math.max(last, Math.min(SHOWN, entries.length));
  const start = Math.max(0, end - SHOWN);
  const kept = keep === null || upTo !== null ? -1 : entries.findIndex(({ seq }) => seq >= keep);
  return { start: kept < 0 ? start : Math.max(0, end - 2 * SHOWN, Math.min(start, kept)), end };
}

/** Returns the place of an earlier part; undefined if the part begins with the list. */
export function earlierThan(entries: readonly Placed[], { start, end }: Span): Place | undefined {
  if (start === 0) return undefined;
  return at(entries, Math.max(SHOWN, Math.min(end, start + SHOWN) - STEP));
}

export const laterThan = (entries: readonly Placed[], { end }: Span): Place => at(entries, end + STEP);

/** Returns the place with this entry in the middle. */
export const around = (entries: readonly Placed[], index: number): Place => at(entries, index + SHOWN / 2);

function at(entries: readonly Placed[], end: number): Place {
  const last = entries[end - 1];
  return last === undefined || end >= entries.length ? NEWEST : { upTo: last.seq };
}
