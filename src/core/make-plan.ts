/**
 * The decision for one carrier. Pure: the same open set, policy, facts and time give the same plan, on any machine.
 *
 * filter → relevance → supersede → moment → coalesce → order → budget. Each item gets exactly one decision, with its
 * reason. Error and above and orders (`action`) are never summarized: what does not fit stays open and rides next.
 */
import { isDue, isExpired, saidAt, waitedMs, type Sighted } from './clocks.ts';
import type { Item } from './items.ts';
import { filteredBecause, type Mute } from './filter.ts';
import {
  formatKind,
  isInterrupt,
  levelRank,
  showsData,
  type Deliver,
  type NotificationId,
  type Subscribed,
  tellerOf,
} from './notification.ts';
import { isRepeated, lineName, type Decision, type Grouped, type Line, type Plan, type Rest, type Said } from './plan.ts';
import type { Policy } from './policy.ts';
import type { ContactPoint } from './records.ts';
import { estimateTokens } from './tokens.ts';
import { listsNothing } from './unlisted.ts';
import { dataSaid, listedOf } from './views/wording.ts';

/** What was known when the carrier was composed; gathered before the transaction. Times are epoch ms. */
export type Facts = {
  /** What the agent came to know by itself, and when (see `Notification.about`); this batch included. */
  readonly known: Readonly<Record<string, number>>;
  /** The contact points that this host has; a moment that it lacks does not hold anything back. */
  readonly points: readonly ContactPoint[];
  /** Turns that started since an item was queued, for those that wait for some. */
  readonly turnsSince: Readonly<Record<string, number>>;
  readonly mutes: readonly Mute[];
  /** Open states that a newer one of their key has overtaken, which is not open any more: by id, the newer one. */
  readonly overtaken?: Readonly<Record<string, NotificationId>>;
  /** For items whose age this clock cannot tell from their stamps: when each was queued at the latest. */
  readonly sighted?: Sighted;
  /** No other live process has a clock that agrees with this one: what it holds for expired is hidden here, not closed. */
  readonly clockAlone?: true;
  /** The tools whose results this carrier is, or closes the batch of. */
  readonly tools?: readonly string[];
  /**
   * What templates make of lines, by `lineName`. Whoever renders plans again with what was made, until nothing is missing:
   * a line is taken for as long as its messages before.
   */
  readonly said?: ReadonlyMap<string, Said>;
  /** No more is rendered: beside others no line is taken of which it is not known what its template makes. */
  readonly saidAll?: boolean;
};

export const NO_FACTS: Facts = { known: {}, points: [], turnsSince: {}, mutes: [] };

/** At which contact points a moment has come. */
const DUE_AT: Readonly<Record<Exclude<Deliver, object>, readonly ContactPoint[] | 'any'>> = {
  next: 'any',
  now: 'any',
  after_tool: ['tool_result', 'tool_batch_end'],
  // A carrier at the end of a turn, or for an idle agent, begins a cycle.
  next_cycle: ['cycle_start', 'tool_batch_end', 'turn_start', 'turn_end', 'idle', 'forced'],
  cycle_end: ['tool_batch_end', 'turn_end', 'idle'],
  turn_start: ['turn_start'],
  turn_end: ['turn_end', 'idle'],
};

/** Distinct messages in one line at error and above, where none may be left out. */
const ERRORS_A_LINE = 5;
/** A template says so much of a message, and so much beside it. */
const SAID_CHARS = 240;
const ROW_CHARS = 40;
const FRAME_TOKENS = 30;
const LINE_TOKENS = 8;

