import { type FSWatcher, watch } from 'node:fs';
import { Waiters } from '../waiters.ts';

/** The time between two reads of the head while a caller waits, in ms: with and without a watch on the file. */
export type PollMs = { readonly watched: number; readonly unwatched: number };
const POLL_MS: PollMs = { watched: 250, unwatched: 25 };
/**
 * The watch fires when a commit's pages are written, but readers see the pages only after the fsync, which fires no watch. So
 * after such a hint, the head is read at once, and again after each of these times.
 */
const AFTER_HINT_MS = [1, 1, 2, 4, 8, 16, 32, 64];

/**
 * Notices the appends of other processes. Without waiters, no timer runs. The watch on the -wal file is kept, because it costs
 * nothing between writes and does not keep the process alive. While a caller waits, a poll also reads the head, more often
 * without a watch. The poll sets up a new watch after the file was replaced.
 */
export class Wakeups {
  readonly #walPath: string;
  readonly #head: () => number | undefined;
  readonly #pollMs: PollMs;
  readonly #waiters: Waiters;
  #watcher: FSWatcher | undefined;
  #poll: NodeJS.Timeout | undefined;
  #after: NodeJS.Timeout | undefined;
  #step = 0;
  #closed = false;

  /** `head` returns the newest position, or undefined if the head cannot be read now. */
  constructor(walPath: string, head: () => number | undefined, pollMs = POLL_MS) {
    this.#walPath = walPath;
    this.#head = head;
    this.#pollMs = pollMs;
    this.#waiters = new Waiters({ busy: () => this.#begin(), idle: () => this.#rest() });
  }

  async wait(after: number, options: { withinMs?: number | undefined; signal?: AbortSignal | undefined }): Promise<number> {
    if (this.#closed) return after;
    const waiting = this.#waiters.wait(after, options);
    // These reads find appends between the caller's read of the head and the start of the watch. The reads also find appends
    // that were not visible yet at their hint.
    this.#hinted();
    return waiting;
  }

  /** Reports an append of this process. */
  wake(head: number): void {
    if (this.#waiters.size > 0) this.#waiters.wake(head);
  }

  close(): void {
    this.#closed = true;
    this.#waiters.close();
    this.#unwatch();
  }

  #begin(): void {
    this.#watch();
    this.#schedulePoll();
  }

  #rest(): void {
    clearTimeout(this.#poll);
    clearTimeout(this.#after);
    this.#after = undefined;
  }

  #schedulePoll(): void {
    this.#poll = setTimeout(
      () => {
        this.#watch();
        this.#schedulePoll();
        this.#readHead();
      },
      this.#watcher === undefined ? this.#pollMs.unwatched : this.#pollMs.watched,
    );
  }

  #readHead(): void {
    const head = this.#head();
    if (head !== undefined) this.#waiters.wake(head);
  }

  #hinted(): void {
    if (this.#waiters.size === 0) return;
    this.#step = 0;
    this.#readHead();
    if (this.#after === undefined && this.#waiters.size > 0) this.#readLater();
  }

  #readLater(): void {
    this.#after = setTimeout(() => {
      this.#after = undefined;
      this.#readHead();
      this.#step++;
      if (this.#waiters.size > 0 && this.#step < AFTER_HINT_MS.length) this.#readLater();
    }, AFTER_HINT_MS[this.#step]);
  }

  #watch(): void {
    if (this.#watcher !== undefined || this.#closed) return;
    try {
      this.#watcher = watch(this.#walPath, { persistent: false }, (event) => {
        // This event means that the file was deleted or replaced. The next poll watches the new file.
        if (event === 'rename') this.#unwatch();
        this.#hinted();
      });
      this.#watcher.on('error', () => this.#unwatch());
    } catch {
      // The file does not exist yet, or the system allows no more watches. The poll continues.
    }
  }

  #unwatch(): void {
    this.#watcher?.close();
    this.#watcher = undefined;
  }
}
