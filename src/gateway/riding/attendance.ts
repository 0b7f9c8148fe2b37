import { defined } from '../../core/defined.ts';
import { arrive, begin, leave, type Conversation, type Identity } from '../../inbox/index.ts';

/**
 * Records when one connection's conversation arrives, calls its first tool, and ends. A connection that never calls a tool is not
 * a conversation and inherits nothing.
 */
export class Attendance {
  readonly #connection: string;
  #conversation: Conversation | undefined;
  #arrived: Promise<void> | undefined;
  readonly #begins = new Map<Conversation, Promise<void>>();
  #begun: Conversation | undefined;

  constructor(connection: string) {
    this.#connection = connection;
  }

  /** Whether the conversation has inherited everything, so that its list of notifications is complete. */
  hasBegun(conversation: Conversation): boolean {
    return this.#begun === conversation;
  }

  /** Records that the connection is open, before it calls a tool. */
  arrive(conversation: Conversation): Promise<void> {
    if (this.#conversation !== conversation) {
      const left = this.#conversation;
      this.#conversation = conversation;
      // The former conversation does not end here: it continues in the new conversation (`/clear`), or still has other
      // connections.
      this.#arrived = (async () => {
        if (left !== undefined) await leave(left, { connection: this.#connection, hostReportsEnd: true });
        await arrive(conversation, { connection: this.#connection, pending: true });
      })();
      this.#arrived.catch(() => (this.#conversation = undefined));
    }
    return this.#arrived ?? Promise.resolve();
  }

  /**
   * Begins a conversation. Call `begin` before each gate check. Once the conversation has inherited everything, a further call
   * has no effect.
   */
  async begin(conversation: Conversation, { host }: Identity): Promise<void> {
    if (this.#begun === conversation) return;
    await this.arrive(conversation);
    let begins = this.#begins.get(conversation);
    if (begins === undefined) {
      begins = this.#begin(conversation, host?.nested).finally(() => this.#begins.delete(conversation));
      this.#begins.set(conversation, begins);
    }
    await begins;
  }

  /** Records that the connection is closed. `hostReportsEnd`: whether the host itself reports the end of the session. */
  async leave({ hostReportsEnd }: { readonly hostReportsEnd: boolean }): Promise<void> {
    const conversation = this.#conversation;
    if (conversation === undefined) return;
    await this.#arrived;
    await leave(conversation, { connection: this.#connection, hostReportsEnd });
  }

  async #begin(conversation: Conversation, nested: boolean | undefined): Promise<void> {
    const { waits } = await begin(conversation, defined({ nested }));
    // If a delivery of an ended conversation is still in flight, the next call inherits again. The connection may have changed to
    // another conversation meanwhile.
    if (!waits && this.#conversation === conversation) this.#begun = conversation;
  }
}
