/** Brings the place that a link names into view. */
import { useLayoutEffect, useRef } from 'react';
import type { Stored } from '../../../src/core/records.ts';
import type { Talk } from '../state/conversation.ts';
import type { Entry } from '../state/timeline.ts';
import type { Reading } from './reading.ts';

/** Brings the linked notification into view, but only once, so that the person can then scroll freely. */
export function useCameFor(
  page: React.RefObject<HTMLElement | null>,
  loading: boolean,
  id: string | null,
  reading: Reading,
): void {
  const wanted = useRef(id);
  const { toEntry, toElement } = reading;
  useLayoutEffect(() => {
    const { current } = wanted;
    if (loading || current === null) return;
    const found = page.current?.querySelector(`article[data-note="${CSS.escape(current)}"]`) ?? null;
    // `toEntry` renders an entry that is not on the page yet. This effect then runs again and finds the element.
    if (found === null && toEntry((entry) => isAbout(entry, current))) return;
    wanted.current = null;
    if (found !== null) toElement(found);
  });
}

/** The number of records that are loaded per request to reach a place far back. */
const BACK_PAGE = 500;

/**
 * Brings the place of the log that a link names into view, each time that the link changes. First loads the missing earlier
 * entries, and returns true while they load. Then marks, opens and focuses the line.
 */
export function useCameTo(
  page: React.RefObject<HTMLElement | null>,
  talk: Talk,
  { at, why }: { readonly at: number | null; readonly why: string | null },
  entries: readonly Entry[],
  { toEntry, toElement }: Reading,
): boolean {
  const came = useRef<string | null>(null);
  const wanted = at === null ? null : `${at} ${why ?? ''}`;
  const missing = at !== null && talk.from !== null && at < talk.from && talk.problem === null;
  // A layout effect runs before the browser's scroll event, which would load more entries near an edge of the page.
  useLayoutEffect(() => {
    if (wanted === null) came.current = null;
    if (at === null || wanted === came.current || talk.loading) return;
    if (missing) {
      if (!talk.loadingEarlier) talk.loadEarlier(BACK_PAGE);
      return;
    }
    const note = why ?? queuedAt(talk.records, at);
    const entry = entries[placeIn(entries, talk.records, at, note)];
    const found =
      (note === null ? null : page.current?.querySelector(`article[data-note="${CSS.escape(note)}"]`)) ??
      (entry === undefined ? null : page.current?.querySelector(`[data-entry^="${entry.seq} "]`)) ??
      null;
    // `toEntry` renders an entry that is not on the page yet. This effect then runs again and finds the element.
    if (found === null && entry !== undefined && toEntry((each) => each === entry)) return;
    came.current = wanted;
    if (!(found instanceof HTMLElement)) return;
    for (const other of page.current?.querySelectorAll('.came-to') ?? []) other.classList.remove('came-to');
    found.classList.add('came-to');
    for (const closed of found.querySelectorAll('details')) closed.open = true;
    found.tabIndex = -1;
    found.focus({ preventScroll: true });
    toElement(found);
  });
  return missing && !talk.loading;
}

/**
 * Returns the index of the entry that shows a record: an entry about the notification, the record's own entry, or the entry of
 * its call. Without such an entry, returns the index of the last entry before the record.
 */
function placeIn(entries: readonly Entry[], records: readonly Stored[], at: number, note: string | null): number {
  const about = note === null ? -1 : entries.findIndex((entry) => isAbout(entry, note));
  if (about >= 0) return about;
  const own = entries.findIndex(({ seq }) => seq === at);
  if (own >= 0) return own;
  const { id } = (records.find(({ seq }) => seq === at)?.body ?? {}) as { readonly id?: unknown };
  const call = entries.findIndex((entry) => entry.kind === 'tool' && entry.id === id);
  return call >= 0 ? call : entries.findLastIndex(({ seq }) => seq <= at);
}

/** Returns the id of the notification that the record queued, because the page shows the notification at its carrier. */
function queuedAt(records: readonly Stored[], at: number): string | null {
  const { type, id } = (records.find(({ seq }) => seq === at)?.body ?? {}) as { readonly type?: string; readonly id?: string };
  return type === 'system_notification_queued' ? (id ?? null) : null;
}

const isAbout = (entry: Entry, id: string): boolean =>
  entry.kind === 'ride' ? entry.riders.some((rider) => rider.id === id) : entry.kind === 'ended' && entry.ids[0] === id;
