/**
 * Records the refusals that one client got from the last known gate, because the store did not answer in time. Each refusal is
 * recorded once, in order, when the store answers. Until then, only this process knows the refusal.
 *
 * State `asking`, after `keep`: `before` still asks the store. If `before` records the same refusal, nothing remains to do.
 * Otherwise the refusal is `unwritten`, and this class writes the refusal at once. After a failure, this class tries again every
 * `RETRY_MS`, before the next call, and when the client disconnects. Equal refusals in a row share one record, so that a long
 * outage does not fill the log.
 */
import { loadEarly, type Conversation, type EarlyRefusal } from '../../inbox/index.ts';

const RETRY_MS = 500;

type Early = { readonly conversation: Conversation; readonly refusal: EarlyRefusal };

export class EarlyRefusals {
  /** One promise for each refusal in state `asking`. The promise resolves after the first attempt to write the refusal. */
  readonly #asking = new Set<Promise<void>>();
  readonly #unwritten: Early[] = [];
  #writing: Promise<void> | undefined;
  #timer: NodeJS.Timeout | undefined;
  #last: Promise<void> = Promise.resolve();

  /** Keeps a refusal. The caller calls the returned function when `before` has ended. */
  keep(early: Early): (how: 'recorded' | 'unrecorded') => Promise<void> {
    const { promise: ended, resolve } = Promise.withResolvers<'recorded' | 'unrecorded'>();
    const added = this.#last.then(async () => {
      if ((await ended) === 'unrecorded') this.#add(early);
    });
    const done = added.then(() => this.#write()).catch(() => {});
    this.#last = added;
    this.#asking.add(done);
    void done.then(() => this.#asking.delete(done));
    return (how) => {
      resolve(how);
      return done;
    };
  }

  /** Resolves when the refusals so far are recorded, or the store has failed again. */
  async settled(): Promise<void> {
    await Promise.all(this.#asking);
    await this.#write().catch(() => {});
  }

  /** Records the remaining refusals of a client that has disconnected. Rejects if the store fails. */
  async end(): Promise<void> {
    await Promise.all(this.#asking);
    await this.#write().finally(() => clearTimeout(this.#timer));
  }

  #add({ conversation, refusal }: Early): void {
    const last = this.#unwritten.at(-1);
    if (last === undefined || last.conversation !== conversation || !isEqual(last.refusal, refusal)) {
      this.#unwritten.push({ conversation, refusal });
      return;
    }
    const times = (last.refusal.times ?? 1) + (refusal.times ?? 1);
    this.#unwritten.splice(-1, 1, { conversation, refusal: { ...refusal, times } });
  }

  #write(): Promise<void> {
    if (this.#writing === undefined && this.#unwritten.length > 0) this.#writing = this.#writeAll();
    return this.#writing ?? Promise.resolve();
  }

  async #writeAll(): Promise<void> {
    clearTimeout(this.#timer);
    let first: Early | undefined;
    try {
      // A refusal that is being written has left the list, so `#add` cannot change the refusal.
      while ((first = this.#unwritten.shift()) !== undefined) {
        const { recordEarly } = await loadEarly();
        await recordEarly(first.conversation, first.refusal);
      }
    } catch (error) {
      if (first !== undefined) this.#unwritten.unshift(first);
      this.#timer = setTimeout(() => void this.#write().catch(() => {}), RETRY_MS);
      this.#timer.unref();
      throw error;
    } finally {
      this.#writing = undefined;
    }
  }
}

const isEqual = (a: EarlyRefusal, b: EarlyRefusal): boolean => a.text === b.text && a.ids.join(' ') === b.ids.join(' ');
