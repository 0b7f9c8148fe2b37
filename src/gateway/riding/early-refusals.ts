/**
 * The refusals that one client got from the last known gate, because the store did not answer in time. Each refusal is recorded
 * once, in order, when the store answers. A refusal is kept only in this process until then.
 *
 * State `asking`, after `keep`: `before` still asks the store. If `before` records the same refusal, nothing remains to do.
 * Otherwise the refusal is `unwritten`: it is written at once, and after a failure every `RETRY_MS`, before the next call, and when
 * the client disconnects.
 */
import { loadEarly, type Conversation, type EarlyRefusal } from '../../inbox/index.ts';

const RETRY_MS = 500;

type Early = { readonly conversation: Conversation; readonly refusal: EarlyRefusal };

export class EarlyRefusals {
  /** The refusals in state `asking`, and the first write of the refusals after them. */
  readonly #asking = new Set<Promise<void>>();
  readonly #unwritten: Early[] = [];
  #writing: Promise<void> | undefined;
  #timer: NodeJS.Timeout | undefined;
  #last: Promise<void> = Promise.resolve();

  /** Keeps a refusal. The caller calls the returned function when `before` has ended. */
  keep(early: Early): (how: 'recorded' | 'unrecorded') => Promise<void> {
    const { promise: ended, resolve } = Promise.withResolvers<'recorded' | 'unrecorded'>();
    const before = this.#last;
    const done = before.then(async () => {
      if ((await ended) === 'recorded') return;
      this.#unwritten.push(early);
      await this.#write().catch(() => {});
    });
    this.#last = done;
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

  #write(): Promise<void> {
    this.#writing ??= this.#writeAll().finally(() => (this.#writing = undefined));
    return this.#writing;
  }

  async #writeAll(): Promise<void> {
    clearTimeout(this.#timer);
    try {
      for (let first = this.#unwritten[0]; first !== undefined; first = this.#unwritten[0]) {
        const { recordEarly } = await loadEarly();
        await recordEarly(first.conversation, first.refusal);
        this.#unwritten.shift();
      }
    } catch (error) {
      this.#timer = setTimeout(() => void this.#write().catch(() => {}), RETRY_MS);
      this.#timer.unref();
      throw error;
    }
  }
}
