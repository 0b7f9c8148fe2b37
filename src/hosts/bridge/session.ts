/**
 * Pushes texts to one session of a host, between the moments that the plugin reports. The plugin also reports the state of the
 * session.
 *
 * idle ──asked──▶ asking ──a tool──▶ working ──asked──▶ asking ──the turn ends──▶ idle
 *
 * A notification may wake an idle session. A critical notification or a cancel may end a request that streams.
 */
import type { Item } from '../../core/items.ts';
import { formatKind, isInterrupt, type NotificationId } from '../../core/notification.ts';
import { waking } from '../../core/waking.ts';
import { earlierWakes, isSignal, wakingFacts, type Conversation, type EarlierWakes } from '../../inbox/index.ts';
import type { Attended } from '../moment.ts';
import type { Push, SessionState } from './protocol.ts';

/** A text to push, with the functions that settle its delivery. */
export type Pushed = Pick<Attended, 'confirm' | 'release' | 'carrier'> & { readonly text: string };

export type SessionOptions = {
  readonly maxChars: number;
  /** Sends a text to the plugin. */
  readonly push: (kind: 'wake' | 'force', pushed: Pushed) => void;
  readonly tell: (push: Extract<Push, { push: 'gate' | 'show' }>) => void;
};

/** The longest delay of Node's timers. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

export class Session {
  readonly name: string;
  conversation: Conversation;
  readonly #options: SessionOptions;
  #state: SessionState | undefined;
  #gateUp = false;
  /** The wakes of this process and of earlier processes. */
  #earlier: EarlierWakes | undefined;
  readonly #shown = new Set<NotificationId>();
  /** Whether the session's last request was ended for an interrupt, so that the next request contains the interrupt. */
  #forcing = false;
  /**
   * Whether any critical notification may end the request. After an interrupt has ended one request, only a cancel or a person's
   * critical notification ends the next request.
   */
  #mayForce = true;
  #timer: NodeJS.Timeout | undefined;
  #checking: Promise<void> = Promise.resolve();
  #again = false;
  #closed = false;

  constructor(name: string, conversation: Conversation, options: SessionOptions) {
    this.name = name;
    this.conversation = conversation;
    this.#options = options;
  }

  /** Whether calls are refused, because the interrupt that ended the request is in the next request. */
  get forcing(): boolean {
    return this.#forcing;
  }

  become(state: SessionState): void {
    if (state === 'asking') this.#forcing = false;
    else this.#mayForce = true;
    if (state === this.#state) return;
    this.#state = state;
    this.check();
  }

  /** Checks for notifications now, or once more after a check that is running. */
  check(): void {
    if (this.#again || this.#closed) return;
    this.#again = true;
    this.#checking = this.#checking.then(async () => {
      this.#again = false;
      // If the store cannot be read, the next change of the store causes another check.
      if (!this.#closed) await this.#check().catch(() => undefined);
    });
  }

  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#timer);
    await this.#checking;
  }

  /** Records that a pushed notification did not reach the model. */
  missed(kind: 'wake' | 'force'): void {
    if (kind === 'force') this.#forcing = false;
  }

  async #check(): Promise<void> {
    clearTimeout(this.#timer);
    const { conversation } = this;
    const { store } = conversation.inbox;
    if (conversation.quiet() && !this.#gateUp) return;
    const gate = await conversation.gate();
    const up = gate.length > 0;
    if (up !== this.#gateUp) this.#options.tell({ push: 'gate', session: this.name, up });
    this.#gateUp = up;
    const state = this.#state;
    if (state !== 'idle' && state !== 'asking') return;
    const open = (await store.items(conversation.log, { kind: 'open', conversation: conversation.id })).filter(
      (item) => item.state === 'open',
    );
    if (open.length === 0) return;
    const decisions = await conversation.decisions({ at: state === 'idle' ? 'idle' : 'forced' });
    const taken = new Set(decisions.flatMap((each) => (each.kind === 'take' ? [each.id] : [])));
    const due = open.filter(({ id }) => taken.has(id));
    if (state === 'asking') return this.#force(due);
    const paused = gate.some(({ notification }) => notification.action === 'pause');
    return this.#wake(due, open, paused);
  }

  async #force(due: readonly Item[]): Promise<void> {
    const urgent = due.filter(({ notification: { action, level, origin } }) => {
      if (action === 'pause' || (level !== 'critical' && action !== 'cancel')) return false;
      return this.#mayForce || action !== undefined || origin?.person !== undefined;
    });
    if (urgent.length === 0 || this.#forcing || this.#state !== 'asking') return;
    const pushed = await this.#offered('forced', 'abort');
    if (pushed === undefined) return;
    if (this.#isNow('asking')) {
      this.#forcing = true;
      this.#mayForce = false;
      this.#options.push('force', pushed);
    } else await pushed.release();
  }

  async #wake(due: readonly Item[], open: readonly Item[], paused: boolean): Promise<void> {
    const { conversation } = this;
    const { inbox, log, id: conversationId } = conversation;
    const earlier = (this.#earlier ??= await earlierWakes(conversation));
    const facts = wakingFacts(conversation, earlier, paused);
    const { now } = facts;
    const { wakes, asks } = waking(due, facts);
    const { nextAt } = waking(open, facts);
    if (nextAt !== undefined && !this.#closed)
      this.#timer = setTimeout(() => this.check(), Math.min(Math.max(1, nextAt - now), LONGEST_TIMER_MS));
    const ask = asks.filter(({ id }) => !this.#shown.has(id));
    if (wakes.length === 0) {
      if (ask.length > 0) this.#options.tell({ push: 'show', session: this.name, text: ask.map(inWords).join('\n') });
      for (const { id } of ask) this.#shown.add(id);
      return;
    }
    if (!this.#isNow('idle')) return;
    const ids = wakes.map(({ id }) => id);
    for (const id of ids) earlier.ids.add(id);
    earlier.at.push(now);
    await inbox.store.append(log, [{ type: 'agent_woken', conversation: conversationId, ids }]);
    const pushed = await this.#offered(wakes.some(({ notification }) => isInterrupt(notification)) ? 'forced' : 'idle', 'wake');
    if (pushed === undefined) return;
    if (this.#isNow('idle')) {
      this.#state = undefined;
      this.#options.push('wake', pushed);
    } else await pushed.release();
  }

  #isNow(state: SessionState): boolean {
    return this.#state === state && !this.#closed;
  }

  async #offered(at: 'idle' | 'forced', on: string): Promise<Pushed | undefined> {
    const { conversation } = this;
    if (isSignal(conversation.policy().view)) {
      const { text } = await conversation.signal({ at });
      return { text, confirm: async () => {}, release: async () => {} };
    }
    const offer = await conversation.offer({ at, on, maxChars: this.#options.maxChars });
    if (offer === undefined) return undefined;
    return {
      text: offer.view.text,
      carrier: offer.carrier,
      confirm: async () => void (await offer.confirm()),
      release: () => offer.release('write_error'),
    };
  }
}

const inWords = ({ notification: { kind, message } }: Item): string => `${formatKind(kind)}: ${message}`;
