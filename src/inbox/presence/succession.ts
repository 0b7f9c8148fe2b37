/**
 * Passes the unread notifications of an ended conversation to its heir: the agent's next conversation with the same worktree and
 * purpose. One conditional append moves all of these notifications. Therefore, only one of two heirs gets them, and a crash
 * cannot split the move.
 */
import type { ConversationId, LogKey } from '../../core/address.ts';
import { ANYONE, holderOf, isShownFirst, type Item } from '../../core/items.ts';
import { formatKind, type NotificationId } from '../../core/notification.ts';
import type { Presence } from '../../core/ports.ts';
import type { ClosedRecord, Draft, SucceededRecord } from '../../core/records.ts';
import { lineageOf } from '../conversation/fork.ts';
import type { Companion, Context, Succession } from '../context.ts';
import { isActive, isSame, overBecause, runOf } from './presence.ts';
import { hostOf } from './processes.ts';
import { releaseStale } from '../conversation/stale.ts';

export type Heir = {
  readonly log: LogKey;
  readonly id: ConversationId;
  readonly purpose?: string | undefined;
  readonly folder?: string | undefined;
  /** Whether the heir's process serves many clients. */
  readonly shared?: boolean | undefined;
  /**
   * Whether the heir's host is a descendant of another host's process, such as `claude -p` in a tool. Such an heir inherits
   * nothing.
   */
  readonly nested?: boolean | undefined;
};

/**
 * `from`: the conversations whose notifications the heir took over. `waits`: some items were not passed to the heir yet, usually
 * because a living process has offered them. The next call of `inherit` passes these items.
 */
export type Inherited = { readonly from: readonly ConversationId[]; readonly waits: boolean };

const NOTHING: Inherited = { from: [], waits: false };
const TRIES = 8;

/** Takes over the unread notifications of conversations that ended before the heir began. */
export async function inherit(context: Context, heir: Heir): Promise<Inherited> {
  const { log, id, nested = false } = heir;
  if (nested) return NOTHING;
  const there = await context.store.presence({ log });
  const me = there.find(({ conversation }) => conversation === id);
  const over = there.flatMap((p) => {
    const why = isBefore(p, me, heir) ? overBecause(context, p) : undefined;
    return why === undefined ? [] : [{ from: p.conversation, why }];
  });
  if (over.length === 0 || isPartOf(context, me, heir, there)) return NOTHING;
  const parent = (await lineageOf(context.store, log, id)).at(-2)?.conversation;
  if (there.some((p) => p.conversation === parent && isActive(context, p))) return NOTHING;
  const from: ConversationId[] = [];
  let waits = false;
  const holders = new Set((await held(context, log)).map(holderOf));
  const follows = new Set(over.map(({ from }) => from));
  for (const each of over) {
    const passed = await passOn(context, { log, to: id, ...each }, { holds: holders.has(each.from), follows, parent });
    waits ||= passed.waits;
    if (passed.any) from.push(each.from);
  }
  return { from, waits };
}

/**
 * Merges two conversations of one host process: `to` takes over all unread notifications of `from`, including offered ones.
 * `follows`: all conversations of the process. If a notification has reached one of these conversations, `to` does not get its
 * unread copies.
 */
export async function merge(
  context: Context,
  { log, from, to }: Succession,
  follows: ReadonlySet<ConversationId>,
): Promise<void> {
  await passOn(context, { log, from, to, why: 'merged' }, { holds: true, follows, parent: undefined });
}

/**
 * Whether `p` may be an earlier conversation that the heir continues. The two runs must not have been active at the same time,
 * and no known folder, machine or purpose may differ. No clocks are compared: a run records which other runs were active when it
 * began.
 */
function isBefore(p: Presence, me: Presence | undefined, { id, purpose, folder }: Heir): boolean {
  if (p.conversation === id) return false;
  if (me?.began?.beside.includes(runOf(p)) || (me && p.began?.beside.includes(runOf(me)))) return false;
  if (p.folder !== undefined && folder !== undefined && p.folder !== folder) return false;
  // Only host names are compared, because a restarted container has another PID namespace.
  if (p.process !== undefined && me?.process !== undefined && hostOf(p.process.machine) !== hostOf(me.process.machine))
    return false;
  return p.purpose === undefined || purpose === undefined || p.purpose === purpose;
}

/** Whether the heir is the conversation of a sub-agent: its process is also the process of another active conversation. */
function isPartOf(context: Context, me: Presence | undefined, { id, shared }: Heir, there: readonly Presence[]): boolean {
  return !shared && there.some((p) => p.conversation !== id && isSame(p.process, me?.process) && isActive(context, p));
}

type Passed = { readonly any: boolean; readonly waits: boolean };

/**
 * `follows`: the conversations that the heir continues. `parent`: the conversation from which the heir was forked. `holds`: false
 * if `from` has no unread notifications.
 */
