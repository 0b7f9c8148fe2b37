/**
 * The order of a list that sorts itself. While a person points at the list, or has the focus in it, the rows keep their places:
 * nothing moves away under a pointer or a key.
 */
import { useCallback, useReducer, useRef, type RefObject } from 'react';
import { keepingPlaces, type Placed } from '../state/needs.ts';

export type Steady = {
  readonly places: readonly Placed[];
  /** True: the rows' order has changed. */
  readonly isOld: boolean;
  readonly sort: () => void;
  /** Called when the person may have left the list. */
  readonly letGo: () => void;
};

export function useSteadyOrder(within: RefObject<HTMLElement | null>, wanted: readonly Placed[]): Steady {
  const had = useRef<readonly Placed[]>(wanted);
  const [, again] = useReducer((n: number) => n + 1, 0);
  const sort = useCallback(() => {
    had.current = [];
    again();
  }, []);
  // The browser changes what `:hover` and `:focus-within` match after the event.
  const letGo = useCallback(() => void setTimeout(again), []);
  const places = isHeld(within.current) && had.current.length > 0 ? keepingPlaces(had.current, wanted) : wanted;
  had.current = places;
  return { places, isOld: places.some(({ log }, n) => log !== wanted[n]?.log), sort, letGo };
}

/** On a screen without a pointer, a tap leaves `:hover` behind. */
const isHeld = (list: HTMLElement | null): boolean =>
  list !== null && (list.matches(':focus-within') || (matchMedia('(hover: hover)').matches && list.matches(':hover')));
