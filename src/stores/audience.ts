import type { ConversationId } from '../core/address.ts';
import { ANYONE, type Item } from '../core/items.ts';

/** The conversation that took the item: that of its carrier, else its audience. */
export const takenBy = (item: Pick<Item, 'takenBy' | 'audience'>): ConversationId => item.takenBy ?? item.audience;

/**
 * Whether the item's gate is this conversation's. An item for ANYONE raises the gate of every conversation until one of them
 * takes it.
 */
export const heldFor = (item: Pick<Item, 'takenBy' | 'audience'>, conversation: ConversationId | undefined): boolean =>
  conversation === undefined || takenBy(item) === conversation || takenBy(item) === ANYONE;
