import { arrive, begin, leave, type Conversation, type Identity } from '../../inbox/index.ts';

/**
 * What one connection tells of the conversation that it has: that it is there, that it works, and that it is gone. A
 * connection that never works was no conversation, so it takes nothing over.
 */
export class Attendance {
  readonly #connection: string;
  #conversation: Conversation | undefined;
  #arrived: Promise<void> | undefined;
  #begins: Promise<void> | undefined;
  #begun: Conversation | undefined;

  constructor(connection: string) {
    this.#connection = connection;
  }

  /** It has taken over what is its to inherit, so a look at its own notifications tells everything. */
  hasBegun(conversation: Conversation): boolean {
    return this.#begun === conversation;
  }

  /** The connection is there; nobody has called a tool by it yet. */
  arrive(conversation: Conversation): Promise<void> {
    if (this.#conversation !== conversation) {
      const left = this.#conversation;
      this.#conversation = conversation;
      // The conversation that it had goes on in this one (`/clear`), or has other connections.
      this.#arrived = (async () => {
        if (left !== undefined) await leave(left, { connection: this.#connection, staysUntilTold: true });
        await arrive(conversation, { connection: this.#connection, pending: true });
      })();
      this.#arrived.catch(() => (this.#conversation = undefined));
    }
    return this.#arrived ?? Promise.resolve();
  }

  /** Before the first gate check of each conversation; afterwards it costs nothing. */
  async begin(conversation: Conversation, { host }: Identity): Promise<void> {
    if (this.#begun === conversation) return;
    await this.arrive(conversation);
    this.#begins ??= this.#begin(conversation, host?.nested).finally(() => (this.#begins = undefined));
    await this.#begins;
  }

  async leave(identity: Identity): Promise<void> {
    const conversation = this.#conversation;
    if (conversation === undefined) return;
    await this.#arrived;
    // A host that binds its process also tells when its session ends.
    await leave(conversation, { connection: this.#connection, staysUntilTold: identity.by === 'binding' });
  }

  async #begin(conversation: Conversation, nested: boolean | undefined): Promise<void> {
    const { waits } = await begin(conversation, nested === undefined ? {} : { nested });
    // What is on its way to a conversation that is over may come back: then it is asked for once more.
    if (!waits) this.#begun = conversation;
  }
}
