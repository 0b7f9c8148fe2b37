/**
 * Decides which items one carrier takes. Pure: the same open items, policy, facts and time give the same plan on any machine.
 *
 * The steps are filter → relevance → supersede → moment → coalesce → order → budget. Each item gets exactly one decision, with
 * its reason. Errors, critical notifications, notifications with an `action` and repeated lines are never summarized. If the
 * carrier has no room, these notifications stay open.
 */
import { because, type EndCause, type LimitCause, type WaitCause } from './cause.ts';
import { isDue, isExpired, saidAt, waitedMs, type Sighted } from './clocks.ts';
import { defined } from './defined.ts';
import { coalesce, listed, messagesOf, newestLast, sentOf } from './grouping.ts';
import type { Item } from './items.ts';
import { filterOf, recordedFilter, type Mute } from './filter.ts';
import {
  formatKind,
  isInterrupt,
  levelRank,
  showsData,
  stateKeyOf,
  type NotificationId,
  type Subscribed,
} from './notification.ts';
import { usedTellAgent, kindRead, tellerOf } from './teller.ts';
import { AFTER_A_TOOL, hasOneOf, isDueAt, isScheduled } from './moments.ts';
import { isRepeated, lineName, type Decision, type Grouped, type Line, type Plan, type Rest, type Said } from './plan.ts';
import type { Policy } from './policy.ts';
import type { ContactPoint } from './records.ts';
import { estimateTokens } from './tokens.ts';
import { LISTED_EVENTS, listsNothing } from './unlisted.ts';
import { dataText, listedOf, MESSAGES_BELOW_ERROR } from './views/wording.ts';

/** The facts about the conversation, gathered before the plan. Times are epoch ms. */
export type Facts = {
  /**
   * The facts that the agent learned by itself, each with its time (see `Notification.about`). The current batch of tool calls is
   * included.
   */
  readonly known: Readonly<Record<string, number>>;
  /** The contact points of this host. No item waits for a contact point that the host lacks. */
  readonly points: readonly ContactPoint[];
  /** The number of turns that started since an item was queued, for items with `afterTurns`. */
  readonly turnsSince: Readonly<Record<string, number>>;
  readonly mutes: readonly Mute[];
  /**
   * For each open item that was offered before: the id of a newer state (same key, `supersede`), if another carrier has taken
   * that state.
   */
  readonly overtaken?: Readonly<Record<string, NotificationId>>;
  /** See `Sighted`. */
  readonly sighted?: Sighted;
  /**
   * True if expired items are hidden and not closed, because no other live process has a clock that agrees with this process's
   * clock.
   */
  readonly clockAlone?: true;
  /** True for a pull: nothing waits for a contact point, a tool or a turn. */
  readonly onDemand?: true;
  /** The tools whose results this carrier contains or directly follows. */
  readonly tools?: readonly string[];
  /**
   * The template's result for each line, by `lineName`. The caller renders the lines without a result and plans again, until
   * every line has one. Until then, the plan estimates a line's size from its messages.
   */
  readonly said?: ReadonlyMap<string, Said>;
  /**
   * True if the caller renders no more lines. The plan then takes a line without its template's result only as the first line of
   * the carrier.
   */
  readonly saidAll?: boolean;
};

export const NO_FACTS: Facts = { known: {}, points: [], turnsSince: {}, mutes: [] };

const FRAME_TOKENS = 30;
const LINE_TOKENS = 8;

/**
 * Decides for each open notification whether one carrier delivers the notification now. `open`: the open items for this
 * conversation, oldest first, without offered items.
 */
