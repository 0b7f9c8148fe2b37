/** While a model works, searches for undelivered interrupts each time that any process changes the store. */
import type { Item } from '../core/items.ts';
import { nextHead, type Conversation } from '../inbox/index.ts';

export class Interrupts implements AsyncDisposable {
  readonly #conversation: Conversation;
  readonly #end = new AbortController();
  readonly #watching: Promise<void>;
  readonly #found: (interrupts: readonly Item[]) => void;

  /** If undelivered interrupts exist, calls `found` at the start and after each change of the store. `found` must not throw. */
  constructor(conversation: Conversation, found: (interrupts: readonly Item[]) => void) {
    this.#conversation = conversation;
    this.#found = found;
    this.#watching = this.#watch();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#end.abort();
    await this.#watching;
  }

  async #watch(): Promise<void> {
    const { store } = this.#conversation.inbox;
    const { signal } = this.#end;
    let seen = await store.head().catch(() => 0);
    while (!signal.aborted) {
      const found = await undelivered(this.#conversation).catch(() => []);
      if (found.length > 0 && !signal.aborted) this.#found(found);
      seen = await nextHead(store, seen, signal);
    }
  }
}

export const undelivered = async (conversation: Conversation): Promise<readonly Item[]> =>
  (await conversation.gate()).filter(({ state }) => state === 'open');
