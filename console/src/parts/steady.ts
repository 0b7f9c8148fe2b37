/**
 * Sorts a list. While the pointer or the focus is in the list, the rows keep their places, so that no row moves away under the
 * pointer.
 */
import { useCallback, useReducer, useRef, type RefObject } from 'react';
import { keepingPlaces, type Placed } from '../state/needs.ts';

export type Steady = {
  readonly places: readonly Placed[];
  /** Whether the shown order differs from the sorted order. */
  readonly isOld: boolean;
  readonly sort: () => void;
  /** Sorts the list if the person has left it. Call `letGo` when the person may have left the list. */
  readonly letGo: () => void;
};

export function useSteadyOrder(within: RefObject<HTMLElement | null>, wanted: readonly Placed[]): Steady {
  const had = useRef<readonly Placed[]>(wanted);
  const [, again] = useReducer((n: number) => n + 1, 0);
  const sort = useCallback(() => {
    had.current = [];
    again();
  }, []);
  // The order is computed after the event, because only then do `:hover` and `:focus-within` match the new state.
  const letGo = useCallback(() => void setTimeout(again), []);
  const places = isHeld(within.current) && had.current.length > 0 ? keepingPlaces(had.current, wanted) : wanted;
  had.current = places;
  return { places, isOld: places.some(({ log }, n) => log !== wanted[n]?.log), sort, letGo };
}

/** Whether the pointer or the focus is in the list. On a touch screen, `:hover` is ignored, because it stays after a tap. */
const isHeld = (list: HTMLElement | null): boolean =>
  list !== null && (list.matches(':focus-within') || (matchMedia('(hover: hover)').matches && list.matches(':hover')));
