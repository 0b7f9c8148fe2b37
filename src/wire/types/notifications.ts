/** Made of `../schemas/notifications.ts` by `node scripts/wire.ts --update`. */
import type { EndCause } from '../../core/cause.ts';
import type { Json } from '../../core/json.ts';
import type { Action, Level } from '../../core/notification.ts';
import type { Decision } from '../../core/plan.ts';
import type { Receipt } from '../../core/receipts.ts';
import type { Verdict } from '../../core/verdict/kinds.ts';
import type { Force } from '../words.ts';

export type NotificationView = {
  readonly log: string;
  /**
   * The conversation that the notification is for; null: the first conversation of the agent that can deliver the notification.
   */
  readonly conversation: string | null;
  readonly id: string;
  /** `source.name`. */
  readonly kind: string;
  readonly level: Level;
  readonly message: string;
  readonly data: Json;
  readonly action: Action | null;
  readonly instruction: string | null;
  readonly key: string | null;
  readonly about: string | null;
  readonly purpose: string | null;
  readonly deliver: Json;
  /** The person who sent the notification, if a person did. */
  readonly person: string | null;
  /** The agent that sent the notification, if an agent did. */
  readonly sender: string | null;
  /** The subscriber that made the notification. */
  readonly subscriber: string | null;
  readonly requeues: string | null;
  /** The number of occurrences, including folded notifications. */
  readonly count: number;
  readonly seq: number;
  readonly at: number;
  readonly lastAt: number;
  readonly expiresAt: number | null;
  readonly state: 'open' | 'offered' | 'closed';
  readonly receipt: Receipt;
  /**
   * The person who marked the notification as read, until there is proof that the agent has read the notification. `markedBy()`
   * of the client library makes a text from this field.
   */
  readonly markedBy: string | null;
  readonly outcome: string | null;
  readonly closedAt: number | null;
  /** Whether the notification keeps the gate of its conversations up. */
  readonly gate: boolean;
  readonly offers: number;
  /** The conversation whose carrier took the notification. */
  readonly takenBy: string | null;
  readonly carrier: string | null;
};

export type NotificationsPage = {
  readonly items: readonly NotificationView[];
  /** The start of the next page; null: this is the last page. */
  readonly next: string | null;
  /**
   * Set by a search for words: the time of the oldest notification that was searched, epoch milliseconds; missing if all were
   * searched.
   */
  readonly lookedBackTo?: number;
};

export type Sent = {
  readonly seq: number;
  readonly at: number;
  /** The type of the carrying record: `carrier_offered`, `tool_call_response`, `chat_request`, `gate_refused`. */
  readonly record: string;
  readonly conversation: string | null;
  /** The contact point, such as `tool_result` or `turn_start`. */
  readonly point: string | null;
  /** The tool or the hook whose message carried the notification. */
  readonly on: string | null;
  readonly format: string | null;
  /** The line of this notification. */
  readonly item: string;
  /** The whole text with all notifications in it. */
  readonly text: string;
  readonly repeated: boolean;
};

export type StoryItem = {
  readonly notification: NotificationView;
  readonly verdict: Verdict;
  readonly steps: readonly {
    readonly at: number;
    readonly seq: number;
    /** The step in words, for a person. */
    readonly what: string;
    /** More words, for a person. */
    readonly detail: string | null;
    /** The id of the tool call whose result carried the notification. */
    readonly call: string | null;
  }[];
  /**
   * For a notification that ended undelivered: the outcome, and the plan step, person or process that closed the notification.
   */
  readonly ended: {
    readonly outcome: string;
    readonly by: string;
    readonly cause?: EndCause;
    readonly reason: string;
    readonly at: number;
  } | null;
  /** For an open notification: the decision that each conversation's carrier would make now. */
  readonly now: readonly { readonly conversation: string; readonly decision: Decision }[];
  /**
   * The texts that were made for the model, one for each of the last 300 records. These records offered or sent the notification,
   * or refused a call with it. The model may not have got the text of a released offer.
   */
  readonly sent: readonly Sent[];
};

/** The history of a notification and its reasons, for each audience. */
export type Story = {
  readonly log: string;
  readonly id: string;
  readonly items: readonly StoryItem[];
};

export type QueuedReply = {
  readonly kind: 'queued' | 'folded' | 'duplicate';
  readonly id: string;
  /** The open notification that counts this notification. */
  readonly into: string | null;
  readonly to: readonly string[];
  /** The level to which the notification was lowered, because the token allows no higher level. */
  readonly loweredTo: Level | null;
};

export type Effect = {
  readonly address: string;
  readonly host: string | null;
  readonly force: Force;
  /** The effect in words, for a person. */
  readonly says: string;
};

export type InterruptReply = {
  readonly kind: 'queued' | 'folded' | 'duplicate';
  readonly id: string;
  /** The open notification that counts this notification. */
  readonly into: string | null;
  readonly to: readonly string[];
  /** The level to which the notification was lowered, because the token allows no higher level. */
  readonly loweredTo: Level | null;
  readonly effects: readonly Effect[];
};

export type LiftedPause = {
  readonly log: string;
  readonly id: string;
  /** Null if no conversation got the agent's pause. */
  readonly conversation: string | null;
  readonly message: string;
  /** The person who paused the agent; null if no person did. */
  readonly person: string | null;
  /** When the pause was queued, epoch ms. */
  readonly since: number;
  /** Whether the conversation gets a notification of the resume; false if the model never saw the pause. */
  readonly notified: boolean;
};

/** The lifted pauses. Empty if nothing was paused. */
export type ResumeReply = {
  readonly effects: readonly Effect[];
  readonly lifted: readonly LiftedPause[];
};

export type WithdrawReply = {
  readonly id: string;
  readonly result: 'withdrawn' | 'maybe_seen' | 'gate_lowered' | 'too_late' | 'folded' | 'unknown';
  /** With `folded`: the notification that counts this notification. */
  readonly into?: string;
};

export type ReceiptReply = {
  readonly id: string;
  readonly receipt: Receipt;
  /** Whether the notification has the requested receipt. */
  readonly reached: boolean;
  /** Whether the notification has the receipt or can no longer get it, so that a longer wait would not help. */
  readonly settled: boolean;
};
