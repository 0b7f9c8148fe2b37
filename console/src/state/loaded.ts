/** Tracks a request to the server: its last answer, whether the request runs, and its error. */
import { useCallback, useEffect, useRef, useState } from 'react';
import { ApiError } from '../../../src/wire/client/index.ts';
import { asked, type Asked } from './asked.ts';
import { connection, generation } from './live.ts';

export type Loaded<T> = {
  /** The last answer, which is kept during the next request. */
  readonly value: T | undefined;
  readonly loading: boolean;
  readonly problem: string | null;
  readonly again: () => void;
  /** Sets a value that is newer than the server's answer. Before the first answer, drops the value and repeats the request. */
  readonly set: (value: T) => void;
  /** Sets a value that is computed from the current value. */
  readonly change: (to: (before: T) => T) => void;
};

/** Sends the request when `key` changes. Drops the answer if the key has changed or a value was set since the request. */
export function useLoaded<T>(key: string, ask: (signal: AbortSignal) => Promise<T>): Loaded<T> {
  const [state, setState] = useState<{ key: string; value: T | undefined; loading: boolean; problem: string | null }>({
    key,
    value: undefined,
    loading: true,
    problem: null,
  });
  const latest = useRef(ask);
  latest.current = ask;
  const question = useRef<Asked | undefined>(undefined);
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const mine = asked((signal) => latest.current(signal), {
      onAsk: () => {
        clearTimeout(timer);
        setState((before) => ({ ...before, key, value: before.key === key ? before.value : undefined, loading: true }));
      },
      onAnswer: (value) => setState({ key, value, loading: false, problem: null }),
      onProblem: (error) => {
        setState((before) => ({ ...before, loading: false, problem: messageOf(error) }));
        if (mayPass(error)) timer = setTimeout(() => mine.again(), ASK_AGAIN_MS);
      },
    });
    question.current = mine;
    mine.again();
    return () => {
      mine.end();
      clearTimeout(timer);
    };
  }, [key]);
  const again = useCallback(() => question.current?.again(), []);
  useEffect(() => back(again), [again]);
  useEffect(() => generation.watch(again), [again]);
  const change = useCallback<Loaded<T>['change']>((to) => {
    question.current?.overtake();
    setState((before) => (before.value === undefined ? before : { ...before, value: to(before.value), problem: null }));
  }, []);
  const set = useCallback<Loaded<T>['set']>((value) => change(() => value), [change]);
  const { loading, problem } = state;
  return { value: state.key === key ? state.value : undefined, loading, problem, again, set, change };
}

/** The time after which a failed request is repeated. */
export const ASK_AGAIN_MS = 4_000;
/** Whether the request may succeed later: the server did not answer, or refused temporarily. */
export const mayPass = (error: unknown): boolean => error instanceof ApiError && (error.status === 0 || error.retryable);

/** Calls `then` when the connection is open again. */
export function back(then: () => void): () => void {
  let away = connection.value.kind === 'away';
  return connection.watch(() => {
    const { kind } = connection.value;
    if (away && kind === 'live') then();
    away = kind === 'away';
  });
}

export const messageOf = (error: unknown): string =>
  error instanceof ApiError ? error.message : error instanceof Error ? `This page failed: ${error.message}` : String(error);