export function plan(open: readonly Item[], point: ContactPoint, policy: Policy, facts: Facts, now: number): Plan {
  const decisions: Decision[] = [];
  const close = (
    item: Item,
    step: 'filter' | 'relevance' | 'supersede',
    outcome: 'filtered' | 'expired' | 'known' | 'superseded',
    cause: EndCause,
  ): false => {
    decisions.push({ kind: 'close', id: item.id, step, outcome, ...because(cause) });
    return false;
  };

  const passing = open.filter((item) => {
    const filtered = filterOf(item.notification, policy, facts.mutes, now);
    if (filtered !== undefined) return close(item, 'filter', 'filtered', recordedFilter(filtered));
    const { expiresAt, about } = item.notification;
    if (typeof expiresAt === 'number' && isExpired(item, now, facts.sighted?.[item.id])) {
      if (!facts.clockAlone) return close(item, 'relevance', 'expired', { kind: 'expired', at: expiresAt });
      decisions.push({ kind: 'keep', id: item.id, step: 'relevance', ...because({ kind: 'wrong_clock', expiresAt }) });
      return false;
    }
    const since = about !== undefined && Object.hasOwn(facts.known, about) ? facts.known[about] : undefined;
    if (about !== undefined && since !== undefined && since >= item.lastAt)
      return close(item, 'relevance', 'known', { kind: 'known', about, since });
    return true;
  });

  const newest = new Map<string, Item>();
  const newestDue = new Map<string, Item>();
  for (const item of passing) {
    const state = stateKeyOf(item.notification);
    if (state === undefined) continue;
    newest.set(state, item);
    if (notDueBecause(item, point, policy, facts, now) === undefined) newestDue.set(state, item);
  }
  const newerOf = new Map<NotificationId, NotificationId>();
  const current = passing.filter((item) => {
    const state = stateKeyOf(item.notification);
    const atOnce = isScheduled(item.notification);
    const last = state === undefined ? undefined : (atOnce ? newest : newestDue).get(state);
    const told = facts.overtaken?.[item.id];
    const newer = last !== undefined && last.seq > item.seq ? last.id : told;
    if (newer !== undefined && !atOnce && told === undefined) newerOf.set(item.id, newer);
    if (newer === undefined) return true;
    return close(item, 'supersede', 'superseded', { kind: 'superseded', by: newer, key: item.notification.key ?? '' });
  });

  const due = current.filter((item) => {
    const waits = notDueBecause(item, point, policy, facts, now);
    if (waits !== undefined) decisions.push({ kind: 'keep', id: item.id, step: 'moment', ...because(waits) });
    return waits === undefined;
  });

  const groups = coalesce(due, policy)
    .map(newestLast)
    .flatMap((group) => fitting(group, policy, facts))
    .map(listed);
  const counted = new Map<Line, readonly Item[]>();
  const lines = groups.map(({ inLine, shown, others }) => {
    const line = lineOf(inLine, facts, shown);
    if (inLine.length > shown.length) counted.set(line, others);
    return line;
  });
  const unlisted = groups.flatMap(({ inLine, shown, others }) => (inLine.length > shown.length ? [] : others.map(lineAlone)));
  const said = { saidAll: facts.saidAll ?? false, unlisted, counted };
  return { ...budget(lines.toSorted(byUrgency), { policy, decisions, ...said }), newer: newerOf };
}

/** Returns the cause why the item waits for a later carrier. Undefined if the item is due. */
export function notDueBecause(item: Item, point: ContactPoint, policy: Policy, facts: Facts, now: number): WaitCause | undefined {
  const { deliver = 'next', level } = item.notification;
  const { sighted } = facts;
  if (level === 'critical' || isInterrupt(item.notification)) return undefined;
  if (typeof deliver === 'object') {
    if ('at' in deliver) return isDue(deliver.at, item, { now, sighted }) ? undefined : { kind: 'time', until: deliver.at };
    if (facts.onDemand) return undefined;
    if ('afterTool' in deliver) {
      if (AFTER_A_TOOL.includes(point) && facts.tools?.includes(deliver.afterTool)) return undefined;
      if (!hasOneOf(facts.points, AFTER_A_TOOL) || waitedMs(item, { now, sighted }) >= policy.maxDeferMs) return undefined;
      return { kind: 'tool', tool: deliver.afterTool };
    }
    const begun = facts.turnsSince[item.id] ?? 0;
    if (begun >= deliver.afterTurns || !hasOneOf(facts.points, ['turn_start'])) return undefined;
    return { kind: 'turns', of: deliver.afterTurns, begun };
  }
  if (facts.onDemand || isDueAt(deliver, point, facts.points)) return undefined;
  if (waitedMs(item, { now, sighted }) >= policy.maxDeferMs) return undefined;
  return { kind: 'moment', moment: deliver };
}

/**
 * Splits a group into several groups, each for one line, if the template's text is too long for one line. Only the text of a
 * single item is cut.
 */
