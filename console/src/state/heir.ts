import type { ConversationSummary } from '../types.ts';

/**
 * Returns the conversation that continues this ended conversation; null if this conversation has not ended or no conversation
 * continues it.
 */
export function heirOf(conversations: readonly ConversationSummary[], conversation: string): string | null {
  let last = conversation;
  const seen = new Set<string>();
  for (;;) {
    const here = conversations.find((each) => each.conversation === last);
    if (here === undefined || here.active || here.passedTo === null || seen.has(last)) break;
    seen.add(last);
    last = here.passedTo.conversation;
  }
  return last === conversation ? null : last;
}
