/**
 * Runs the commands of a person (or a script) in a conversation, for any front. During a turn, messages wait for their own turn,
 * and `wake` does nothing. All other commands take effect at once.
 */
import type { AgentEvent, TurnResult } from '../../agent/index.ts';
import { EarpieceError } from '../../core/errors.ts';
import type { NotificationId } from '../../core/notification.ts';
import type { Item } from '../../core/items.ts';
import type { Session } from './session.ts';

export type DriverOptions = {
  readonly session: Session;
  /** Shows an event of the agent. The driver passes the events in order, one at a time. */
  readonly show: (event: AgentEvent) => Promise<void> | void;
  /** Shows a message that was sent to the agent. */
  readonly sent: (text: string) => void;
  /** Shows the message of an internal error. The conversation continues. */
  readonly trouble: (message: string) => void;
};

/** The delay before a message is sent again. A resend is needed if a turn began between the check and the send. */
const AGAIN_MS = 50;

export class Driver {
  readonly session: Session;
  /** How the last turn ended. */
  last: TurnResult['how'] | undefined;
  readonly #options: DriverOptions;
  readonly #events: ReturnType<Session['agent']['events']>;
  readonly #showing: Promise<void>;
  #waiting: string[] = [];
  /** The turn that this driver started, while it runs. */
  #turn: Promise<unknown> | undefined;
  #woken = false;
  #again: NodeJS.Timeout | undefined;
  #idle: (() => void)[] = [];
  #ended = false;

  constructor(options: DriverOptions) {
    this.#options = options;
    this.session = options.session;
    this.#events = options.session.agent.events();
    this.#showing = this.#show();
  }

  /** Whether a turn runs or is about to begin. */
  get busy(): boolean {
    return this.#turn !== undefined || this.session.agent.mode !== 'idle' || this.#woken;
  }

  /** Messages that wait for their turn. */
  get waiting(): readonly string[] {
    return this.#waiting;
  }

  /**
   * Sends a message, at once or after the current turn. The message is shown as sent only after the agent has accepted the
   * message.
   */
  send(text: string): void {
    this.#waiting.push(text);
    this.#pump();
  }

  /** Removes and returns the waiting messages. */
  takeBack(): readonly string[] {
    return this.#waiting.splice(0);
  }

  /** Adds text to the running turn. If no turn accepts the text, the text is sent as a message. */
  reply(text: string): void {
    if (this.session.agent.reply(text)) this.#options.sent(text);
    else this.send(text);
  }

  stop(): void {
    this.session.agent.stop();
  }

  /**
   * Begins a turn about the open notifications with these ids (default: all open notifications). Returns false if there is no such
   * notification, or if a turn already runs.
   */
  async wake(ids?: readonly NotificationId[]): Promise<boolean> {
    if (this.busy) return false;
    const about = (await this.open()).map(({ id }) => id).filter((id) => ids === undefined || ids.includes(id));
    if (about.length === 0 || this.busy) return false;
    this.#begin(this.session.agent.wake(about, 'idle'));
    return true;
  }

  /** Continues an unfinished turn, if there is one. */
  resume(): void {
    this.#begin(this.session.agent.resume());
  }

  /** Lists the open notifications of this conversation, oldest first. */
  async open(): Promise<readonly Item[]> {
    const { log, id } = this.session.agent.conversation;
    return (await this.session.ear.store.items(log, { kind: 'open', conversation: id })).filter(({ state }) => state === 'open');
  }

  /** Withdraws open notifications: all of them, or the n-th, counted from 1. */
  async dismiss(n?: number): Promise<readonly Item[]> {
    const open = await this.open();
    const chosen = n === undefined ? open : open.filter((_, i) => i + 1 === n);
    for (const { id } of chosen)
      await this.session.ear.withdraw(
        this.session.agent.conversation.log,
        { id },
        { by: 'person', reason: 'dismissed in the chat' },
      );
    return chosen;
  }

  /** Resolves when no turn runs and no message waits. */
  async settled(): Promise<void> {
    while (this.busy || this.#waiting.length > 0) await new Promise<void>((resolve) => this.#idle.push(resolve));
  }

  /** Shows an internal error. The conversation continues. */
  readonly trouble = (error: unknown): void => this.#options.trouble(error instanceof Error ? error.message : String(error));

  /** Stops showing events, and drops the waiting messages. The session stays open. */
  async end(): Promise<void> {
    this.#ended = true;
    this.#waiting = [];
    clearTimeout(this.#again);
    this.#events.close();
    await this.#showing;
    this.#wakeUp();
  }

  #pump(): void {
    if (this.#turn !== undefined || this.#again !== undefined || this.#ended) return;
    if (this.session.agent.mode !== 'idle') return;
    const next = this.#waiting.shift();
    if (next === undefined) return;
    this.#begin(
      this.session.agent.send(next).catch((error: unknown) => {
        // If the agent has just begun a turn by itself, the new turn is refused before any event is shown.
        if (!(error instanceof EarpieceError && error.code === 'bad_argument')) throw error;
        this.#waiting.unshift(next);
        this.#again ??= setTimeout(() => {
          this.#again = undefined;
          this.#pump();
        }, AGAIN_MS);
      }),
    );
  }

  #begin(turn: Promise<unknown>): void {
    this.#turn = turn
      .catch((error: unknown) => {
        this.last = 'failed';
        this.trouble(error);
      })
      .finally(() => {
        this.#turn = undefined;
        this.#wakeUp();
        this.#pump();
      });
  }

  async #show(): Promise<void> {
    for await (const event of this.#events) {
      if (event.type === 'turn_started') {
        this.#woken = true;
        if (event.by === 'person' && event.content !== '') this.#options.sent(event.content);
      }
      if (event.type === 'turn_ended') this.last = event.how;
      try {
        await this.#options.show(event);
      } catch (error) {
        this.trouble(error);
      }
      if (event.type === 'mode' && event.mode === 'idle') {
        this.#woken = false;
        this.#wakeUp();
        this.#pump();
      }
    }
  }

  #wakeUp(): void {
    for (const resolve of this.#idle.splice(0)) resolve();
  }
}
