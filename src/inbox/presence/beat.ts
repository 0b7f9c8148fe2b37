/**
 * Shows other machines that this process lives, by increasing a count in a setting. A machine cannot look up the processes of
 * another machine, and the clocks of machines differ. Therefore, an observer watches whether the count changes, and compares no
 * times. If the count does not change, the observer removes it in one step. If the process was only suspended, it finds its count
 * removed, and writes nothing more.
 */
import type { Store } from '../../core/ports.ts';

type Kept = Pick<Store, 'setting' | 'setSetting' | 'swapSetting'>;

const BEAT_MS = 5_000;
/**
 * How long a process may write after its last increase of the count, in ms. After a longer time, it must increase the count
 * first. Together with the time of one write, this time is below `SILENT_MS`.
 */
const TRUSTED_MS = 10_000;
/** If the count of a process does not change for this long, in ms, the process is treated as dead. */
const SILENT_MS = 20_000;
const LOOK_EVERY_MS = 500;

const beatKey = (name: string): string => `beat of ${name}`;

/** Increases the count of this process from `start` until `stop` or `pause`. */
export class Beat {
  readonly #store: Kept;
  readonly #key: string;
  #count = 0;
  /** When the last successful increase began, by the monotonic clock, in ms. */
  #countedAt = Number.NEGATIVE_INFINITY;
  #timer: NodeJS.Timeout | undefined;
  #counting: Promise<boolean> | undefined;

  /** `name`: a name that no other process ever has. */
  constructor(store: Kept, name: string) {
    this.#store = store;
    this.#key = beatKey(name);
  }

  get counts(): boolean {
    return this.#timer !== undefined;
  }

  /** Begins to increase the count. Resolves when other processes can see the first count. */
  async start(): Promise<void> {
    if (this.counts) return;
    this.#countedAt = performance.now();
    this.#count = 1;
    await this.#store.setSetting(this.#key, this.#count);
    // If the store does not answer, the next interval tries again.
    this.#timer ??= setInterval(() => void this.#next().catch(() => {}), BEAT_MS).unref();
  }

  /**
   * Whether no other process has treated this process as dead. Asks the store only if the last increase is older than
   * `TRUSTED_MS`.
   */
  async lives(): Promise<boolean> {
    return this.counts && (performance.now() - this.#countedAt < TRUSTED_MS || this.#next());
  }

  /** Stops the increases and removes the count, so that other processes need not wait. */
  async stop(): Promise<void> {
    if (!this.counts) return;
    this.pause();
    await this.#counting?.catch(() => {});
    await this.#store.setSetting(this.#key, undefined);
  }

  /** Stops the increases, but leaves the count in the store. */
  pause(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  #next(): Promise<boolean> {
    return (this.#counting ??= this.#add().finally(() => (this.#counting = undefined)));
  }

  async #add(): Promise<boolean> {
    const began = performance.now();
    while (!(await this.#store.swapSetting(this.#key, this.#count, this.#count + 1))) {
      // Only this process increases the count, so another value is the result of a write whose answer was lost.
      const found = await this.#store.setting(this.#key);
      if (typeof found !== 'number') {
        this.pause();
        return false;
      }
      this.#count = found;
    }
    this.#count++;
    this.#countedAt = began;
    return true;
  }
}

/**
 * Whether a process of another machine has ended. Takes up to about 5 s for a process that lives, and 20 s for a process that
 * died without removing its count. A process that was treated as dead can write nothing more.
 */
export async function hasEnded(store: Kept, name: string): Promise<boolean> {
  const key = beatKey(name);
  const first = await store.setting(key);
  if (first === undefined) return true;
  for (const since = performance.now(); performance.now() - since < SILENT_MS;) {
    await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS));
    const now = await store.setting(key);
    if (now !== first) return now === undefined;
  }
  return store.swapSetting(key, first, undefined);
}

/** Removes the count of a process that is known to be dead. */
export const forgetBeat = (store: Kept, name: string): Promise<void> => store.setSetting(beatKey(name), undefined);
