/**
 * Starts and stops sources, runs their background work, and reports their errors. After the stop, no background work continues.
 */

/**
 * - `start` resolves when the source sees all later changes. `stop` resolves when all watchers, timers, processes and emits of
 *   the source have ended. Both methods may be called at any time and repeatedly. The last call decides. A stopped source can
 *   be started again.
 * - Neither method rejects for an error of the machine. `onTrouble` gets one line about the error, and the source is idle.
 */
export type Source = {
  readonly name: string;
  start(): Promise<void>;
  stop(): Promise<void>;
};

export type Modes = {
  /** Starts the source. If `stop` is called before the start ends, `signal` aborts, and `leave` is called after the start. */
  readonly enter: (signal: AbortSignal) => Promise<void>;
  /** Stops the source. */
  readonly leave: () => Promise<void>;
  /** Called if `enter` or `leave` throws, which is a bug of Earpiece and must not crash the host. */
  readonly failed: (error: unknown) => void;
};

/** Makes the `start` and `stop` of a `Source`. One transition runs at a time, and outdated transitions are skipped. */
export function startAndStop({ enter, leave, failed }: Modes): Pick<Source, 'start' | 'stop'> {
  let wanted = false;
  let running = false;
  let abort = new AbortController();
  let last: Promise<void> = Promise.resolve();
  const settle = (): Promise<void> => {
    last = last.then(async () => {
      // If a stop aborted `enter`, `leave` must run before the next `enter`.
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

/** Runs work that no caller awaits. Errors of that work go to `failed`. */
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

  /** Resolves when all work has ended, including work that was started during the wait. */
  async idle(): Promise<void> {
    while (this.#running.size > 0) await Promise.all(this.#running);
  }
}

/**
 * Makes a function that reports a source's errors. Equal lines are repeated only after a minute. Lines that differ only in a
 * number of ms count as equal. Errors of the receiver are ignored.
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

/** Returns the first line of an error's message. */
export const lineOf = (error: unknown): string =>
  (error instanceof Error ? error.message : String(error)).split('\n', 1)[0]?.trim() || 'unknown error';
