/**
 * Finds the notifications that may wake an idle coding agent now. The log records each wake, so a notification that has woken the
 * agent does not wake the agent again.
 */
import { defined } from '../core/defined.ts';
import type { Item } from '../core/items.ts';
import type { NotificationId } from '../core/notification.ts';
import type { ContactPoint } from '../core/records.ts';
import { waking } from '../core/waking.ts';
import { earlierWakes, wakingFacts, type Conversation } from '../inbox/index.ts';

/** The prompt that wakes an agent. The agent's prompt hook adds the notifications themselves. */
export const NUDGE = 'Earpiece: notifications wait for you.';

type Wakes = {
  readonly ids: readonly NotificationId[];
  /** The time at which an open notification may wake the agent, in milliseconds since the epoch. */
  readonly nextAt?: number;
};

/**
 * Returns the ids of the notifications that wake the agent. The agent's prompt hook delivers these notifications. If the list is
 * empty, the agent is not woken.
 */
export const wakesOf = async (conversation: Conversation): Promise<readonly NotificationId[]> =>
  (await wakesAt(conversation, 'turn_start')).ids;

/**
 * Returns the notifications that may wake the agent now. `at` is the contact point at which the woken agent gets the
 * notifications.
 */
export async function wakesAt(conversation: Conversation, at: ContactPoint): Promise<Wakes> {
  const { id, inbox, log } = conversation;
  const { store } = inbox;
  const open = (await store.items(log, { kind: 'open', conversation: id })).filter(({ state }) => state === 'open');
  if (open.length === 0) return { ids: [] };
  const taken = new Set((await conversation.decisions({ at })).flatMap((each) => (each.kind === 'take' ? [each.id] : [])));
  const earlier = await earlierWakes(conversation);
  for (const each of await shownBefore(conversation, open)) earlier.ids.add(each);
  const gate = await conversation.gate();
  const paused = gate.some(({ notification }) => notification.action === 'pause');
  const { wakes, nextAt } = waking(
    open.filter((item) => taken.has(item.id)),
    wakingFacts(conversation, earlier, paused),
  );
  return { ids: wakes.map((item) => item.id), ...defined({ nextAt }) };
}

/**
 * Returns the notifications that were already delivered to an ended session of the agent. The next session, for example after
 * `/clear`, gets its own copy of a notification to `project/*` with its first prompt. That notification does not wake the agent
 * again.
 */
async function shownBefore({ inbox: { store }, log }: Conversation, open: readonly Item[]): Promise<readonly NotificationId[]> {
  const copies = await store.items(log, { kind: 'ids', ids: open.map(({ id }) => id) });
  const shown = copies.filter(({ state, outcome }) => state === 'closed' && outcome === 'delivered');
  if (shown.length === 0) return [];
  const known = await store.presence({ log });
  const ended = new Set<string>(known.filter(({ endedAt }) => endedAt !== undefined).map(({ conversation }) => conversation));
  return shown.filter(({ audience }) => ended.has(audience)).map(({ id }) => id);
}
