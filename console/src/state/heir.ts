import type { AgentSummary } from '../types.ts';

/**
 * Returns the conversation that continues this ended conversation; null if this conversation has not ended or no conversation
 * continues it.
 */
export function heirOf(agent: AgentSummary | undefined, conversation: string): string | null {
  let last = conversation;
  const seen = new Set<string>();
  for (;;) {
    const here = agent?.conversations.find((each) => each.conversation === last);
    if (here === undefined || here.active || here.passedTo === null || seen.has(last)) break;
    seen.add(last);
    last = here.passedTo.conversation;
  }
  return last === conversation ? null : last;
}
