import type { ConversationId } from '../core/address.ts';
import { ANYONE, type Item } from '../core/items.ts';

/** Returns the conversation that took the item. If no carrier took the item, returns its audience. */
export const takenBy = (item: Pick<Item, 'takenBy' | 'audience'>): ConversationId => item.takenBy ?? item.audience;

/**
 * Whether an item with a gate concerns the gate of this conversation. An item for ANYONE concerns every conversation until a
 * conversation takes the item. Without `conversation`, every item counts. Does not check that the item has a gate.
 */
export const heldFor = (item: Pick<Item, 'takenBy' | 'audience'>, conversation: ConversationId | undefined): boolean =>
  conversation === undefined || takenBy(item) === conversation || takenBy(item) === ANYONE;
