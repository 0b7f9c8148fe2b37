import type { EndCause, LimitCause, WaitCause } from './cause.ts';
import type { Json } from './json.ts';
import type { Kind, Level, NotificationId, Subscribed } from './notification.ts';
import type { Outcome } from './records.ts';

/** The steps in the order in which they decide. */
export const PLAN_STEPS = ['filter', 'relevance', 'supersede', 'moment', 'coalesce', 'order', 'budget'] as const;
export type PlanStep = (typeof PLAN_STEPS)[number];

/**
 * The plan's decision for one open item. `cause` is for programs. `reason` is the text of the cause for people, and its wording may
 * change with each release.
 */
export type Decision = { readonly id: NotificationId; readonly reason: string } & (
  | { readonly kind: 'take'; readonly step: PlanStep }
  | { readonly kind: 'keep'; readonly step: 'relevance' | 'moment'; readonly cause: WaitCause }
  | { readonly kind: 'keep'; readonly step: 'budget'; readonly cause: LimitCause }
  | { readonly kind: 'summarize'; readonly step: 'coalesce' | 'budget'; readonly cause: LimitCause }
  | { readonly kind: 'close'; readonly step: PlanStep; readonly outcome: Outcome; readonly cause: EndCause }
);

/** One line of the view: one notification, or several that were coalesced. Times are epoch ms. */
export type Line = {
  /** The first id is also the id of the line. */
  readonly ids: readonly NotificationId[];
  readonly kind: Kind;
  readonly level: Level;
  /** The different messages, oldest first. At least one. */
  readonly messages: readonly string[];
  /** The number of occurrences, including folded notifications. At least `messages.length`. */
  readonly count: number;
  readonly firstAt: number;
  readonly lastAt: number;
  /** The `data` of each notification, and the different `data` of folded notifications. */
  readonly data: readonly unknown[];
  /** Whether the line shows `data`. */
  readonly withData?: true;
  /** The subscriber of the whole line. The subscriber's template renders the line. */
  readonly subscriber?: Subscribed;
  /**
   * The content of each notification of the line, for the subscriber's template. Includes notifications that the line only
   * counts.
   */
  readonly group?: readonly Grouped[];
  /** The template's text for the line, shown instead of messages and count. */
  readonly rendered?: string;
  /** True if the template failed. Such a line shows messages and count, and says that the template failed. */
  readonly unrendered?: true;
  /** True if the line joins notifications of several kinds. */
  readonly status?: true;
  readonly action?: 'cancel' | 'pause' | 'resume';
  readonly instruction?: string;
  /** The person who typed the message. Undefined if no person typed the message. */
  readonly person?: string;
  /**
   * The agent whose words the line contains (`tellerOf`). `id`: for a message of `tell_agent`, the id that an answer must name.
   */
  readonly sender?: { readonly agent: string; readonly id?: NotificationId };
  /** The line's text as a carrier first showed it. Later carriers copy this text, and never render the line again. */
  readonly sent?: string;
  /**
   * True if the line has the remaining items of a line that a carrier showed and whose other items have closed. The line is
   * rendered again.
   */
  readonly left?: true;
};

/** Whether the line was shown before, alone or as part of another line. */
export const isRepeated = ({ sent, left }: Line): boolean => sent !== undefined || left === true;

/** The result of a line's template. */
export type Said = { readonly kind: 'text'; readonly text: string } | { readonly kind: 'failed' };

/** Returns a name for a line, unique in the plan: the line's ids. */
export const lineName = ({ ids }: Pick<Line, 'ids'>): string => ids.join(' ');

/**
 * One notification of a line, as its template gets it. `count`: the number of occurrences. `details`: the different details,
 * oldest first. Times are epoch ms.
 */
export type Grouped = {
  readonly subscribed: Subscribed;
  readonly level: Level;
  readonly count: number;
  readonly firstAt: number;
  readonly lastAt: number;
  readonly details: readonly { readonly message: string; readonly data?: Json }[];
};

/**
 * The notifications that the carrier summarizes. `ids` has the notifications without room in the carrier or in a line, and those
 * that a line counts and does not show. All of these notifications close as summarized. `bySource` counts only the notifications
 * without room, for each source and level. One line shows these counts.
 */
export type Rest = {
  readonly ids: readonly NotificationId[];
  readonly bySource: readonly { readonly source: string; readonly count: number; readonly level: Level }[];
};

export type Plan = {
  readonly lines: readonly Line[];
  readonly rest?: Rest;
  readonly decisions: readonly Decision[];
  /** The newer state of each older state that closes only with the delivery of the newer state. */
  readonly newer: ReadonlyMap<NotificationId, NotificationId>;
};
