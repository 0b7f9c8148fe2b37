/** Repeats a request whenever its answer may be outdated, one at a time. Drops an answer if newer facts are known. */

export type Asked = {
  /** Sends the request now, or once more after the running request. Frequent calls do not drop answers. */
  again(): void;
  /** Drops the answer of a running request, and sends the request again. Call this method when newer facts are known. */
  overtake(): void;
  end(): void;
};

type Told<T> = {
  readonly onAsk: () => void;
  readonly onAnswer: (value: T) => void;
  readonly onProblem: (error: unknown) => void;
};

export function asked<T>(ask: (signal: AbortSignal) => Promise<T>, { onAsk, onAnswer, onProblem }: Told<T>): Asked {
  const over = new AbortController();
  let busy = false;
  let more = false;
  let old = false;
  const run = async (): Promise<void> => {
    busy = true;
    more = false;
    old = false;
    onAsk();
    try {
      const value = await ask(over.signal);
      if (!over.signal.aborted && !old) onAnswer(value);
    } catch (error) {
      if (!over.signal.aborted && !more) onProblem(error);
    }
    busy = false;
    if (more && !over.signal.aborted) void run();
  };
  const again = (): void => {
    if (over.signal.aborted) return;
    if (busy) more = true;
    else void run();
  };
  return {
    again,
    overtake: () => {
      if (busy) old = more = true;
    },
    end: () => over.abort(),
  };
}