function fitting(group: Item[], policy: Policy, facts: Facts): Item[][] {
  const said = facts.said?.get(lineName({ ids: group.map((item) => item.id) }));
  if (group.length < 2 || sentOf(group) !== undefined || said?.kind !== 'text') return [group];
  const tokens = FRAME_TOKENS + LINE_TOKENS + tokensOf(said.text, policy);
  if (said.text.length <= policy.maxItemChars && tokens <= policy.maxTokens) return [group];
  const middle = Math.ceil(group.length / 2);
  return [group.slice(0, middle), group.slice(middle)].flatMap((half) => fitting(half, policy, facts));
}

/** Returns the line of a single item, before a template has rendered it. */
export const lineAlone = (item: Item): Line => lineOf([item], NO_FACTS);

/** Makes the line of a group. `shown`: the items whose ids are in the line. The line may also count other items of the group. */
function lineOf(group: Item[], { said }: Facts, shown: readonly Item[] = group): Line {
  const first = group[0] as Item;
  const n = first.notification;
  const kinds = new Set(group.map((item) => formatKind(item.notification.kind)));
  const rows = group
    // The data of a notification that only counts events is not a row, because the line states the number.
    .filter((item) => !item.notification.subscriber?.rest)
    .flatMap((item) => [item.notification.data, ...item.differs.map((d) => d.data)])
    .filter((d) => d !== undefined);
  const subscriber = group.every((item) => item.notification.subscriber?.id === n.subscriber?.id) ? n.subscriber : undefined;
  const ids = shown.map((item) => item.id);
  const teller = tellerOf(n);
  const sent = sentOf(group);
  const made = sent === undefined ? said?.get(lineName({ ids })) : undefined;
  return {
    ids,
    kind: kindRead(n),
    level: n.level,
    messages: messagesOf(group),
    count: group.reduce((sum, item) => sum + item.count, 0),
    firstAt: group.reduce((least, item) => Math.min(least, item.notification.firstAt ?? saidAt(item)), Infinity),
    lastAt: group.reduce((most, item) => Math.max(most, item.lastAt), 0),
    data: rows,
    ...(group.every((item) => item.notification.subscriber === undefined) && group.some((item) => showsData(item.notification))
      ? { withData: true as const }
      : {}),
    ...(subscriber === undefined ? {} : { subscriber, group: group.map((item) => groupedOf(item, subscriber)) }),
    ...(kinds.size > 1 ? { status: true as const } : {}),
    ...defined({ action: n.action, instruction: n.instruction }),
    ...(n.origin?.person === undefined ? {} : { person: n.origin.person }),
    ...(teller === undefined ? {} : { sender: { agent: teller, ...(usedTellAgent(n) ? { id: n.id } : {}) } }),
    ...defined({ sent }),
    ...(sent === undefined && first.text !== undefined ? { left: true as const } : {}),
    ...(made?.kind === 'text' ? { rendered: made.text } : {}),
    ...(made?.kind === 'failed' ? { unrendered: true as const } : {}),
  };
}

const groupedOf = (item: Item, otherwise: Subscribed): Grouped => ({
  subscribed: item.notification.subscriber ?? otherwise,
  level: item.notification.level,
  count: item.count,
  firstAt: item.notification.firstAt ?? saidAt(item),
  lastAt: item.lastAt,
  details: [{ message: item.notification.message, data: item.notification.data }, ...item.differs].map((detail) => {
    const data = detail.data ?? item.notification.data;
    return { message: detail.message ?? item.notification.message, ...defined({ data }) };
  }),
});

const byUrgency = (a: Line, b: Line): number => levelRank(b.level) - levelRank(a.level) || a.firstAt - b.firstAt;

