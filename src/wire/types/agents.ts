/** Made of `../schemas/agents.ts` by `node scripts/wire.ts --update`. */
import type { ContactPoint, Stored } from '../../core/records.ts';
import type { Force } from '../words.ts';
import type { Counts } from './base.ts';

/** `what` is a tool's name. `nothing`: it waits for somebody, or its state is unknown; `what` is then the last called tool. */
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
  /** The worktree that the conversation works in. */
  readonly folder: string | null;
  readonly active: boolean;
  readonly startedAt: number;
  readonly seenAt: number;
  readonly carriedAt: number | null;
  readonly endedAt: number | null;
  /** The heir that took over its unread notifications. */
  readonly passedTo: { readonly conversation: string; readonly at: number } | null;
  readonly turns: number;
  /** The carriers that can reach it, each with the time of its last delivery. */
  readonly carriers: readonly { readonly name: string; readonly at: number }[];
  /** The contact points of its carriers; empty if they are unknown. */
  readonly points: readonly ContactPoint[];
  /** Whether its model can call `get_notifications`. */
  readonly pulls: boolean;
  readonly force: Force;
};

export type Held = {
  readonly id: string;
  readonly kind: string;
  readonly action: string | null;
  /** The beginning of its message. */
  readonly about: string;
  /** The person or the agent that sent it. */
  readonly by: string | null;
  readonly since: number;
  readonly until: number | null;
  /** Null if it holds for any conversation of the agent. */
  readonly conversation: string | null;
  /** The number of calls that it has refused so far. */
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
  readonly paused: boolean;
  /** The interrupt that now refuses its calls; a pause comes before others, because only a person ends it. */
  readonly held: Held | null;
  /** Since when a notification waits that may wake the idle agent only if a person agrees (`wake.<level> = "ask"`). */
  readonly asksSince: number | null;
  /** When its last turn failed, if nothing has happened since. */
  readonly failedAt: number | null;
  readonly doing: Doing;
  readonly lastContactAt: number | null;
  readonly hosts: readonly string[];
  /** The last seen first, at most 20. */
  readonly conversations: readonly ConversationSummary[];
};

export type RecordsPage = {
  /** Oldest first, even on a page that was requested with `newest`. */
  readonly items: readonly Stored[];
  /** For `after`, or for `before` if the request had `newest` or `before`; even a short page may have a next one. */
  readonly next: string | null;
  /** The store's newest position at the time of reading: a stream from here misses nothing. */
  readonly head: number;
};

export type Fork = {
  readonly conversation: string;
  /** The last record that it shares with its origin. */
  readonly upTo: number;
  readonly at: number;
};

export type ForksReply = {
  readonly origin: { readonly conversation: string; readonly upTo: number } | null;
  /** The last seen fork first. */
  readonly forks: readonly Fork[];
  /** Whether there are more conversations than this answer covers. */
  readonly more: boolean;
  /** With `at`: the number of its turns up to that record, as `--turns` of `earpiece chat --fork` counts them. */
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
  /** A part of the text that contains the first word. */
  readonly text: string;
};

export type SearchPage = {
  /** Newest first. */
  readonly items: readonly Hit[];
  /** The number of records that were searched for this page. */
  readonly looked: number;
  /** When the oldest searched record was written, epoch milliseconds; null if none was searched. */
  readonly lookedBackTo: number | null;
  /** For `before`; null if everything was searched. */
  readonly next: string | null;
};
