/** The answers to `why`: each kind of verdict, with the facts that a reader needs to understand it. */
import type { Action, Deliver, NotificationId } from '../notification.ts';
import type { Absence, Rides, RodeOn } from './facts.ts';

/** `over` separates verdicts that are final from predictions for the next carrier. */
export type Verdict =
  | { readonly kind: 'never_carried'; readonly log: string }
  | {
      readonly kind: 'away';
      readonly address: string;
      readonly absence: Absence;
      readonly lastContactAt: number;
      /** It would get the notification only with a wrapped tool's result. */
      readonly wrappedOnly: boolean;
      /** The address of the conversation that took over from it. */
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
      /** When it expires; null: never. */
      readonly until: number | null;
    }
  | {
      readonly kind: 'muted';
      readonly log: string;
      readonly pattern: string;
      readonly by: string;
      /** Null: until a person lifts it. Undefined: the log no longer has this. */
      readonly until?: number | null;
      readonly over: boolean;
      /** The mute still exists. */
      readonly holds: boolean;
    }
  | {
      readonly kind: 'filtered';
      readonly key: string;
      /** The setting as the file has it: `kinds.ci.enable = false`. */
      readonly setting: string;
      readonly file: string | null;
      readonly over: boolean;
      /** Something filters it now, so it would be filtered again. */
      readonly holds: boolean;
    }
  /** There is no room: it waits for the message after the next, or a count replaces its text. */
  | { readonly kind: 'budget'; readonly how: 'waits' | 'will_summarize'; readonly reason: string }
  | {
      readonly kind: 'summarized';
      readonly at: number;
      readonly conversation: string | null;
      readonly read: boolean;
      readonly readBy: string | null;
      readonly markedRead?: true;
    }
  /** It refuses tool calls itself, before and after its delivery. */
  | {
      readonly kind: 'gate';
      readonly log: string;
      readonly action: Action | null;
      readonly refusals: number;
      readonly withheld?: number;
      readonly deliveredAt: number | null;
      readonly until: number | null;
      /** Only calls of wrapped tools are refused. */
      readonly wrappedOnly?: true;
    }
  /** Another interrupt refuses the tool calls that would carry it. */
  | { readonly kind: 'behind_gate'; readonly id: NotificationId; readonly about: string; readonly log: string }
  /** `rides`: the moments of this agent that take it. Missing: none of them does yet. */
  | { readonly kind: 'moment'; readonly deliver: Deliver; readonly reason: string; readonly rides?: Rides }
  | {
      readonly kind: 'due';
      readonly address: string;
      readonly host: string | null;
      readonly wrappedOnly: boolean;
      /** When it was queued, if the agent has made no contact since. */
      readonly unseenSince: number | null;
      /** It was offered before and not confirmed: the model may see it twice, marked as repeated. */
      readonly offered: boolean;
      /** The carrying process hides it because that process has a wrong clock. */
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
  | { readonly kind: 'superseded'; readonly by: NotificationId | null; readonly reason: string; readonly over: boolean }
  /** `offByMs`: how far ahead the wrong clock is. `forProject`: it was for conversations that begin later in the project. */
  | {
      readonly kind: 'expired';
      readonly at: number;
      readonly over: boolean;
      readonly offByMs?: number;
      readonly forProject?: true;
      /** It was delivered, and held a gate up until it expired. */
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
  /** The provider accepted the agent's request only without it. */
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
