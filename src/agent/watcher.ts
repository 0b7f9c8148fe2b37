/**
 * Checks the open notifications of one agent whenever any process changes the store. Shows these notifications, passes interrupts
 * to the agent, and wakes an idle agent according to the policy. A signal from the store only starts a check, which depends only
 * on the open notifications.
 */
import type { Item } from '../core/items.ts';
import { formatKind, isInterrupt, type NotificationId } from '../core/notification.ts';
import type { Draft } from '../core/records.ts';
import { waking } from '../core/waking.ts';
import { earlierWakes, nextHead, wakingFacts, type Conversation, type Inbox } from '../inbox/index.ts';
import type { AgentEvent } from './events.ts';
import type { Mode } from './modes.ts';

/** The longest delay of Node's timers. If the due time is later, the timer is set again when it fires. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** The part of the agent that the watcher uses. */
export type Watched = {
  readonly inbox: Inbox;
  readonly conversation: Conversation;
  readonly mode: Mode;
  paused(): Promise<boolean>;
  emit(event: AgentEvent): void;
  /** Interrupts the agent for an open interrupt. Returns true if the current stream or tools were ended. */
  force(item: Item): boolean;
  /** Begins a turn. Resolves when the turn has ended, or to undefined if another turn has already begun. */
  wake(ids: readonly NotificationId[], at: 'idle' | 'forced'): Promise<unknown>;
  /** Reports an error of a turn that no caller awaits. */
  trouble(error: unknown): void;
};

export class Watcher {
  readonly #agent: Watched;
  readonly #end = new AbortController();
  readonly #shown = new Set<NotificationId>();
  /** The notifications that have woken the agent. Each notification wakes the agent only once. */
  readonly #woken = new Set<NotificationId>();
  /** The times at which the agent was woken, epoch ms. */
  #wokenAt: number[] = [];
  readonly #asked = new Set<NotificationId>();
  readonly #handedBack = new Set<NotificationId>();
  #watching: Promise<void> = Promise.resolve();
  #looking: Promise<void> = Promise.resolve();
  #again = false;
  /** Starts a check at the time when a notification becomes due for an idle agent. */
  #timer: NodeJS.Timeout | undefined;

  constructor(agent: Watched) {
    this.#agent = agent;
  }

  async start(records: readonly Draft[]): Promise<void> {
    for (const record of records)
      if (record.type === 'agent_woken')
        for (const id of (record as unknown as { ids: NotificationId[] }).ids) this.#woken.add(id);
    this.#wokenAt = (await earlierWakes(this.#agent.conversation)).at;
    const { store } = this.#agent.inbox;
    let seen = await store.head();
    this.#watching = (async () => {
      while (!this.#end.signal.aborted) {
        seen = await nextHead(store, seen, this.#end.signal);
        this.look();
      }
    })();
    this.look();
  }

  async stop(): Promise<void> {
    this.#end.abort();
    await this.#watching;
    await this.#looking;
    clearTimeout(this.#timer);
  }

  /** Checks now. A call during a check leads to one more check. */
  look(): void {
    if (this.#again || this.#end.signal.aborted) return;
    this.#again = true;
    this.#looking = this.#looking.then(async () => {
      this.#again = false;
      // After a failed read, the next change of the store leads to another check.
      await this.#look().catch(() => undefined);
    });
  }

  /** Counts a wake of the agent against `wake.max_per_hour`. */
  woke(): void {
    this.#wokenAt.push(this.#agent.inbox.store.now());
  }

  personCame(): void {
    this.#handedBack.clear();
  }

  /** Keeps these notifications from waking the agent, because a person stopped the turn. */
  handedBack(ids: readonly NotificationId[]): void {
    for (const id of ids) this.#handedBack.add(id);
  }

  async #look(): Promise<void> {
    const { conversation, inbox } = this.#agent;
    clearTimeout(this.#timer);
    const open = (await inbox.store.items(conversation.log, { kind: 'open', conversation: conversation.id })).filter(
      (item) => item.state === 'open',
    );
    for (const item of open) this.#show(item);
    if (open.length === 0) return;
    const decisions = await conversation.decisions({ at: this.#agent.mode === 'idle' ? 'idle' : 'forced' });
    const taken = new Set(decisions.flatMap((d) => (d.kind === 'take' ? [d.id] : [])));
    const due = open.filter((item) => taken.has(item.id));
    if (this.#agent.mode !== 'idle') {
      const urgent = due.filter((item) => isInterrupt(item.notification));
      for (const item of urgent) if (this.#agent.force(item)) return;
      return;
    }
    await this.#wake(due, open);
  }

  #show(item: Item): void {
    if (this.#shown.has(item.id)) return;
    this.#shown.add(item.id);
    const { level, kind, message } = item.notification;
    this.#agent.emit({ type: 'waiting', id: item.id, level, kind: formatKind(kind), message });
  }

  async #wake(due: readonly Item[], open: readonly Item[]): Promise<void> {
    const { conversation } = this.#agent;
    const spent = new Set([...this.#woken, ...this.#handedBack]);
    const facts = wakingFacts(conversation, { ids: spent, at: this.#wokenAt }, await this.#agent.paused());
    const { nextAt } = waking(open, facts);
    if (nextAt !== undefined && !this.#end.signal.aborted)
      this.#timer = setTimeout(() => this.look(), Math.min(Math.max(1, nextAt - facts.now), LONGEST_TIMER_MS));
    const { wakes, asks } = waking(due, facts);
    if (wakes.length > 0) {
      const ids = due.map((item) => item.id);
      const added = ids.filter((id) => !this.#woken.has(id));
      for (const id of added) this.#woken.add(id);
      const forced = wakes.some((item) => isInterrupt(item.notification));
      // The turn is not awaited, because the watcher must be able to interrupt a running turn.
      void this.#agent.wake(ids, forced ? 'forced' : 'idle').then(
        (turn) => {
          // Another turn had just begun. If that turn does not deliver the notifications, the notifications wake the agent after
          // that turn.
          if (turn === undefined) for (const id of added) this.#woken.delete(id);
        },
        (error: unknown) => this.#agent.trouble(error),
      );
      return;
    }
    const ask = asks.filter(({ id }) => !this.#asked.has(id));
    if (ask.length === 0) return;
    for (const item of ask) this.#asked.add(item.id);
    this.#agent.emit({
      type: 'wake_asked',
      ids: ask.map((item) => item.id),
      text: ask.map((item) => `${formatKind(item.notification.kind)}: ${item.notification.message}`).join('\n'),
    });
  }
}
