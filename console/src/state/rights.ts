/** Says what this browser may do with its login. */
import { useCell } from './cell.ts';
import { session } from './session.ts';

/**
 * Returns the agent whose token logged this browser in, such as `shop/coder`. Such a token reads that agent and sends notes in its
 * name, but changes nothing. Returns null for any other login, which may change each agent that the login shows.
 */
export function useOwnAgent(): string | null {
  const who = useCell(session);
  if (who.kind !== 'in' || who.reply.who.kind !== 'agent') return null;
  return `${who.reply.who.project}/${who.reply.who.agent}`;
}
