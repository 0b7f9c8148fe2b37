/** Made of `../schemas/notifications.ts` by `node scripts/wire.ts --update`. */
import type { Json } from '../../core/json.ts';
import type { Action, Level } from '../../core/notification.ts';
import type { Decision } from '../../core/plan.ts';
import type { Verdict } from '../../core/verdict/kinds.ts';
import type { Force } from '../words.ts';

export type NotificationView = {
  readonly log: string;
  /** Its audience; null: the agent's first conversation that carries notifications. */
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
  /** The person who sent it, if one did. */
  readonly person: string | null;
  /** The agent that sent it, if one did. */
  readonly sender: string | null;
  /** The subscriber that made it. */
  readonly subscriber: string | null;
  readonly requeues: string | null;
  /** The number of occurrences, folded ones included. */
  readonly count: number;
  readonly seq: number;
  readonly at: number;
  readonly lastAt: number;
  readonly expiresAt: number | null;
  readonly state: 'open' | 'offered' | 'closed';
  /** `queued`, `offered`, `delivered`, `observed`, `read`, `maybe_seen`, or its outcome. */
  readonly receipt: string;
  /** The person who marked it read, until there is proof that the agent has read it; the client's `markedBy` puts this into words. */
  readonly markedBy: string | null;
  readonly outcome: string | null;
  readonly closedAt: number | null;
  /** Whether it holds up the gate of its conversations. */
  readonly gate: boolean;
  readonly offers: number;
  /** The conversation whose carrier took it. */
  readonly takenBy: string | null;
  readonly carrier: string | null;
};

export type NotificationsPage = {
  readonly items: readonly NotificationView[];
  /** For the next page; null: this is the last page. */
  readonly next: string | null;
  /** For a page of a word search: the time of the oldest searched notification, epoch milliseconds; missing if all were searched. */
  readonly lookedBackTo?: number;
};

export type Sent = {
  readonly seq: number;
  readonly at: number;
  /** The type of the carrying record: `carrier_offered`, `tool_call_response`, `chat_request`, `gate_refused`. */
  readonly record: string;
  readonly conversation: string | null;
  /** Such as `tool_result` and `turn_start`. */
  readonly point: string | null;
  /** The tool or the hook whose message carried it. */
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
    readonly what: string;
    readonly detail: string | null;
  }[];
  /** For a notification that ended undelivered: the step of the plan, person or process that closed it. */
  readonly ended: {
    readonly outcome: string;
    readonly by: string;
    readonly reason: string;
    readonly at: number;
  } | null;
  /** For an open notification, the decision of each conversation's carrier now. */
  readonly now: readonly { readonly conversation: string; readonly decision: Decision }[];
  /** The exact texts that were sent to the model, one for each time. */
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
  /** The open notification that counts this one. */
  readonly into: string | null;
  readonly to: readonly string[];
  /** The token allows no higher level, so the notification has this one. */
  readonly loweredTo: Level | null;
};

export type Effect = {
  readonly address: string;
  readonly host: string | null;
  readonly force: Force;
  /** In words, for a person. */
  readonly says: string;
};

export type InterruptReply = {
  readonly kind: 'queued' | 'folded' | 'duplicate';
  readonly id: string;
  /** The open notification that counts this one. */
  readonly into: string | null;
  readonly to: readonly string[];
  /** The token allows no higher level, so the notification has this one. */
  readonly loweredTo: Level | null;
  readonly effects: readonly Effect[];
};

export type LiftedPause = {
  readonly log: string;
  readonly id: string;
  /** Null if no conversation has taken the agent's pause. */
  readonly conversation: string | null;
  readonly message: string;
  /** The person who paused; null if no person did. */
  readonly person: string | null;
  /** Epoch ms. */
  readonly since: number;
  /** Whether the conversation is notified that it may continue; false if it never saw the pause. */
  readonly notified: boolean;
};

/** Empty if nothing was paused. */
export type ResumeReply = {
  readonly effects: readonly Effect[];
  readonly lifted: readonly LiftedPause[];
};

export type WithdrawReply = {
  readonly id: string;
  readonly result: 'withdrawn' | 'maybe_seen' | 'gate_lowered' | 'too_late' | 'unknown';
};

export type ReceiptReply = {
  readonly id: string;
  readonly receipt: string;
  /** Whether it has the requested receipt. */
  readonly reached: boolean;
  /** Whether it has the receipt or can no longer get it, so that a longer wait is useless. */
  readonly settled: boolean;
};
