/**
 * Observes things outside of an agent and emits them as events. Shared by all sources: a start and a stop that callers may call
 * twice, early and at the same time, and a count of background work, so that no work outlives the stop.
 */

/**
 * - `start` resolves when the source sees all later changes; `stop` when no watcher, timer, process or emit of it is left. Both
 *   may be called at any time, any number of times; the last call counts. A stopped source can be started again.
 * - Neither rejects for an error of the machine: `onTrouble` gets one line about it, and the source is idle.
 */
export type Source = {
  readonly name: string;
  start(): Promise<void>;
  stop(): Promise<void>;
};

export type Modes = {
  /** From stopped to running. `signal` aborts if a stop is called in the meantime; `leave` is then still called. */
  readonly enter: (signal: AbortSignal) => Promise<void>;
  /** From running to stopped. */
  readonly leave: () => Promise<void>;
  /** An error of one of the two: a bug of Earpiece that must not crash the host. */
  readonly failed: (error: unknown) => void;
};

/** Start and stop as `Source` requires: one transition at a time, and no outdated one. */
export function startAndStop({ enter, leave, failed }: Modes): Pick<Source, 'start' | 'stop'> {
  let wanted = false;
  let running = false;
  let abort = new AbortController();
  let last: Promise<void> = Promise.resolve();
  const settle = (): Promise<void> => {
    last = last.then(async () => {
      // After a stop aborted an entry, `leave` must run before the next entry.
      while (wanted !== running || (running && abort.signal.aborted)) {
        running = !running;
        try {
          if (running) await enter((abort = new AbortController()).signal);
          else await leave();
        } catch (error) {
          failed(error);
        }
      }
    });
    return last;
  };
  return {
    start: () => {
      wanted = true;
      return settle();
    },
    stop: () => {
      wanted = false;
      abort.abort();
      return settle();
    },
  };
}

/** The only way to start work that nobody awaits. Errors of that work go to `failed`. */
export class Background {
  readonly #failed: (error: unknown) => void;
  #running = new Set<Promise<void>>();

  constructor(failed: (error: unknown) => void) {
    this.#failed = failed;
  }

  get size(): number {
    return this.#running.size;
  }

  run(work: () => Promise<unknown>): void {
    const running: Promise<void> = this.#guarded(work).then(() => void this.#running.delete(running));
    this.#running.add(running);
  }

  async #guarded(work: () => Promise<unknown>): Promise<void> {
    try {
      await work();
    } catch (error) {
      this.#failed(error);
    }
  }

  /** Resolves when no work runs any more, including work started in the meantime. */
  async idle(): Promise<void> {
    while (this.#running.size > 0) await Promise.all(this.#running);
  }
}

/**
 * Reports a source's errors. The same line is repeated only after a minute, even if its number of ms differs: many failures of
 * one kind are one line. Errors of the receiver are ignored.
 */
export function troubleTeller(onTrouble: ((line: string) => void) | undefined, now: () => number): (line: string) => void {
  const said = new Map<string, number>();
  return (line) => {
    const at = now();
    const failure = line.replaceAll(/\d+ ms\b/g, '… ms');
    if (at - (said.get(failure) ?? Number.NEGATIVE_INFINITY) < 60_000) return;
    if (said.size >= 100) said.clear();
    said.set(failure, at);
    try {
      onTrouble?.(line);
    } catch {
      // A failing report must not fail the source.
    }
  };
}

/** An error in one line. */
export const lineOf = (error: unknown): string =>
  (error instanceof Error ? error.message : String(error)).split('\n', 1)[0]?.trim() || 'unknown error';
