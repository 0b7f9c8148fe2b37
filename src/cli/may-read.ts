/** Limits for whom a command may deliver notifications, if an agent runs the command. */
import { logOf, parseAddress, type ConversationId, type LogKey } from '../core/address.ts';
import { insideAgent, notAPerson } from '../inbox/index.ts';

/**
 * Throws `not_trusted` if an agent's command would read for another agent or another conversation. Reading would lower the gate
 * of that conversation and count as delivery. Without `conversation`, each conversation of the agent is allowed.
 * `doing`: the action before the address in the error.
 */
export function mayRead(
  { log, conversation }: { readonly log: LogKey; readonly conversation?: ConversationId },
  doing = 'to read for',
): void {
  const inside = insideAgent({ env: process.env });
  if (inside === undefined) return;
  const isOther = conversation !== undefined && (inside.conversation ?? conversation) !== conversation;
  if (inside.log !== log || isOther)
    throw notAPerson(`${doing} ${log}${conversation === undefined ? '' : `#${conversation}`}`, inside);
}

/** Throws `not_trusted` if an agent's command would carry notifications to an address that is not the agent's. */
export function mayCarryFor(address: string, project: string): void {
  const parsed = parseAddress(address.includes('/') ? address : `${project}/${address}`);
  if (parsed.kind === 'project') return;
  mayRead({ log: logOf(parsed), ...(parsed.kind === 'conversation' ? { conversation: parsed.conversation } : {}) });
}
