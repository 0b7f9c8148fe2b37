/**
 * Wakes waiting callers when records are appended. An append of this process wakes the callers directly. After an append of
 * another process, a message from the server wakes the callers. While a caller waits, a poll also reads the head, because a
 * message may be lost, and a connection may break without an error.
 */
import { Waiters } from './waiters.ts';

/** How often the head is read while a caller waits. */
const ASK_EVERY_MS = 500;

/** The callbacks with which a listener reports. */
export type Heard = {
  readonly head: (head: number) => void;
  /** Reports that the listener now receives all later messages. The store then reads the head once. */
  readonly ready: () => void;
  /** Reports that the listener receives no further messages. The store starts another listener a little later. */
  readonly lost: () => void;
};
/** Starts a listener, and returns the function that ends it. */
export type Listen = (heard: Heard) => () => void;

export class Wakeups {
  readonly #waiters: Waiters;
  readonly #listenTo: Listen;
  readonly #head: () => Promise<number>;
  #newest = 0;
  #timer: NodeJS.Timeout | undefined;
  #listener: { end: () => void } | undefined;
  #asking = false;
  /** True if the head may have moved since the running read of the head began. */
  #again = false;
  #closed = false;

  constructor(listen: Listen, head: () => Promise<number>) {
    this.#listenTo = listen;
    this.#head = head;
    this.#waiters = new Waiters({ busy: () => this.#start(), idle: () => this.#stop() });
  }

  /** Resolves with the head when it is above `after`, or with `after` on abort, timeout or close. */
  async wait(after: number, options: { withinMs?: number | undefined; signal?: AbortSignal | undefined }): Promise<number> {
    if (this.#closed) return after;
    return this.#newest > after ? this.#newest : this.#waiters.wait(after, options);
  }

  wake(head: number): void {
    this.#newest = Math.max(this.#newest, head);
    this.#waiters.wake(head);
  }

  /** Reads the head if a caller waits. */
  look(): void {
    if (this.#timer !== undefined) void this.#ask();
  }

  close(): void {
    this.#closed = true;
    this.#waiters.close();
    this.#stop();
  }

  #start(): void {
    this.#timer = setInterval(() => {
      void this.#ask();
      if (this.#listener === undefined) this.#listen();
    }, ASK_EVERY_MS);
    this.#listen();
    // A record may have been appended since the caller read the head.
    void this.#ask();
  }

  #stop(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
    const listener = this.#listener;
    this.#listener = undefined;
    listener?.end();
  }

  async #ask(): Promise<void> {
    if (this.#asking) {
      this.#again = true;
      return;
    }
    this.#asking = true;
    try {
      this.wake(await this.#head());
    } catch {
      // The callers' own reads report this error.
    } finally {
      this.#asking = false;
    }
    if (!this.#again) return;
    this.#again = false;
    this.look();
  }

  #listen(): void {
    const listener = { end: (): void => {} };
    this.#listener = listener;
    listener.end = this.#listenTo({
      head: (head) => this.wake(head),
      // A record may have been appended before the listener was ready.
      ready: () => void this.#ask(),
      lost: () => {
        if (this.#listener === listener) this.#listener = undefined;
      },
    });
  }
}
