import type { NotificationId } from '../core/notification.ts';
import type { Level } from '../core/notification.ts';
import type { Json } from '../core/json.ts';
import type { Mode } from './modes.ts';

/** One event of an agent. Failures are events too, so the iteration never throws. */
export type AgentEvent =
  | { readonly type: 'turn_started'; readonly by: 'person' | 'notification'; readonly content: string }
  | { readonly type: 'mode'; readonly mode: Mode }
  /** A request is sent to the model. `cycle` is its number in this turn, from 1. */
  | { readonly type: 'request'; readonly cycle: number }
  | { readonly type: 'text'; readonly delta: string }
  | { readonly type: 'reasoning'; readonly delta: string }
  | { readonly type: 'tool_input'; readonly id: string; readonly name: string; readonly delta: string }
  | { readonly type: 'tool_started'; readonly id: string; readonly name: string; readonly args: Json }
  | { readonly type: 'tool_progress'; readonly id: string; readonly text: string }
  | {
      readonly type: 'tool_ended';
      readonly id: string;
      readonly name: string;
      readonly content: string;
      readonly isError: boolean;
    }
  /** A carrier brought notifications to the model. `text` is their text. */
  | { readonly type: 'delivered'; readonly at: string; readonly ids: readonly NotificationId[]; readonly text: string }
  /** A notification is open and waits for its carrier. */
  | {
      readonly type: 'waiting';
      readonly id: NotificationId;
      readonly level: Level;
      readonly kind: string;
      readonly message: string;
    }
  /** The agent has ended the model's answer or the tools. */
  | { readonly type: 'aborted'; readonly what: 'answer' | 'tools'; readonly why: string }
  | { readonly type: 'retry'; readonly inMs: number; readonly why: string }
  /**
   * The provider refused a request with these notifications and accepted the request without them, so one line replaces the
   * notifications.
   */
  | { readonly type: 'left_out'; readonly ids: readonly NotificationId[]; readonly why: string }
  | { readonly type: 'usage'; readonly inputTokens: number; readonly outputTokens: number; readonly cachedTokens: number }
  /** A person must decide whether these notifications may wake the agent (`wake = "ask"`). */
  | { readonly type: 'wake_asked'; readonly ids: readonly NotificationId[]; readonly text: string }
  | {
      readonly type: 'turn_ended';
      readonly how: 'complete' | 'truncated' | 'refused' | 'stopped' | 'failed';
      readonly cycles: number;
      /** Why the turn was truncated, refused or failed; missing if the turn is complete or stopped. */
      readonly error?: string;
    };

/** The queue of events for one listener. The iteration ends when the queue is closed. */
export class EventQueue<T> implements AsyncIterable<T> {
  #events: T[] = [];
  #wake: (() => void) | undefined;
  #closed = false;
  readonly #onClose: () => void;

  constructor(onClose: () => void = () => {}) {
    this.#onClose = onClose;
  }

  push(event: T): void {
    if (this.#closed) return;
    this.#events.push(event);
    this.#wake?.();
  }

  close(): void {
    this.#onClose();
    this.#closed = true;
    this.#wake?.();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<T, void, undefined> {
    for (;;) {
      const next = this.#events.shift();
      if (next !== undefined) yield next;
      else if (this.#closed) return;
      else await new Promise<void>((resolve) => (this.#wake = resolve));
    }
  }
}
