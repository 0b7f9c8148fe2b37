import type { ConversationId } from '../core/address.ts';
import { ANYONE, holderOf, type Item } from '../core/items.ts';

/**
 * Whether one of an agent's interrupts pauses this conversation. A pause that no conversation has taken pauses every conversation
 * of the agent.
 */
export const isPaused = (gates: readonly Item[], conversation: ConversationId): boolean =>
  gates.some((item) => item.notification.action === 'pause' && (holderOf(item) === ANYONE || holderOf(item) === conversation));
