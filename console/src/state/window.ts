/** The part of a long timeline that is on the page. Pure: positions in the list of entries, named by their records. */

/** The most entries on the page: a browser needs a noticeable pause to lay out more. */
export const SHOWN = 240;
/** How far the part moves at an edge. The lines in view stay on the page. */
const STEP = 80;

/** `upTo`: the record of the last that is shown; null: it follows the newest. */
export type Place = { readonly upTo: number | null };
export const NEWEST: Place = { upTo: null };

export type Span = { readonly start: number; readonly end: number };
type Placed = { readonly seq: number };

/**
 * `keep`: the first that was shown before, of somebody who reads above the end: it stays while others come below, as long
 * as that does not double what is shown.
 */
export function spanOf(entries: readonly Placed[], { upTo }: Place, keep: number | null = null): Span {
  const last = upTo === null ? entries.length : entries.findLastIndex(({ seq }) => seq <= upTo) + 1;
  // At least a whole page, if there are enough entries.
  const end = Math.max(last, Math.min(SHOWN, entries.length));
  const start = Math.max(0, end - SHOWN);
  const kept = keep === null || upTo !== null ? -1 : entries.findIndex(({ seq }) => seq >= keep);
  return { start: kept < 0 ? start : Math.max(0, end - 2 * SHOWN, Math.min(start, kept)), end };
}

/** Undefined: its edge is the list's own. */
export function earlierThan(entries: readonly Placed[], { start, end }: Span): Place | undefined {
  if (start === 0) return undefined;
  return at(entries, Math.max(SHOWN, Math.min(end, start + SHOWN) - STEP));
}

export const laterThan = (entries: readonly Placed[], { end }: Span): Place => at(entries, end + STEP);

/** With that entry in the middle. */
export const around = (entries: readonly Placed[], index: number): Place => at(entries, index + SHOWN / 2);

function at(entries: readonly Placed[], end: number): Place {
  const last = entries[end - 1];
  return last === undefined || end >= entries.length ? NEWEST : { upTo: last.seq };
}