type Line = {
  readonly holds: boolean;
  readonly follows: ReadonlySet<ConversationId>;
  readonly parent: ConversationId | undefined;
};

async function passOn(
  context: Context,
  { log, from, to, why }: Succession & Pick<SucceededRecord, 'why'>,
  { holds, follows, parent }: Line,
): Promise<Passed> {
  for (let tries = 0; tries < TRIES; tries++) {
    const all = holds ? await held(context, log) : [];
    const has = new Set(all.filter((item) => item.audience === to).map(({ id }) => id));
    // If a fork has its own copy of a notification of its parent, the parent's copy is not passed to the fork.
    const passes = (item: Item): boolean => !isOwnNote(item) && (from !== parent || !has.has(item.id));
    const mine = all.filter((item) => holderOf(item) === from && (why === 'merged' || passes(item)));
    if (why !== 'merged' && (await releaseStale(context, log, mine)) > 0) continue;
    const free = mine.filter(({ state }) => why === 'merged' || state !== 'offered');
    const waits = free.length < mine.length;
    const unneeded = await unneededCopies(context, { log, to }, follows, free);
    const passing = free.filter((item) => !unneeded.includes(item));
    const others = await companionsOf(context, { log, from, to });
    const closed: readonly Draft[] = unneeded.length === 0 ? [] : [closingOf(unneeded, from)];
    if (passing.length === 0 && others === undefined) {
      if (closed.length > 0 && (await context.store.append(log, closed)).kind !== 'appended') continue;
      return { any: false, waits };
    }
    const record: SucceededRecord = {
      type: 'conversation_succeeded',
      conversation: to,
      from,
      ids: [...new Set(passing.map(({ id }): NotificationId => id))],
      why,
      ...(why === 'merged' ? { merges: true as const } : {}),
    };
    const appended = await context.store.append(log, [...closed, record, ...(others?.drafts ?? [])], {
      swaps: others?.swaps ?? [],
    });
    // If another heir or a carrier took some of the items first, the items are read again.
    if (appended.kind !== 'appended') continue;
    await context.store.touch({ log, conversation: from, passedTo: to });
    return { any: true, waits };
  }
  return { any: false, waits: true };
}

/**
 * Finds unread copies that the heir does not need. The heir has its own copy, or the notification has reached a conversation that
 * the heir continues. Each conversation has its own copy of a notification to the whole project.
 */
async function unneededCopies(
  context: Context,
  { log, to }: Pick<Succession, 'log' | 'to'>,
  follows: ReadonlySet<ConversationId>,
  items: readonly Item[],
): Promise<readonly Item[]> {
  const open = items.filter(({ state, audience }) => state === 'open' && audience !== ANYONE);
  if (open.length === 0) return [];
  const copies = await context.store.items(log, { kind: 'ids', ids: open.map(({ id }) => id) });
  const known = copies.filter((copy) => copy.audience === to || (follows.has(holderOf(copy)) && hasReached(copy)));
  return open.filter((item) => {
    const same = known.filter(({ id }) => id === item.id);
    // If only the copy of the ended conversation was offered, the copy is passed to the heir, so that the heir's copy counts
    // those offers.
    return same.length > 0 && !same.some((copy) => copy.audience === to && isShownFirst(item, copy));
  });
}

const hasReached = ({ state, outcome, gate }: Item): boolean =>
  state === 'closed' && !gate && (outcome === 'delivered' || outcome === 'summarized');

const closingOf = (items: readonly Item[], conversation: ConversationId): ClosedRecord => ({
  type: 'notification_closed',
  conversation,
  ids: items.map(({ id }) => id),
  outcome: 'known',
  by: 'succession',
  reason: 'the session that takes over has a copy, or an earlier session has read the notification',
});

/**
 * Whether the item is an agent's note to itself. Such a note is not passed to an heir: it is delivered when its own conversation
 * continues.
 */
const isOwnNote = ({ notification: { kind, subscriber } }: Item): boolean =>
  (subscriber?.event.type ?? formatKind(kind)).startsWith('agent.self.');

/** Returns the items that conversations of the log hold: open, offered, or delivered interrupts that still hold a gate up. */
async function held(context: Context, log: LogKey): Promise<readonly Item[]> {
  const [open, gate] = [await context.store.items(log, { kind: 'held' }), await context.store.items(log, { kind: 'gate' })];
  const delivered = gate.filter(({ state }) => state === 'closed');
  return [...open, ...delivered];
}

async function companionsOf({ store, companions }: Context, succession: Succession): ReturnType<Companion> {
  const all = await Promise.all(companions.map((companion) => companion(store, succession)));
  const some = all.filter((each) => each !== undefined);
  if (some.length === 0) return undefined;
  return { drafts: some.flatMap(({ drafts }) => drafts), swaps: some.flatMap(({ swaps }) => swaps) };
}
