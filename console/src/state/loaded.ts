/** Something asked of the server: what is known of it, whether it is asked again, and what went wrong. */
import { useCallback, useEffect, useRef, useState } from 'react';
import { ApiError } from '../../../src/client/index.ts';
import { connection } from './live.ts';

export type Loaded<T> = {
  /** Stays while it is asked again. */
  readonly value: T | undefined;
  readonly loading: boolean;
  readonly problem: string | null;
  readonly again: () => void;
  readonly set: (value: T) => void;
};

/** Asked whenever `key` changes; an answer that a newer question has overtaken is dropped. */
export function useLoaded<T>(key: string, ask: (signal: AbortSignal) => Promise<T>): Loaded<T> {
  const [state, setState] = useState<{ key: string; value: T | undefined; loading: boolean; problem: string | null }>({
    key,
    value: undefined,
    loading: true,
    problem: null,
  });
  const asking = useRef(ask);
  asking.current = ask;
  const [round, setRound] = useState(0);
  useEffect(() => {
    const end = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    setState((before) => ({ ...before, key, value: before.key === key ? before.value : undefined, loading: true }));
    asking.current(end.signal).then(
      (value) => {
        if (!end.signal.aborted) setState({ key, value, loading: false, problem: null });
      },
      (error: unknown) => {
        if (end.signal.aborted) return;
        setState((before) => ({ ...before, loading: false, problem: messageOf(error) }));
        if (mayPass(error)) timer = setTimeout(() => setRound((n) => n + 1), ASK_AGAIN_MS);
      },
    );
    return () => {
      end.abort();
      clearTimeout(timer);
    };
  }, [key, round]);
  const again = useCallback(() => setRound((n) => n + 1), []);
  useEffect(() => back(again), [again]);
  const set = useCallback((value: T) => setState((before) => ({ ...before, value, problem: null })), []);
  return { value: state.key === key ? state.value : undefined, loading: state.loading, problem: state.problem, again, set };
}

/** What could not be asked is asked again after that, until it can: nobody has to sit and press. */
export const ASK_AGAIN_MS = 4_000;
/** The server was not reached, or not now. */
export const mayPass = (error: unknown): boolean => error instanceof ApiError && (error.status === 0 || error.retryable);

/** Whenever the connection is there again: what failed without it is asked again, by itself. */
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
