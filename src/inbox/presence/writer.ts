/**
 * Ensures that each conversation has one writer: the process that runs its loop. If the writer is a dead process of this machine,
 * it is replaced at once. If the writer is on another machine, it is replaced after a silence of 20 s.
 */
import type { ConversationId, LogKey } from '../../core/address.ts';
import { EarpieceError } from '../../core/errors.ts';
import type { Owner } from '../../core/records.ts';
import type { Context } from '../context.ts';
import { Beat, forgetBeat, hasEnded } from './beat.ts';
import { isSame } from './presence.ts';

type Place = { readonly log: LogKey; readonly id: ConversationId };

/** The names of the open inboxes of this process. */
const OPEN = new Set<string>();

type Holder = Owner & { readonly inbox: string };

/** Makes one inbox of this process the only writer of its conversations. */
export class WriterHold {
  readonly #context: Pick<Context, 'store' | 'owner' | 'isAlive'>;
  /** A name that distinguishes the inboxes of one process. */
  readonly #name: string;
  readonly #beat: Beat;
  readonly #held = new Set<string>();
  /** The keys of conversations that another machine may have taken over. */
  readonly #lost = new Set<string>();

  constructor(context: Pick<Context, 'store' | 'owner' | 'isAlive'>, name: string) {
    this.#context = context;
    this.#name = name;
    this.#beat = new Beat(context.store, name);
    OPEN.add(name);
  }

  /** Holds the conversation. Throws `store_refused` if this or another open inbox already holds the conversation. */
  async take(place: Place): Promise<void> {
    const { store } = this.#context;
    const key = keyOf(place);
    for (;;) {
      const holder = (await store.setting(key)) as Holder | undefined;
      if (holder !== undefined && (await this.#isTaken(key, holder))) throw taken(place, holder, this.#isMine(holder));
      await this.#check();
      if (!store.private) await this.#beat.start();
      if (!(await store.swapSetting(key, holder, this.#self))) continue;
      this.#held.add(key);
      this.#lost.delete(key);
      return;
    }
  }

  /** Throws `store_refused` if another machine may have taken over the conversation. */
  async mustHold(place: Place): Promise<void> {
    const key = keyOf(place);
    if (this.#held.has(key)) await this.#check();
    if (this.#lost.has(key)) throw taken(place, (await this.#context.store.setting(key)) as Holder | undefined, false);
  }

  /** Marks all conversations of this inbox as lost if another machine has treated this process as dead. */
  async #check(): Promise<void> {
    if (this.#context.store.private || this.#held.size === 0 || (await this.#beat.lives())) return;
    for (const key of this.#held) this.#lost.add(key);
    this.#held.clear();
  }

  async release(place: Place): Promise<void> {
    const key = keyOf(place);
    await this.#context.store.swapSetting(key, this.#self, undefined);
    this.#lost.delete(key);
    if (this.#held.delete(key) && this.#held.size === 0) await this.#beat.stop();
  }

  close(): void {
    OPEN.delete(this.#name);
    this.#beat.pause();
  }

  /**
   * Whether this or another open inbox holds the conversation. If the holder's process is on another machine, the check takes up
   * to 20 s.
   */
  async #isTaken(key: string, holder: Holder): Promise<boolean> {
    const { store, isAlive } = this.#context;
    if (this.#isMine(holder)) return holder.inbox === this.#name ? !this.#lost.has(key) : OPEN.has(holder.inbox);
    const alive = isAlive(holder);
    if (alive === false) await forgetBeat(store, holder.inbox);
    return alive ?? !(await hasEnded(store, holder.inbox));
  }

  #isMine(holder: Holder): boolean {
    return isSame(holder, this.#context.owner);
  }

  get #self(): Holder {
    return { ...this.#context.owner, inbox: this.#name };
  }
}

function taken(place: Place, holder: Holder | undefined, mine: boolean): EarpieceError {
  const by = holder === undefined ? 'another process' : `process ${holder.pid}`;
  const on = holder === undefined || mine ? '' : ` on ${holder.machine}`;
  return new EarpieceError(
    'store_refused',
    `${by} already writes to ${place.log}#${place.id}${on}; end that process, or use another conversation`,
    { data: { holder } },
  );
}

const keyOf = ({ log, id }: Place): string => `writer ${log}#${id}`;