function budget(
  lines: readonly Line[],
  {
    policy,
    decisions,
    saidAll,
    unlisted,
    counted,
  }: {
    readonly policy: Policy;
    readonly decisions: Decision[];
    readonly saidAll: boolean;
    readonly unlisted: readonly Line[];
    /**
     * The items that each line counts and does not show. These items close as summarized when the line is taken or summarized.
     */
    readonly counted: ReadonlyMap<Line, readonly Item[]>;
  },
): Omit<Plan, 'newer'> {
  const taken: Line[] = [];
  const left: Line[] = [...unlisted];
  const closing: NotificationId[] = [];
  const summarize = (id: NotificationId, { subscriber }: Line): void => {
    const cause: LimitCause =
      subscriber?.template === undefined
        ? { kind: 'line_messages', limit: MESSAGES_BELOW_ERROR }
        : { kind: 'line_events', limit: LISTED_EVENTS };
    decisions.push({ kind: 'summarize', id, step: 'coalesce', ...because(cause) });
  };
  for (const line of unlisted) for (const id of line.ids) summarize(id, line);
  const closeCounted = (line: Line): void => {
    for (const { id } of counted.get(line) ?? []) {
      closing.push(id);
      summarize(id, line);
    }
  };
  let tokens = FRAME_TOKENS;
  for (const line of lines) {
    const cost = costOf(line, policy);
    const isKnown = !saidAll || !isUnsaid(line);
    const fits = isKnown && taken.length < policy.maxItems && tokens + cost <= policy.maxTokens;
    if (taken.length === 0 || fits) {
      taken.push(line);
      tokens += cost;
      const reason = line.ids.length > 1 ? `one line of ${line.ids.length}` : 'due and within the budget';
      for (const id of line.ids) decisions.push({ kind: 'take', id, step: line.ids.length > 1 ? 'coalesce' : 'budget', reason });
      closeCounted(line);
      continue;
    }
    const full = because<LimitCause>(
      taken.length >= policy.maxItems
        ? { kind: 'max_items', limit: policy.maxItems }
        : { kind: 'max_tokens', limit: policy.maxTokens },
    );
    if (levelRank(line.level) >= levelRank('error') || isRepeated(line) || line.action !== undefined)
      for (const id of [...line.ids, ...(counted.get(line) ?? []).map((item) => item.id)])
        decisions.push({ kind: 'keep', id, step: 'budget', ...full });
    else {
      left.push(line);
      for (const id of line.ids) decisions.push({ kind: 'summarize', id, step: 'budget', ...full });
      closeCounted(line);
    }
  }
  const rest = restOf(left);
  const ids = [...rest.ids, ...closing];
  return { lines: taken, ...(ids.length > 0 ? { rest: { ...rest, ids } } : {}), decisions };
}

/** Whether the line's template must still run. */
export const isUnsaid = (line: Line): boolean =>
  line.subscriber?.template !== undefined &&
  line.sent === undefined &&
  line.rendered === undefined &&
  !line.unrendered &&
  !listsNothing(line);

/** Estimates the tokens of a text as views show it: cut, with indented rows. */
const tokensOf = (text: string, { maxItemChars }: Policy): number =>
  estimateTokens(text.slice(0, maxItemChars).replaceAll('\n', '\n    '));

function costOf(line: Line, policy: Policy): number {
  if (line.sent !== undefined) return estimateTokens(line.sent);
  if (line.rendered !== undefined) return LINE_TOKENS + tokensOf(line.rendered, policy);
  const { maxItemChars } = policy;
  const instruction = line.instruction?.slice(0, maxItemChars) ?? '';
  return (
    LINE_TOKENS +
    estimateTokens([...shownOf(line, maxItemChars), dataText(line, maxItemChars)].join('; ')) +
    estimateTokens(instruction)
  );
}

/** Returns the messages that a view lists for the line, cut as in the view, but not escaped. */
function shownOf(line: Line, maxItemChars: number): readonly string[] {
  const { count, chars } = listedOf(line, { maxItemChars });
  return line.messages.slice(0, count).map((message) => message.slice(0, chars));
}

function restOf(lines: readonly Line[]): Rest {
  const bySource = new Map<string, { source: string; count: number; level: Line['level'] }>();
  for (const line of lines) {
    // An agent chooses its message's kind, so the message counts as from `agent` and not from the source that the kind names.
    const source = line.sender === undefined ? line.kind.source : 'agent';
    const key = `${source} ${line.level}`;
    const known = bySource.get(key);
    if (known) known.count += line.count;
    else bySource.set(key, { source, count: line.count, level: line.level });
  }
  return { ids: lines.flatMap((line) => line.ids), bySource: [...bySource.values()] };
}
