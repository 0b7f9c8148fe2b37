import type { ConversationId } from '../core/address.ts';
import { ANYONE, type Item } from '../core/items.ts';

/** The conversation that took the item: its carrier's, else the one that it was for. */
export const takenBy = (item: Pick<Item, 'takenBy' | 'audience'>): ConversationId => item.takenBy ?? item.audience;

/** Whether the item's gate is this conversation's: what anyone may take holds up everyone until one of them took it. */
export const heldFor = (item: Pick<Item, 'takenBy' | 'audience'>, conversation: ConversationId | undefined): boolean =>
  conversation === undefined || takenBy(item) === conversation || takenBy(item) === ANYONE;
