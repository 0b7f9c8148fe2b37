/**
 * Controls scrolling in a long timeline. A person at the end stays at the end. For a person who has scrolled up, the visible
 * lines keep their place when lines are added above or below. Distant lines are not on the page: the page adds them when an edge
 * is near, from the loaded lines or from the server.
 */
import { useCallback, useEffect, useLayoutEffect, useRef, useState, type RefObject } from 'react';
import type { Talk } from '../state/conversation.ts';
import type { Entry } from '../state/timeline.ts';
import { around, earlierThan, laterThan, NEWEST, spanOf } from '../state/window.ts';

/** The distance from an edge at which the next part is loaded. */
const NEAR_PX = 400;
const AT_END_PX = 40;
/**
 * The minimum number of lines. With fewer lines, the next page of records is loaded too, because notifications that were only
 * queued have no line.
 */
const ENOUGH = 20;
/** The maximum number of pages that are loaded without scrolling. */
const MAX_BY_ITSELF = 20;
/** How many elements keep the scroll position: some of these elements may disappear when notifications are delivered. */
const ANCHORS = 5;

export type Reading = {
  readonly shown: readonly Entry[];
  /** The number of newer entries that are not on the page. */
  readonly newer: number;
  readonly older: boolean;
  readonly toOlder: () => void;
  readonly toNewest: () => void;
  /** Adds the first matching entry to the page; returns false if no loaded entry matches. */
  readonly toEntry: (is: (entry: Entry) => boolean) => boolean;
  /** Brings an element of the page into view, and keeps it there. */
  readonly toElement: (element: Element) => void;
};

type Anchor = { readonly entry: string; readonly top: number };

export function useReading(scroll: RefObject<HTMLDivElement | null>, entries: readonly Entry[], talk: Talk): Reading {
  const [place, setPlace] = useState(NEWEST);
  const keep = useRef<number | null>(null);
  const following = useRef(true);
  const anchors = useRef<readonly Anchor[]>([]);
  /** The scroll position and the height of the content at the last check, in px. */
  const looked = useRef({ top: 0, height: 0 });
  const span = spanOf(entries, place, following.current ? null : keep.current);
  const shown = entries.slice(span.start, span.end);
  const newer = entries.length - span.end;

  const now = useRef({ entries, span, talk, newer });
  now.current = { entries, span, talk, newer };

  const toOlder = useCallback(() => {
    const { entries: all, span: at, talk: of } = now.current;
    const earlier = earlierThan(all, at);
    if (earlier !== undefined) setPlace(earlier);
    else if (of.earlier && !of.loadingEarlier) of.loadEarlier();
  }, []);
  const toNewest = useCallback(() => {
    following.current = true;
    setPlace(NEWEST);
    const element = scroll.current;
    if (element !== null) element.scrollTop = element.scrollHeight;
  }, [scroll]);
  const toEntry = useCallback((is: (entry: Entry) => boolean): boolean => {
    const index = now.current.entries.findIndex(is);
    if (index < 0) return false;
    const { span: at } = now.current;
    following.current = false;
    if (index < at.start || index >= at.end) setPlace(around(now.current.entries, index));
    return true;
  }, []);

  const toElement = useCallback(
    (wanted: Element): void => {
      following.current = false;
      const element = scroll.current;
      if (element === null) return;
      // `scrollIntoView` would also scroll the page around the timeline.
      const { top, height } = wanted.getBoundingClientRect();
      const box = element.getBoundingClientRect();
      element.scrollTop += top - box.top - Math.max(0, (box.height - height) / 2);
      // The new position is stored now. Otherwise, a line that arrives before the browser's scroll event would restore the old
      // position.
      anchors.current = anchorsIn(element);
      looked.current = { top: element.scrollTop, height: element.scrollHeight };
    },
    [scroll],
  );

  useEffect(() => {
    const element = scroll.current;
    if (element === null) return undefined;
    const look = (): void => {
      if (element.clientHeight === 0) return;
      const below = element.scrollHeight - element.scrollTop - element.clientHeight;
      following.current = now.current.newer === 0 && below < AT_END_PX;
      anchors.current = anchorsIn(element);
      looked.current = { top: element.scrollTop, height: element.scrollHeight };
      if (element.scrollTop < NEAR_PX && !following.current) toOlder();
      else if (below < NEAR_PX && now.current.newer > 0) setPlace(laterThan(now.current.entries, now.current.span));
    };
    element.addEventListener('scroll', look, { passive: true });
    return () => element.removeEventListener('scroll', look);
  }, [scroll, toOlder]);

  useLayoutEffect(() => {
    const element = scroll.current;
    // On a phone, *Why* hides the timeline. The stored position stays, so that it is restored when *Why* closes.
    if (element === null || element.clientHeight === 0) return;
    // If a key has scrolled the timeline but the scroll event has not been fired yet, a new line must not scroll back.
    const { top, height } = looked.current;
    if (element.scrollHeight >= height && element.scrollTop !== top) {
      if (height - element.scrollTop - element.clientHeight >= AT_END_PX) following.current = false;
      anchors.current = anchors.current.map((each) => ({ ...each, top: each.top + top - element.scrollTop }));
    }
    if (talk.loading || following.current) element.scrollTop = element.scrollHeight;
    else putBack(element, anchors.current);
    anchors.current = anchorsIn(element);
    looked.current = { top: element.scrollTop, height: element.scrollHeight };
    keep.current = entries[span.start]?.seq ?? null;
  });

  const byItself = useRef(0);
  useEffect(() => {
    if (talk.loading || talk.loadingEarlier || talk.problem !== null) return;
    // At the very top, scrolling fires no more events, so this effect adds the earlier lines.
    const { clientHeight = 0, scrollTop = 0 } = scroll.current ?? {};
    if (clientHeight > 0 && scrollTop < NEAR_PX && !following.current) toOlder();
    else if (talk.earlier && entries.length < ENOUGH && byItself.current++ < MAX_BY_ITSELF) talk.loadEarlier();
  }, [talk, entries.length, span.start, scroll, toOlder]);

  return { shown, newer, older: span.start > 0 || talk.earlier, toOlder, toNewest, toEntry, toElement };
}

/** Returns the first visible elements with their positions. */
function anchorsIn(element: HTMLElement): Anchor[] {
  const { top } = element.getBoundingClientRect();
  const found: Anchor[] = [];
  for (const each of element.querySelectorAll<HTMLElement>('[data-entry]')) {
    const rect = each.getBoundingClientRect();
    if (rect.bottom <= top) continue;
    found.push({ entry: each.dataset['entry'] ?? '', top: rect.top - top });
    if (found.length === ANCHORS) break;
  }
  return found;
}

function putBack(element: HTMLElement, anchors: readonly Anchor[]): void {
  const { top } = element.getBoundingClientRect();
  for (const anchor of anchors) {
    const there = element.querySelector(`[data-entry="${CSS.escape(anchor.entry)}"]`);
    if (there === null) continue;
    element.scrollTop += there.getBoundingClientRect().top - top - anchor.top;
    return;
  }
}
