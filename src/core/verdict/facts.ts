/** The facts from which `verdictOf` decides. The inbox gathers these facts. */
import type { EndCause, FilterCause } from '../cause.ts';
import type { Item } from '../items.ts';
import type { Decision } from '../plan.ts';
import type { ContactPoint } from '../records.ts';

/** Why a conversation is not active: it ended, its process exited, or it made no contact for 30 minutes. */
export type Absence = 'ended' | 'process_gone' | 'silent';

/** The facts about one conversation of the agent that the verdict needs. Times are epoch ms. */
export type KnownConversation = {
  readonly conversation: string;
  readonly host: string | null;
  readonly purpose: string | null;
  readonly lastContactAt: number;
  /** Why the conversation is not active. Null if the conversation is active. */
  readonly absence: Absence | null;
  /** True if all carriers are gateways, so that the conversation gets notifications only with the result of a wrapped tool. */
  readonly wrappedOnly: boolean;
  /** True if nothing can wake the idle session, because its terminal is unknown. */
  readonly terminalUnknown?: true;
  /** The conversation that took over from this conversation. */
  readonly passedTo?: string;
};

/**
 * The carrier that delivered or offered the notification: its contact point, and the name of its tool or hook if there is one.
 * `made`: the tool had run, and the carrier replaced its result.
 */
export type RodeOn = { readonly point: ContactPoint | null; readonly name: string | null; readonly made?: true };

/**
 * The contact points at which one of the conversation's carriers would take the notification. `wrapped`: `tool_result` means the
 * result of a wrapped tool, because only a gateway carries notifications there.
 */
export type Rides = { readonly at: readonly ContactPoint[]; readonly wrapped?: true };

export type VerdictFacts = {
  /** `project/agent`. */
  readonly log: string;
  readonly item: Item;
  readonly now: number;
  /** The conversations that may take the item: its audience, or all conversations of the agent. */
  readonly conversations: readonly KnownConversation[];
  /** The plan's decision about the item for each active conversation, as if the conversation composed a carrier now. */
  readonly decisions: readonly { readonly conversation: string; readonly decision: Decision; readonly rides?: Rides }[];
  /** The setting or mute that filters the item now. */
  readonly filter: FilterCause | undefined;
  /** The interrupts of the agent that hold a gate up. The item itself may be one of these interrupts. */
  readonly gates: readonly Item[];
  /** How often a tool call was refused because of the item. */
  readonly refusals: number;
  /** How often a call was made and its result withheld because of the item. */
  readonly withheld?: number;
  readonly rodeOn: RodeOn | null;
  /**
   * How the agent read the item. With `markedRead`: the person who marked the item as read. Such a mark does not prove that the
   * agent read the item.
   */
  readonly readBy: string | null;
  readonly markedRead?: boolean;
  /** The record that closed the item with an outcome, or left it out after its delivery. */
  readonly closed: { readonly at: number; readonly by: string; readonly reason: string; readonly cause?: EndCause } | null;
  /**
   * The live process whose wrong clock treats the item as expired: this process (`own`), or a process that delivers to the
   * conversation.
   */
  readonly wrongClock?: { readonly pid: number; readonly machine: string; readonly offByMs: number; readonly own: boolean };
  /** When the item expired, if it was delivered and held a gate up until it expired. */
  readonly gateExpired?: number;
  /** The conversation of the agent that took the item over. */
  readonly passedOn?: { readonly to: string; readonly at: number };
};