/** `open`: the open items for this conversation, oldest first. Offered ones must not be among them. */
export function plan(open: readonly Item[], point: ContactPoint, policy: Policy, facts: Facts, now: number): Plan {
  const decisions: Decision[] = [];
  const close = (
    item: Item,
    step: 'filter' | 'relevance' | 'supersede',
    outcome: 'filtered' | 'expired' | 'known' | 'superseded',
    reason: string,
  ): false => {
    decisions.push({ kind: 'close', id: item.id, step, outcome, reason });
    return false;
  };

  const passing = open.filter((item) => {
    const filtered = filteredBecause(item.notification, policy, facts.mutes, now);
    if (filtered !== undefined) return close(item, 'filter', 'filtered', filtered);
    const { expiresAt, about } = item.notification;
    if (typeof expiresAt === 'number' && isExpired(item, now, facts.sighted?.[item.id])) {
      const expired = `expired ${timeText(expiresAt)}`;
      if (!facts.clockAlone) return close(item, 'relevance', 'expired', expired);
      decisions.push({ kind: 'keep', id: item.id, step: 'relevance', reason: `${expired}, by this clock alone` });
      return false;
    }
    if (about !== undefined && Object.hasOwn(facts.known, about) && (facts.known[about] ?? 0) >= item.lastAt)
      return close(item, 'relevance', 'known', `the agent knows ${about} since ${timeText(facts.known[about] ?? 0)}`);
    return true;
  });

  const newest = new Map<string, Item>();
  for (const item of passing)
    if (item.notification.supersede && item.notification.key !== undefined) newest.set(item.notification.key, item);
  const current = passing.filter((item) => {
    const key = item.notification.supersede ? item.notification.key : undefined;
    const last = key === undefined ? undefined : newest.get(key);
    const newer = last === item ? facts.overtaken?.[item.id] : last?.id;
    return newer === undefined || close(item, 'supersede', 'superseded', `${newer} is newer with key ${key}`);
  });

  const due = current.filter((item) => {
    const waits = notDueBecause(item, point, policy, facts, now);
    if (waits !== undefined) decisions.push({ kind: 'keep', id: item.id, step: 'moment', reason: waits });
    return waits === undefined;
  });

  const lines = coalesce(due, policy)
    .map(newestLast)
    .flatMap((group) => fitting(group, policy, facts))
    .map((group) => lineOf(group, facts))
    .toSorted(byUrgency);
  return budget(lines, { policy, decisions, saidAll: facts.saidAll ?? false });
}

function notDueBecause(item: Item, point: ContactPoint, policy: Policy, facts: Facts, now: number): string | undefined {
  const { deliver = 'next', level } = item.notification;
  const { sighted } = facts;
  if (level === 'critical' || isInterrupt(item.notification)) return undefined;
  if (typeof deliver === 'object') {
    if ('at' in deliver) return isDue(deliver.at, item, { now, sighted }) ? undefined : `waits until ${timeText(deliver.at)}`;
    if ('afterTool' in deliver) {
      const points = DUE_AT.after_tool as readonly ContactPoint[];
      if (points.includes(point) && facts.tools?.includes(deliver.afterTool)) return undefined;
      if (!has(facts, points) || waitedMs(item, { now, sighted }) >= policy.maxDeferMs) return undefined;
      return `waits for the tool ${deliver.afterTool}`;
    }
    const since = facts.turnsSince[item.id] ?? 0;
    if (since >= deliver.afterTurns || !has(facts, ['turn_start'])) return undefined;
    return `waits for turn ${deliver.afterTurns} after it was queued, ${since} so far`;
  }
  const points = DUE_AT[deliver];
  if (points === 'any' || points.includes(point) || !has(facts, points)) return undefined;
  if (waitedMs(item, { now, sighted }) >= policy.maxDeferMs) return undefined;
  return `waits for ${deliver}`;
}

/** A log may hold times that no date has: whoever queued one must not keep all else from its agent. */
function timeText(at: number): string {
  const date = new Date(at);
  return Number.isNaN(date.getTime()) ? `${at} ms` : date.toISOString();
}

/** An empty list means that nothing is known of the host: then nothing is assumed to be missing. */
const has = (facts: Facts, points: readonly ContactPoint[]): boolean =>
  facts.points.length === 0 || points.some((p) => facts.points.includes(p));

/** Groups what is one thing for the reader: what was sent as one line, what one subscriber made, one key, one kind within its window, warnings of one source. */
function coalesce(due: readonly Item[], policy: Policy): Item[][] {
  const groups: Item[][] = [];
  const join = (find: (group: Item[]) => boolean, item: Item): void => {
    const group = groups.find(find);
    if (group) group.push(item);
    else groups.push([item]);
  };
  for (const item of due) {
    const { key, supersede, kind, level, subscriber } = item.notification;
    if (item.text !== undefined) join((g) => g[0]?.text !== undefined && sameIds(g[0].group, item.group), item);
    else if (standsAlone(item)) groups.push([item]);
    else if (subscriber !== undefined) join((g) => isGroupOf(g, item, policy), item);
    else if (key !== undefined && !supersede)
      join((g) => joins(g, item) && g[0]?.notification.key === key && sameKind(g[0], item), item);
    else {
      const windowMs = policy.coalesceMs[kind.source] ?? policy.coalesceMs['*'] ?? 0;
      const near = (g: Item[]): boolean => Math.abs(saidAt(item) - saidAt(g.at(-1) ?? { at: 0 })) <= windowMs;
      join(
        (g) =>
          windowMs > 0 &&
          level !== 'critical' &&
          joins(g, item) &&
          near(g) &&
          g.every((other) => other.notification.key === undefined) &&
          key === undefined &&
          (sameKind(g[0] as Item, item) || (level === 'warning' && isWarningOf(g, kind.source))),
        item,
      );
    }
  }
  return groups;
}

