/** Decides which due items become one line, and which items of a line are listed. */
import { saidAt } from './clocks.ts';
import type { Item } from './items.ts';
import { formatKind, levelRank, type NotificationId } from './notification.ts';
import type { Policy } from './policy.ts';
import { usedTellAgent, tellerOf } from './teller.ts';
import { LISTED_EVENTS } from './unlisted.ts';
import { MESSAGES_BELOW_ERROR } from './views/wording.ts';

/**
 * The maximum number of different messages in a line of level error or critical without a template. Such a line must show every
 * message.
 */
const ERRORS_A_LINE = 5;
/**
 * Estimates for a template's text: the maximum number of characters of one message, and the number of characters that the
 * template adds to each message.
 */
const SAID_CHARS = 240;
const ROW_CHARS = 40;

/**
 * Groups the items that share a line. Items that were sent as one line stay together. Other items may share a line if they have
 * the same audience and level. These items must also have one subscriber and template, or one key (without `supersede`) and kind.
 * Within the source's window, items without a key may share a line too. Items without a key must have one kind and not be
 * critical, or must be warnings of one source.
 */
export function coalesce(due: readonly Item[], policy: Policy): Item[][] {
  const groups: Item[][] = [];
  const join = (find: (group: Item[]) => boolean, item: Item): void => {
    const group = groups.find(find);
    if (group) group.push(item);
    else groups.push([item]);
  };
  for (const item of due) {
    const { key, supersede, kind, level, subscriber } = item.notification;
    if (item.text !== undefined) join((g) => g[0]?.text !== undefined && sameIds(g[0].group, item.group), item);
    else if (isNeverMerged(item)) groups.push([item]);
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

/**
 * Sorts the items of each key by their latest record, so that the current state comes last. Items without a key keep their place.
 */
export function newestLast(group: Item[]): Item[] {
  if (group.length < 2 || sentOf(group) !== undefined) return group;
  const byKey = Map.groupBy(group, ({ notification }) => notification.key);
  for (const [key, items] of byKey) if (key !== undefined) items.sort((a, b) => lastRecordOf(a) - lastRecordOf(b));
  return group.map((item) => byKey.get(item.notification.key)?.shift() ?? item);
}
const lastRecordOf = ({ history, seq }: Item): number => history.at(-1) ?? seq;

/**
 * `inLine`: the items of the line. `shown`: the items whose texts the line shows, and the items that only count events of a
 * storm. `others`: the items that close as summarized.
 */
export type Listed = { readonly inLine: Item[]; readonly shown: readonly Item[]; readonly others: readonly Item[] };

/**
 * Divides the items of a line into shown and summarized items. Below error, a view lists the first `MESSAGES_BELOW_ERROR`
 * different messages, and a template gets at most `LISTED_EVENTS` events. An item that was passed to its template counts as
 * delivered. A subscriber's line counts the summarized items. Any other line omits them.
 */
export function listed(group: Item[]): Listed {
  const { level, subscriber } = (group[0] as Item).notification;
  if (levelRank(level) >= levelRank('error') || sentOf(group) !== undefined) return { inLine: group, shown: group, others: [] };
  const shown: Item[] = [];
  const others: Item[] = [];
  const first = new Set(messagesOf(group).slice(0, MESSAGES_BELOW_ERROR));
  let events = 0;
  const fits = (item: Item): boolean => {
    if (subscriber === undefined) return messagesOf([...shown, item]).length <= MESSAGES_BELOW_ERROR;
    return subscriber.template === undefined ? messagesOf([item]).every((text) => first.has(text)) : events < LISTED_EVENTS;
  };
  for (const item of group) {
    const isShown = isCount(item) || shown.length === 0 || item.offers > 0 || fits(item);
    (isShown ? shown : others).push(item);
    if (isShown && !isCount(item)) events += eventsOf(item);
  }
  return { inLine: subscriber === undefined ? shown : group, shown, others };
}

const isCount = ({ notification }: Item): boolean => notification.subscriber?.rest === true;
const eventsOf = ({ differs }: Item): number => 1 + differs.length;

/**
 * Whether the item is never merged with other items. Such an item is a message of a person or of `tell_agent`, or has an action
 * or an instruction.
 */
const isNeverMerged = ({ notification: n }: Item): boolean =>
  n.action !== undefined || n.instruction !== undefined || n.origin?.person !== undefined || usedTellAgent(n);

/**
 * Whether the item may join the group: same subscriber, template, level and audience, up to the subscriber's group size. An item
 * that only counts events of a storm may exceed that size.
 */
function isGroupOf(group: Item[], item: Item, policy: Policy): boolean {
  const first = group[0];
  const of = item.notification.subscriber;
  const known = first?.notification.subscriber;
  if (first === undefined || of === undefined || known === undefined) return false;
  if (!mayShare(first, item)) return false;
  if (of.id !== known.id || of.template !== known.template || item.notification.level !== first.notification.level) return false;
  if (of.rest) return true;
  if (group.filter((other) => !other.notification.subscriber?.rest).length >= of.group) return false;
  if (of.template === undefined) return joins(group, item);
  // The text of an error must not be cut. The template has not run yet, so `sizeOf` estimates the length of its text.
  return levelRank(item.notification.level) < levelRank('error') || sizeOf([...group, item]) <= policy.maxItemChars;
}

/** Estimates the longest text of a template: one row for each different message. */
const sizeOf = (group: readonly Item[]): number =>
  messagesOf(group).reduce((sum, message) => sum + ROW_CHARS + Math.min(message.length, SAID_CHARS), 0);

/**
 * Whether the item may share the line of `first`. A line that was rendered gets no further item. All items of a line have one
 * audience. After a release, another conversation may take an item for `ANYONE`, with the text of the whole line. A line names
 * one agent, so the words of an agent share no line with other texts.
 */
const mayShare = (first: Item, item: Item): boolean =>
  first.text === undefined &&
  !isNeverMerged(first) &&
  first.audience === item.audience &&
  tellerOf(first.notification) === tellerOf(item.notification);

const joins = (group: Item[], item: Item): boolean => {
  const first = group[0];
  if (first === undefined || !mayShare(first, item)) return false;
  if (levelRank(item.notification.level) < levelRank('error')) return true;
  return messagesOf([...group, item]).length <= ERRORS_A_LINE;
};
const sameKind = (a: Item, b: Item): boolean =>
  formatKind(a.notification.kind) === formatKind(b.notification.kind) && a.notification.level === b.notification.level;
const isWarningOf = (group: Item[], source: string): boolean =>
  group.every((g) => g.notification.level === 'warning' && g.notification.kind.source === source);
const sameIds = (a: readonly NotificationId[] | undefined, b: readonly NotificationId[] | undefined): boolean =>
  a !== undefined && b !== undefined && a.length === b.length && a.every((id, i) => id === b[i]);

export const messagesOf = (group: readonly Item[]): string[] => [
  ...new Set(
    group.flatMap((item) => [
      item.notification.message,
      ...item.differs.flatMap((d) => (d.message === undefined ? [] : [d.message])),
    ]),
  ),
];

/**
 * Returns the text with which a carrier already showed the line of these items. Undefined if no carrier did, or if `group` lacks
 * an item of the line.
 */
export function sentOf(group: readonly Item[]): string | undefined {
  const { text, group: line = [] } = group[0] as Item;
  const ids = new Set(group.map(({ id }) => id));
  return line.every((id) => ids.has(id)) ? text : undefined;
}
