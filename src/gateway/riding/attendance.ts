import { defined } from '../../core/defined.ts';
import { arrive, begin, leave, type Conversation, type Identity } from '../../inbox/index.ts';

/**
 * Records the presence of one connection's conversation: its arrival, its first tool call, its end. A connection that never
 * calls a tool is not a conversation and inherits nothing.
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

  /** The conversation has inherited everything, so its list of notifications is complete. */
  hasBegun(conversation: Conversation): boolean {
    return this.#begun === conversation;
  }

  /** The connection is open, but has not called a tool yet. */
  arrive(conversation: Conversation): Promise<void> {
    if (this.#conversation !== conversation) {
      const left = this.#conversation;
      this.#conversation = conversation;
      // The former conversation continues in this one (`/clear`), or still has other connections.
      this.#arrived = (async () => {
        if (left !== undefined) await leave(left, { connection: this.#connection, staysUntilTold: true });
        await arrive(conversation, { connection: this.#connection, pending: true });
      })();
      this.#arrived.catch(() => (this.#conversation = undefined));
    }
    return this.#arrived ?? Promise.resolve();
  }

  /** Call it before each gate check. Only the first call for a conversation does work. */
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
    // A host that binds its process also reports the end of its session.
    await leave(conversation, { connection: this.#connection, staysUntilTold: identity.by === 'binding' });
  }

  async #begin(conversation: Conversation, nested: boolean | undefined): Promise<void> {
    const { waits } = await begin(conversation, defined({ nested }));
    // A delivery to the ended conversation may still be released. The next call then checks again.
    if (!waits) this.#begun = conversation;
  }
}
