import type { Json } from './json.ts';
import type { Kind, Level, NotificationId, Subscribed } from './notification.ts';
import type { Outcome } from './records.ts';

/** The steps in the order in which they decide. */
export const PLAN_STEPS = ['filter', 'relevance', 'supersede', 'moment', 'coalesce', 'order', 'budget'] as const;
export type PlanStep = (typeof PLAN_STEPS)[number];

/** What the plan decides for one open item, and why; `why` shows it. */
export type Decision =
  | { readonly kind: 'take'; readonly id: NotificationId; readonly step: PlanStep; readonly reason: string }
  | { readonly kind: 'keep'; readonly id: NotificationId; readonly step: PlanStep; readonly reason: string }
  | { readonly kind: 'summarize'; readonly id: NotificationId; readonly step: 'budget'; readonly reason: string }
  | {
      readonly kind: 'close';
      readonly id: NotificationId;
      readonly step: PlanStep;
      readonly outcome: Outcome;
      readonly reason: string;
    };

/** One line of the view: one notification, or several that were coalesced. Times are epoch ms. */
export type Line = {
  /** The first is the line's own; a re-offered line keeps the order it had. */
  readonly ids: readonly NotificationId[];
  readonly kind: Kind;
  readonly level: Level;
  /** What differs, oldest first, no two the same. At least one. */
  readonly messages: readonly string[];
  /** How many happened, folded ones included; at least `messages.length`. */
  readonly count: number;
  readonly firstAt: number;
  readonly lastAt: number;
  /** Rows of `data` of each, for views that show tables. */
  readonly data: readonly unknown[];
  /** `data` belongs to what the line says. */
  readonly withData?: true;
  /** The one subscriber behind all of it: its template says it. */
  readonly subscriber?: Subscribed;
  /** What each notification in it holds, for its template: the same order as `ids`. */
  readonly group?: readonly Grouped[];
  /** What its template made of it: said instead of messages and count. */
  readonly rendered?: string;
  /** Its template could not say it: messages and count do, and that it failed. */
  readonly unrendered?: true;
  /** Several warnings of one moment, joined. */
  readonly status?: true;
  readonly action?: 'cancel' | 'pause' | 'resume';
  readonly instruction?: string;
  /** The person who typed it, where one did. */
  readonly person?: string;
  /** The agent that told it by a tool of ours, and the id to answer to. */
  readonly sender?: { readonly agent: string; readonly id: NotificationId };
  /** Its text as it was first sent: copied, never rendered again. */
  readonly sent?: string;
  /** What is left of a line that was sent: it repeats that line, and is rendered anew, without what is over. */
  readonly left?: true;
};

/** It was shown before, or a line that it was part of. */
export const isRepeated = ({ sent, left }: Line): boolean => sent !== undefined || left === true;

/** What the template of a line made of it. */
export type Said = { readonly kind: 'text'; readonly text: string } | { readonly kind: 'failed' };

/** Tells lines apart: no two hold the same notifications. */
export const lineName = ({ ids }: Pick<Line, 'ids'>): string => ids.join(' ');

/** One notification of a line: what happened `count` times, the different details of it, oldest first. Times are epoch ms. */
export type Grouped = {
  readonly subscribed: Subscribed;
  readonly level: Level;
  readonly count: number;
  readonly firstAt: number;
  readonly lastAt: number;
  readonly details: readonly { readonly message: string; readonly data?: Json }[];
};

/** What did not fit and is closed as summarized: how many of what. */
export type Rest = {
  readonly ids: readonly NotificationId[];
  readonly bySource: readonly { readonly source: string; readonly count: number; readonly level: Level }[];
};

export type Plan = {
  readonly lines: readonly Line[];
  readonly rest?: Rest;
  readonly decisions: readonly Decision[];
};