/** Of what has one key that comes last which came last, counted or new: it is how things are. All else stays where it is. */
function newestLast(group: Item[]): Item[] {
  if (group.length < 2 || sentOf(group) !== undefined) return group;
  const byKey = Map.groupBy(group, ({ notification }) => notification.key);
  for (const [key, items] of byKey) if (key !== undefined) items.sort((a, b) => lastRecordOf(a) - lastRecordOf(b));
  return group.map((item) => byKey.get(item.notification.key)?.shift() ?? item);
}
const lastRecordOf = ({ history, seq }: Item): number => history.at(-1) ?? seq;

/** What a template made too long for one line is as many lines as it takes, so that nothing of it is cut away. */
function fitting(group: Item[], policy: Policy, facts: Facts): Item[][] {
  const said = facts.said?.get(lineName({ ids: group.map((item) => item.id) }));
  if (group.length < 2 || sentOf(group) !== undefined || said?.kind !== 'text') return [group];
  const tokens = FRAME_TOKENS + LINE_TOKENS + tokensOf(said.text, policy);
  if (said.text.length <= policy.maxItemChars && tokens <= policy.maxTokens) return [group];
  const middle = Math.ceil(group.length / 2);
  return [group.slice(0, middle), group.slice(middle)].flatMap((half) => fitting(half, policy, facts));
}

/** The words of a person or of another agent, and whatever asks for an action, are never merged with others. */
const standsAlone = ({ notification: n }: Item): boolean =>
  n.action !== undefined || n.instruction !== undefined || n.origin?.person !== undefined || tellerOf(n) !== undefined;

/** One subscriber's, by one template, at one level, as many as it wants in one line; what a storm had too many of always. */
function isGroupOf(group: Item[], item: Item, policy: Policy): boolean {
  const first = group[0];
  const of = item.notification.subscriber;
  const known = first?.notification.subscriber;
  if (first === undefined || of === undefined || known === undefined) return false;
  if (first.text !== undefined || standsAlone(first) || first.audience !== item.audience) return false;
  if (of.id !== known.id || of.template !== known.template || item.notification.level !== first.notification.level) return false;
  if (of.rest) return true;
  if (group.filter((other) => !other.notification.subscriber?.rest).length >= of.group) return false;
  if (of.template === undefined) return joins(group, item);
  // What its template makes of it is not known yet, and of errors nothing may be cut away.
  return levelRank(item.notification.level) < levelRank('error') || sizeOf([...group, item]) <= policy.maxItemChars;
}

/** How long the text of a template may get, at most about: a row for each different message. */
const sizeOf = (group: readonly Item[]): number =>
  messagesOf(group).reduce((sum, message) => sum + ROW_CHARS + Math.min(message.length, SAID_CHARS), 0);

/** A line stays as it was rendered: whoever takes what is for any, after another let go of it, must not read what was for that one. */
const joins = (group: Item[], item: Item): boolean => {
  const first = group[0];
  if (first === undefined || first.text !== undefined || standsAlone(first) || first.audience !== item.audience) return false;
  if (levelRank(item.notification.level) < levelRank('error')) return true;
  return messagesOf([...group, item]).length <= ERRORS_A_LINE;
};
const sameKind = (a: Item, b: Item): boolean =>
  formatKind(a.notification.kind) === formatKind(b.notification.kind) && a.notification.level === b.notification.level;
const isWarningOf = (group: Item[], source: string): boolean =>
  group.every((g) => g.notification.level === 'warning' && g.notification.kind.source === source);
const sameIds = (a: readonly NotificationId[] | undefined, b: readonly NotificationId[] | undefined): boolean =>
  a !== undefined && b !== undefined && a.length === b.length && a.every((id, i) => id === b[i]);

const messagesOf = (group: readonly Item[]): string[] => [
  ...new Set(
    group.flatMap((item) => [
      item.notification.message,
      ...item.differs.flatMap((d) => (d.message === undefined ? [] : [d.message])),
    ]),
  ),
];

