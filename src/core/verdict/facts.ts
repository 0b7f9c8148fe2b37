/** The facts from which `verdictOf` decides. The inbox gathers them. */
import type { FilterCause } from '../filter.ts';
import type { Item } from '../items.ts';
import type { Decision } from '../plan.ts';
import type { ContactPoint } from '../records.ts';

/** Why a conversation is not active: it ended, its process is gone, or it made no contact for 30 minutes. */
export type Absence = 'ended' | 'process_gone' | 'silent';

/** A conversation of the agent, as far as the verdict needs it. Times are epoch ms. */
export type KnownConversation = {
  readonly conversation: string;
  readonly host: string | null;
  readonly purpose: string | null;
  readonly lastContactAt: number;
  /** Null: it is active. */
  readonly absence: Absence | null;
  /** All its carriers are gateways: it gets notifications only when it calls a wrapped tool. */
  readonly wrappedOnly: boolean;
  /** The conversation that took over from it. */
  readonly passedTo?: string;
};

/**
 * The carrier that delivered it: its contact point, and the name of its tool or hook if there is one. `made`: the tool had
 * run, and the carrier replaced its result.
 */
export type RodeOn = { readonly point: ContactPoint | null; readonly name: string | null; readonly made?: true };

/**
 * The contact points of its carriers that would take it. `wrapped`: `tool_result` among them is that of a wrapped tool, because
 * only a gateway carries there.
 */
export type Rides = { readonly at: readonly ContactPoint[]; readonly wrapped?: true };

export type VerdictFacts = {
  /** `project/agent`. */
  readonly log: string;
  readonly item: Item;
  readonly now: number;
  /** The conversations that may take the item: its own, or each one of the agent. */
  readonly conversations: readonly KnownConversation[];
  /** The current decision of a carrier for each active conversation. */
  readonly decisions: readonly { readonly conversation: string; readonly decision: Decision; readonly rides?: Rides }[];
  /** The setting or mute that keeps it from the model now. */
  readonly filter: FilterCause | undefined;
  /** The interrupts of the agent that hold a gate up, this one included. */
  readonly gates: readonly Item[];
  /** How often a tool call was refused because of it. */
  readonly refusals: number;
  /** How often a call was made, and its result withheld because of it. */
  readonly withheld?: number;
  readonly rodeOn: RodeOn | null;
  /** How the agent read it. With `markedRead`: the person who marked it read, which does not prove that the agent read it. */
  readonly readBy: string | null;
  readonly markedRead?: boolean;
  /** The record that closed it undelivered. */
  readonly closed: { readonly at: number; readonly by: string; readonly reason: string; readonly cause?: FilterCause } | null;
  /** A live process with a wrong clock takes it for expired: this process (`own`), or one that carries to it. */
  readonly wrongClock?: { readonly pid: number; readonly machine: string; readonly offByMs: number; readonly own: boolean };
  /** It was delivered and held a gate up until it expired, at this time. */
  readonly gateExpired?: number;
  /** It was passed on to another conversation of the agent. */
  readonly passedOn?: { readonly to: string; readonly at: number };
};
