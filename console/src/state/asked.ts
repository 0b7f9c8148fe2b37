/** A question that is asked many times, of which only the newest answer counts. */

export type Asked = {
  /** Now; while it is being asked, once more after that. However often somebody asks, there are answers. */
  again(): void;
  /** Something newer is known than what is being asked: that answer is dropped, and it is asked once more. */
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
