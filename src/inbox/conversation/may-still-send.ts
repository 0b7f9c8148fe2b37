import { isExpired } from '../../core/clocks.ts';
import { isFor, type Item } from '../../core/items.ts';
import { isScheduled } from '../../core/moments.ts';
import type { Conversation } from './conversation.ts';
import { dueFacts } from './facts.ts';
import type { Offer } from './lease.ts';
import { isNews, newerStates, replaces } from './overtaken.ts';

/**
 * Whether the text of an offer that was not sent in time may be sent now. The offer must still hold all its notifications, and
 * none of them may have expired or have a newer state. While the gate is up, the text may not be sent, because a refusal or a new
 * text must show the interrupt. `tools`: the tool of the result that would contain the text, and the tools of earlier results
 * that contained no text.
 */
export async function mayStillSend(
  conversation: Conversation,
  { carrier, ids }: Offer,
  tools: readonly string[],
): Promise<boolean> {
  const { store } = conversation.inbox;
  const { log, id, options } = conversation;
  const now = store.now();
  const items = await store.items(log, { kind: 'carrier', carrier });
  const isHeld = (each: string): boolean => items.some((item) => item.id === each);
  if (!ids.every(isHeld)) return false;
  if (items.some((item) => item.state !== 'offered' || (item.until ?? 0) <= now || isExpired(item, now))) return false;
  const newer = (await newerStates(store, log, items)).filter((item) => isFor(item, id, undefined));
  const waiting = newer.filter(({ state }) => state === 'open');
  const due = { ...(await dueFacts({ context: conversation.inbox, log, id, options }, waiting, true)), tools };
  const news = { at: 'tool_result', facts: due, policy: conversation.policy(), now } as const;
  const counts = (each: Item, item: Item): boolean =>
    (each.state === 'open' && isScheduled(item.notification)) || isNews(each, news);
  if (items.some((item) => newer.some((each) => replaces(each, item) && counts(each, item)))) return false;
  return (await conversation.gate()).length === 0;
}
