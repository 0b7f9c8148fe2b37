/**
 * Sees things happen outside of an agent and emits them as events. What all sources have in common: a start and a stop
 * that can be called twice, early and together, and work that is counted, so that nothing of it outlives the stop.
 */

/**
 * - `start` resolves when it sees what happens from then on; `stop` when nothing of it is left: no watcher, timer,
 *   process or emit. Both may be called at any time, any number of times; the last call counts. A stopped one can be
 *   started again.
 * - Neither rejects for what the machine refuses: that is one line for `onTrouble`, and the source is idle.
 */
export type Source = {
  readonly name: string;
  start(): Promise<void>;
  stop(): Promise<void>;
};

export type Modes = {
  /** Stopped → running. `signal` aborts when a stop is called meanwhile; `leave` is called all the same. */
  readonly enter: (signal: AbortSignal) => Promise<void>;
  /** Running → stopped. */
  readonly leave: () => Promise<void>;
  /** What either threw: a fault of ours, and no reason for the host to stumble. */
  readonly failed: (error: unknown) => void;
};

/** Start and stop as `Source` demands them: one transition at a time, and none that nobody wants any more. */
export function startAndStop({ enter, leave, failed }: Modes): Pick<Source, 'start' | 'stop'> {
  let wanted = false;
  let running = false;
  let abort = new AbortController();
  let last: Promise<void> = Promise.resolve();
  const settle = (): Promise<void> => {
    last = last.then(async () => {
      // What a stop broke off has to leave before it can be entered again.
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

/** The only way to start work that nobody awaits. What it throws goes to `failed`. */
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

  /** Resolves when nothing runs any more, what started meanwhile included. */
  async idle(): Promise<void> {
    while (this.#running.size > 0) await Promise.all(this.#running);
  }
}

/**
 * Where a source reports what went wrong. The same line is said again only after a minute: a storm of one failure is one
 * line, also where it says each time how many ms that took. What the receiver throws is ignored.
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
      // A report that fails is not worth a source that fails.
    }
  };
}

/** What went wrong, in one line. */
export const lineOf = (error: unknown): string =>
  (error instanceof Error ? error.message : String(error)).split('\n', 1)[0]?.trim() || 'unknown error';
