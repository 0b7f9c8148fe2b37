/** One writer for each conversation: the process that runs its loop. */
import type { ConversationId, LogKey } from '../../core/address.ts';
import { EarpieceError } from '../../core/errors.ts';
import type { Owner } from '../../core/records.ts';
import type { Context } from '../context.ts';
import { isSame } from './presence.ts';

type Place = { readonly log: LogKey; readonly id: ConversationId };

/** The open inboxes of this process. */
const OPEN = new Set<string>();

/** The conversations that one inbox of this process holds. */
export class WriterHold {
  readonly #context: Pick<Context, 'store' | 'owner' | 'isAlive'>;
  /** A name that distinguishes the inboxes of one process. */
  readonly #name: string;

  constructor(context: Pick<Context, 'store' | 'owner' | 'isAlive'>, name: string) {
    this.#context = context;
    this.#name = name;
    OPEN.add(name);
  }

  /** Holds the conversation. Throws `store_refused` while another open inbox holds the conversation. */
  async take(place: Place): Promise<void> {
    const { store, owner, isAlive } = this.#context;
    const key = keyOf(place);
    for (;;) {
      const holder = (await store.setting(key)) as (Owner & { inbox: string }) | undefined;
      const mine = isSame(holder, owner);
      if (holder !== undefined && (mine ? holder.inbox === this.#name || OPEN.has(holder.inbox) : isAlive(holder) !== false))
        throw new EarpieceError(
          'store_refused',
          `process ${holder.pid} writes ${place.log}#${place.id}${mine ? '' : ` on ${holder.machine}`}; end that process, or use another conversation`,
          { data: { holder } },
        );
      if (await store.swapSetting(key, holder, this.#self)) return;
    }
  }

  async release(place: Place): Promise<void> {
    await this.#context.store.swapSetting(keyOf(place), this.#self, undefined);
  }

  close(): void {
    OPEN.delete(this.#name);
  }

  get #self(): Owner & { inbox: string } {
    return { ...this.#context.owner, inbox: this.#name };
  }
}

const keyOf = ({ log, id }: Place): string => `writer ${log}#${id}`;
