/**
 * Moves a delivered notification from its place among the waiting notifications to its carrier, in 150 ms. With reduced motion,
 * the notification appears at its carrier at once.
 */
import { useLayoutEffect, useRef, type RefObject } from 'react';

const MOVE_MS = 150;

export function useMoving(within: RefObject<HTMLElement | null>): void {
  const stood = useRef(new Map<string, { state: string; rect: DOMRect }>());
  useLayoutEffect(() => {
    const now = new Map<string, { state: string; rect: DOMRect }>();
    const still = window.matchMedia('(prefers-reduced-motion: reduce)').matches;
    for (const element of within.current?.querySelectorAll<HTMLElement>('[data-note]') ?? []) {
      const { note = '', state = '' } = element.dataset;
      const rect = element.getBoundingClientRect();
      now.set(note, { state, rect });
      const before = stood.current.get(note);
      if (before === undefined || before.state === state || state !== 'rode') continue;
      element.dataset['moved'] = before.state;
      if (still) continue;
      element.animate(
        [
          { transform: `translate(${before.rect.left - rect.left}px, ${before.rect.top - rect.top}px)`, opacity: 0.6 },
          { transform: 'none', opacity: 1 },
        ],
        { duration: MOVE_MS, easing: 'ease-out' },
      );
    }
    stood.current = now;
  });
}