/** The text of the line that these are; undefined where nothing was sent, or where a part of that line is over. */
function sentOf(group: readonly Item[]): string | undefined {
  const { text, group: line = [] } = group[0] as Item;
  const ids = new Set(group.map(({ id }) => id));
  return line.every((id) => ids.has(id)) ? text : undefined;
}

/** One item as a line of its own, before a template has said it. */
export const lineAlone = (item: Item): Line => lineOf([item], NO_FACTS);

function lineOf(group: Item[], { said }: Facts): Line {
  const first = group[0] as Item;
  const n = first.notification;
  const kinds = new Set(group.map((item) => formatKind(item.notification.kind)));
  const rows = group
    // Of what counts others the number is told.
    .filter((item) => !item.notification.subscriber?.rest)
    .flatMap((item) => [item.notification.data, ...item.differs.map((d) => d.data)])
    .filter((d) => d !== undefined);
  const subscriber = group.every((item) => item.notification.subscriber?.id === n.subscriber?.id) ? n.subscriber : undefined;
  const ids = group.map((item) => item.id);
  const teller = tellerOf(n);
  const sent = sentOf(group);
  const made = sent === undefined ? said?.get(lineName({ ids })) : undefined;
  return {
    ids,
    kind: n.kind,
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
    ...(n.action === undefined ? {} : { action: n.action }),
    ...(n.instruction === undefined ? {} : { instruction: n.instruction }),
    ...(n.origin?.person === undefined ? {} : { person: n.origin.person }),
    ...(teller === undefined ? {} : { sender: { agent: teller, id: n.id } }),
    ...(sent === undefined ? {} : { sent }),
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
    return { message: detail.message ?? item.notification.message, ...(data === undefined ? {} : { data }) };
  }),
});

const byUrgency = (a: Line, b: Line): number => levelRank(b.level) - levelRank(a.level) || a.firstAt - b.firstAt;

function budget(
  lines: readonly Line[],
  { policy, decisions, saidAll }: { readonly policy: Policy; readonly decisions: Decision[]; readonly saidAll: boolean },
): Plan {
  const taken: Line[] = [];
  const left: Line[] = [];
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
      continue;
    }
    const reason =
      taken.length >= policy.maxItems ? `beyond max_items ${policy.maxItems}` : `beyond max_tokens ${policy.maxTokens}`;
    if (levelRank(line.level) >= levelRank('error') || isRepeated(line) || line.action !== undefined)
      for (const id of line.ids) decisions.push({ kind: 'keep', id, step: 'budget', reason: `${reason}: rides next` });
    else {
      left.push(line);
      for (const id of line.ids) decisions.push({ kind: 'summarize', id, step: 'budget', reason });
    }
  }
  return { lines: taken, ...(left.length > 0 ? { rest: restOf(left) } : {}), decisions };
}

/** Its template has not been asked yet. */
export const isUnsaid = (line: Line): boolean =>
  line.subscriber?.template !== undefined &&
  line.sent === undefined &&
  line.rendered === undefined &&
  !line.unrendered &&
  !listsNothing(line);

/** As views show it: cut, its rows indented. */
const tokensOf = (text: string, { maxItemChars }: Policy): number =>
  estimateTokens(text.slice(0, maxItemChars).replaceAll('\n', '\n    '));

function costOf(line: Line, policy: Policy): number {
  if (line.sent !== undefined) return estimateTokens(line.sent);
  if (line.rendered !== undefined) return LINE_TOKENS + tokensOf(line.rendered, policy);
  const { maxItemChars } = policy;
  const instruction = line.instruction?.slice(0, maxItemChars) ?? '';
  return (
    LINE_TOKENS +
    estimateTokens([...shownOf(line, maxItemChars), dataSaid(line, maxItemChars)].join('; ')) +
    estimateTokens(instruction)
  );
}

/** As views list them, about. */
function shownOf(line: Line, maxItemChars: number): readonly string[] {
  const { count, chars } = listedOf(line, { maxItemChars });
  return line.messages.slice(0, count).map((message) => message.slice(0, chars));
}

function restOf(lines: readonly Line[]): Rest {
  const bySource = new Map<string, { source: string; count: number; level: Line['level'] }>();
  for (const line of lines) {
    const key = `${line.kind.source} ${line.level}`;
    const known = bySource.get(key);
    if (known) known.count += line.count;
    else bySource.set(key, { source: line.kind.source, count: line.count, level: line.level });
  }
  return { ids: lines.flatMap((line) => line.ids), bySource: [...bySource.values()] };
}
