/** Loads the results of a search on the server part by part, and tracks how far back the search has gone. */
import { useCallback, useEffect, useRef, useState } from 'react';
import { messageOf } from './loaded.ts';

export type FoundPage<T> = {
  readonly items: readonly T[];
  readonly next: string | null;
  readonly lookedBackTo?: number | null | undefined;
};

export type Found<T> = {
  readonly items: readonly T[];
  readonly loading: boolean;
  readonly problem: string | null;
  /** Whether the search can go further back. */
  readonly more: boolean;
  /** The time of the oldest searched record; null if no record or the whole log was searched. */
  readonly lookedBackTo: number | null;
  readonly further: () => void;
  readonly again: () => void;
};

type State<T> = Omit<Found<T>, 'more' | 'further' | 'again'> & { readonly next: string | null };

const NONE = { items: [], loading: false, problem: null, lookedBackTo: null, next: null } as const;

/** Searches for `question`, unless it is null. An answer is dropped if a newer search was started. */
export function useFound<T>(
  question: string | null,
  ask: (before: string | null, signal: AbortSignal) => Promise<FoundPage<T>>,
): Found<T> {
  const [state, setState] = useState<State<T>>(NONE);
  const asking = useRef(ask);
  asking.current = ask;
  const running = useRef<AbortController | null>(null);
  const look = useCallback((before: string | null, had: readonly T[]): void => {
    running.current?.abort();
    const end = new AbortController();
    running.current = end;
    setState((was) => ({ ...(before === null ? NONE : was), items: had, loading: true, problem: null }));
    asking.current(before, end.signal).then(
      ({ items, next, lookedBackTo = null }) => {
        if (!end.signal.aborted) setState({ items: [...had, ...items], next, lookedBackTo, loading: false, problem: null });
      },
      (error: unknown) => {
        if (!end.signal.aborted) setState((was) => ({ ...was, loading: false, problem: messageOf(error) }));
      },
    );
  }, []);
  useEffect(() => {
    if (question === null) setState(NONE);
    else look(null, []);
    return () => running.current?.abort();
  }, [question, look]);
  return {
    ...state,
    more: state.next !== null,
    further: () => {
      if (question !== null && state.next !== null && !state.loading) look(state.next, state.items);
    },
    again: () => {
      if (question === null) return;
      if (state.problem === null) look(null, []);
      else look(state.next, state.items);
    },
  };
}
