import type { ConversationId } from '../core/address.ts';
import { ANYONE, type Item } from '../core/items.ts';

/** Returns the conversation that took the item. If no carrier took the item, returns its audience. */
export const takenBy = (item: Pick<Item, 'takenBy' | 'audience'>): ConversationId => item.takenBy ?? item.audience;

/**
 * Whether the item holds the gate of this conversation up. An item for ANYONE holds every conversation's gate up until a
 * conversation takes it.
 */
export const heldFor = (item: Pick<Item, 'takenBy' | 'audience'>, conversation: ConversationId | undefined): boolean =>
  conversation === undefined || takenBy(item) === conversation || takenBy(item) === ANYONE;
