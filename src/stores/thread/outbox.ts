/** Collects the values that one run of synchronous code adds, and sends one message, so that the other thread wakes only once. */
export type Outbox<T> = {
  readonly add: (one: T) => void;
  /** Sends at once, for a caller that does not return to the event loop before it needs the answer. */
  readonly flush: () => void;
};

/** Makes an outbox. `refused` is called for a value that cannot be sent in a message. The other values are still sent. */
export function outbox<T>(send: (all: readonly T[]) => void, refused: (one: T, error: unknown) => void): Outbox<T> {
  let waiting: T[] = [];
  const post = (all: readonly T[]): void => {
    try {
      send(all);
    } catch (error) {
      const [only] = all;
      if (all.length === 1 && only !== undefined) refused(only, error);
      else for (const one of all) post([one]);
    }
  };
  const flush = (): void => {
    if (waiting.length === 0) return;
    const all = waiting;
    waiting = [];
    post(all);
  };
  return {
    add(one) {
      waiting.push(one);
      if (waiting.length === 1) queueMicrotask(flush);
    },
    flush,
  };
}
