import type { ConversationId } from '../core/address.ts';
import { ANYONE, type Item } from '../core/items.ts';

/** Returns the conversation that took the item. If no carrier took the item, returns its audience. */
export const takenBy = (item: Pick<Item, 'takenBy' | 'audience'>): ConversationId => item.takenBy ?? item.audience;

/**
 * Whether an item whose `gate` is true keeps up the gate of this conversation. An item for ANYONE keeps up every conversation's
 * gate until a conversation takes the item. Without `conversation`, returns true. Does not check `item.gate`.
 */
export const heldFor = (item: Pick<Item, 'takenBy' | 'audience'>, conversation: ConversationId | undefined): boolean =>
  conversation === undefined || takenBy(item) === conversation || takenBy(item) === ANYONE;
