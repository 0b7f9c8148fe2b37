/** Made of `../schemas/agents.ts` by `node scripts/wire.ts --update`. */
import type { ContactPoint, Stored } from '../../core/records.ts';
import type { Force } from '../words.ts';
import type { Counts } from './base.ts';

/**
 * `nothing`: the agent is idle, or its state is unknown. `what` is the name of the running tool or, with `nothing`, of the last
 * called tool; null if none is known.
 */
export type Doing = {
  readonly kind: 'tool' | 'thinking' | 'nothing';
  readonly what: string | null;
  readonly since: number | null;
  readonly conversation: string | null;
};

export type ConversationSummary = {
  readonly conversation: string;
  /** `project/agent#conversation`. */
  readonly address: string;
  readonly purpose: string | null;
  readonly host: string | null;
  readonly hostVersion: string | null;
  /** The worktree of the conversation. */
  readonly folder: string | null;
  readonly active: boolean;
  /** Whether a pause holds this conversation. */
  readonly paused: boolean;
  readonly startedAt: number;
  readonly seenAt: number;
  readonly carriedAt: number | null;
  readonly endedAt: number | null;
  /** The heir that took over the unread notifications of the conversation. */
  readonly passedTo: { readonly conversation: string; readonly at: number } | null;
  readonly turns: number;
  /** The carriers that can reach the conversation, each with the time of its last contact. */
  readonly carriers: readonly { readonly name: string; readonly at: number }[];
  /** The contact points of the conversation's carriers; empty if no carrier has reported one. */
  readonly points: readonly ContactPoint[];
  /** Whether the model can call `get_notifications`. */
  readonly pulls: boolean;
  readonly force: Force;
};

export type Held = {
  readonly id: string;
  readonly kind: string;
  readonly action: string | null;
  /** The beginning of the message. */
  readonly about: string;
  /** The person or the agent that sent the interrupt. */
  readonly by: string | null;
  readonly since: number;
  readonly until: number | null;
  /** Null if the interrupt holds for all conversations of the agent. */
  readonly conversation: string | null;
  /** The number of calls that were refused so far because of the interrupt. */
  readonly refused: number;
};

export type AgentSummary = {
  /** `project/agent`. */
  readonly log: string;
  readonly project: string;
  readonly agent: string;
  readonly open: Counts;
  readonly oldestOpenAt: number | null;
  /** Whether at least one conversation is active. */
  readonly active: boolean;
  /** Whether a pause holds at least one conversation of the agent. */
  readonly paused: boolean;
  /**
   * The interrupt that keeps the gate up now. A pause has priority over other interrupts, because reading does not lower the gate
   * of a pause.
   */
  readonly held: Held | null;
  /**
   * The time since which a notification waits for a person to agree to wake the idle agent (`wake.<level> = "ask"`). Null for the
   * agents of other programs, because their records do not show when the agents are idle.
   */
  readonly asksSince: number | null;
  /** When the last turn of the agent failed; null after any later activity. */
  readonly failedAt: number | null;
  readonly doing: Doing;
  readonly lastContactAt: number | null;
  readonly hosts: readonly string[];
  /** At most 20 conversations, newest contact first. */
  readonly conversations: readonly ConversationSummary[];
};

export type RecordsPage = {
  /** Oldest first, also on a page that was requested with `newest`. */
  readonly items: readonly Stored[];
  /** The value for `after`, or for `before` if the request had `newest` or `before`; even a short page may have a next page. */
  readonly next: string | null;
  /** The store's newest position at the time of reading; a stream from this position misses no record. */
  readonly head: number;
};

export type Fork = {
  readonly conversation: string;
  /** The last record that the fork shares with its origin. */
  readonly upTo: number;
  readonly at: number;
};

export type ForksReply = {
  readonly origin: { readonly conversation: string; readonly upTo: number } | null;
  /** The forks, newest contact first. */
  readonly forks: readonly Fork[];
  /** Whether the agent has more conversations than were searched for forks. */
  readonly more: boolean;
  /** With `at`: the number of turns up to that record, as `--turns` of `earpiece chat --fork` counts them. */
  readonly turns: number | null;
};

/** One match of a search. */
export type Hit = {
  readonly seq: number;
  readonly at: number;
  /** The record's type. */
  readonly type: string;
  readonly conversation: string | null;
  /** The record's tool, kind or author. */
  readonly name: string | null;
  /** The id of the notification, or of the call. */
  readonly id: string | null;
  /** The part of the text around the earliest match of any word; the beginning if the text contains none of the words. */
  readonly text: string;
};

export type SearchPage = {
  /** Newest first. */
  readonly items: readonly Hit[];
  /** The number of records that were searched for this page. */
  readonly looked: number;
  /** The time of the oldest searched record, epoch milliseconds; null if no record was searched. */
  readonly lookedBackTo: number | null;
  /** The value for `before`; null if everything was searched. */
  readonly next: string | null;
};
