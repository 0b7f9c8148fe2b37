import { isExpired } from '../../core/clocks.ts';
import { isFor, type Item } from '../../core/items.ts';
import { NO_FACTS } from '../../core/make-plan.ts';
import { isScheduled } from '../../core/moments.ts';
import type { Conversation } from './conversation.ts';
import type { Offer } from './lease.ts';
import { isNews, newerStates, replaces } from './overtaken.ts';

/**
 * Whether a text that was not sent in time may be sent now. This carrier must still hold all notifications of the text. No
 * notification may have ended, or be an older state. While the gate is up, the text may not be sent, because a refusal or a new
 * text must show the interrupt.
 */
export async function mayStillSend(conversation: Conversation, { carrier, ids }: Offer): Promise<boolean> {
  const { store } = conversation.inbox;
  const { log, id } = conversation;
  const now = store.now();
  const items = await store.items(log, { kind: 'carrier', carrier });
  const isHeld = (each: string): boolean => items.some((item) => item.id === each);
  if (!ids.every(isHeld)) return false;
  if (items.some((item) => item.state !== 'offered' || (item.until ?? 0) <= now || isExpired(item, now))) return false;
  const newer = (await newerStates(store, log, items)).filter((item) => isFor(item, id, undefined));
  const facts = { ...NO_FACTS, points: conversation.options.points ?? [] };
  const counts = (each: Item, item: Item): boolean =>
    (each.state === 'open' && isScheduled(item.notification)) || isNews(each, { facts, policy: conversation.policy(), now });
  if (items.some((item) => newer.some((each) => replaces(each, item) && counts(each, item)))) return false;
  return (await conversation.gate()).length === 0;
}
