/** Warns about a moment of delivery that no carrier of the addressed agent can detect. */
import { formatAddress, logOf, type Address } from '../core/address.ts';
import type { NotificationInput } from '../core/notification.ts';
import type { Presence } from '../core/ports.ts';
import type { UserInbox } from '../user-inbox.ts';
import { nameOf } from './terminal.ts';

/**
 * Returns a warning if the agent has no carrier that sees turns. Returns undefined if the moment does not depend on turns, if a
 * carrier of the agent sees turns, or if no agent is active yet.
 */
export async function turnsUnseen(
  ear: UserInbox,
  to: Address,
  deliver: NotificationInput['deliver'],
): Promise<string | undefined> {
  if (!needsTurns(deliver)) return undefined;
  const there = (await ear.active(to.kind === 'project' ? { project: to.project } : { log: logOf(to) })).filter(
    ({ conversation }) => to.kind !== 'conversation' || conversation === to.conversation,
  );
  if (there.length === 0 || there.some(seesTurns)) return undefined;
  return `${nameOf(formatAddress(to))} is reached only through the gateway, which cannot see turns: this notification arrives with the next result of a wrapped tool`;
}

const needsTurns = (deliver: NotificationInput['deliver']): boolean =>
  deliver === 'turn_start' || deliver === 'turn_end' || (typeof deliver === 'object' && 'afterTurns' in deliver);

/** Whether a carrier of the conversation sees its turns, or no carrier is known yet. A gateway sees only tool calls. */
const seesTurns = ({ carriers, turns }: Presence): boolean =>
  turns > 0 || Object.keys(carriers).length === 0 || Object.keys(carriers).some((carrier) => !carrier.startsWith('gateway'));
