/** The kinds of verdict that answer `why`, each with the facts that explain it. */
import type { FileScope, LimitCause, WaitCause } from '../cause.ts';
import type { Action, Deliver, NotificationId } from '../notification.ts';
import type { Absence, Rides, RodeOn } from './facts.ts';

/**
 * Says why a notification waits, or how it ended. `over` is true for a final verdict, and false for a prediction about the next
 * carrier.
 */
export type Verdict =
  /** `deliver` is the notification's moment. Missing if the notification is due at the first contact. */
  | { readonly kind: 'never_carried'; readonly log: string; readonly deliver?: Deliver }
  | {
      readonly kind: 'away';
      readonly address: string;
      readonly absence: Absence;
      readonly lastContactAt: number;
      /** True if the conversation would get the notification only with a wrapped tool's result. */
      readonly wrappedOnly: boolean;
      /** The address of the conversation that took over from this conversation. */
      readonly goesOn?: string;
    }
  /** No active conversation has the notification's purpose. */
  | { readonly kind: 'other_purpose'; readonly log: string; readonly purpose: string }
  | {
      readonly kind: 'paused';
      readonly log: string;
      /** The pause itself. */
      readonly id: NotificationId;
      readonly by: string | null;
      readonly since: number;
      /** When the pause expires. Null: never. */
      readonly until: number | null;
    }
  | {
      readonly kind: 'muted';
      readonly log: string;
      readonly pattern: string;
      readonly by: string;
      /**
       * When the mute ends. Null: when a person lifts the mute. Undefined if the end is unknown, because the mute no longer
       * exists.
       */
      readonly until?: number | null;
      readonly over: boolean;
      /** Whether the mute still exists. */
      readonly holds: boolean;
    }
  | {
      readonly kind: 'filtered';
      /** The setting's name. Null if the closing record is from before 0.1.0, and has only words. */
      readonly key: string | null;
      /** The setting with its value, in words: `conversation.notifications.kinds.ci.enable = false`, or `below min_level error`. */
      readonly setting: string;
      /** The file and the line, the environment variable or the flag that sets the value. */
      readonly file: string | null;
      /** The scope of `file`. Missing for a variable, a flag and the default. */
      readonly scope?: FileScope;
      readonly over: boolean;
      /** Whether a setting or mute still filters the notification, so that a requeued notification would be filtered again. */
      readonly holds: boolean;
    }
  /** The next message has no room: the notification waits for a later message, or a summary counts it. */
  | { readonly kind: 'budget'; readonly how: 'waits' | 'will_summarize'; readonly cause: LimitCause }
  | {
      readonly kind: 'summarized';
      readonly at: number;
      readonly conversation: string | null;
      readonly read: boolean;
      readonly readBy: string | null;
      readonly markedRead?: true;
    }
  /** The notification itself holds the gate up, before or after its delivery. */
  | {
      readonly kind: 'gate';
      readonly log: string;
      readonly action: Action | null;
      readonly refusals: number;
      readonly withheld?: number;
      readonly deliveredAt: number | null;
      readonly until: number | null;
      /** True if only calls of wrapped tools are refused. */
      readonly wrappedOnly?: true;
    }
  /** Another interrupt holds the gate up, so the tool calls that would carry this notification are refused. */
  | { readonly kind: 'behind_gate'; readonly id: NotificationId; readonly about: string; readonly log: string }
  /**
   * The notification waits for its moment. `rides`: the contact points that would take the notification. Missing if no contact
   * point would take the notification yet.
   */
  | { readonly kind: 'moment'; readonly deliver: Deliver; readonly cause: WaitCause; readonly rides?: Rides }
  | {
      readonly kind: 'due';
      readonly address: string;
      readonly host: string | null;
      readonly wrappedOnly: boolean;
      /** True if the notification does not wake the idle session, because its terminal is unknown. */
      readonly terminalUnknown?: true;
      /** When the notification was queued, if the agent has made no contact since. */
      readonly unseenSince: number | null;
      /**
       * Whether the notification was offered before without a confirmation. If so, the model may see the notification twice,
       * marked as repeated.
       */
      readonly offered: boolean;
      /** The process that delivers to the agent, if it hides the notification because of its wrong clock. */
      readonly hiddenBy?: { readonly pid: number; readonly machine: string; readonly offByMs: number };
    }
  | { readonly kind: 'offered'; readonly rodeOn: RodeOn | null; readonly address: string; readonly until: number | null }
  | {
      readonly kind: 'delivered';
      readonly at: number;
      readonly afterMs: number;
      readonly rodeOn: RodeOn | null;
      readonly conversation: string | null;
      readonly evidence: 'none' | 'observed' | 'read' | 'marked';
      readonly readBy: string | null;
      readonly offers: number;
    }
  /** `by`: the newer notification. Null if the closing record does not name it. */
  | { readonly kind: 'superseded'; readonly by: NotificationId | null; readonly reason: string; readonly over: boolean }
  /**
   * `offByMs`: how far ahead the wrong clock is. `forProject`: the notification was for conversations that begin later in the
   * project.
   */
  | {
      readonly kind: 'expired';
      readonly at: number;
      readonly over: boolean;
      readonly offByMs?: number;
      readonly forProject?: true;
      /** Set if the notification was delivered and held a gate up until it expired. */
      readonly held?: {
        readonly log: string;
        readonly refusals: number;
        readonly withheld?: number;
        readonly deliveredAt: number | null;
      };
    }
  | {
      readonly kind: 'withdrawn';
      readonly by: string;
      readonly reason: string;
      readonly at: number;
      readonly maybeSeen: boolean;
      readonly forProject?: true;
    }
  | { readonly kind: 'known'; readonly about: string | null; readonly reason: string; readonly over: boolean }
  | { readonly kind: 'dropped'; readonly reason: string; readonly at: number }
  /** The provider accepted the agent's request only without the notification. */
  | { readonly kind: 'left_out'; readonly reason: string; readonly at: number }
  | { readonly kind: 'folded'; readonly into: NotificationId | null }
  | { readonly kind: 'passed_on'; readonly to: string; readonly at: number };

export const VERDICT_KINDS = [
  'never_carried',
  'away',
  'other_purpose',
  'paused',
  'muted',
  'filtered',
  'budget',
  'summarized',
  'gate',
  'behind_gate',
  'moment',
  'due',
  'offered',
  'delivered',
  'superseded',
  'expired',
  'withdrawn',
  'known',
  'dropped',
  'left_out',
  'folded',
  'passed_on',
] as const satisfies readonly Verdict['kind'][];
