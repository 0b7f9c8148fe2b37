/**
 * Decides the calls of sub-agents. A sub-agent gets no notifications, but an interrupt of its main agent refuses its calls too.
 */
import { SUBAGENT_REFUSED } from '../../core/views/wording.ts';
import { PASS, type Call, type Verdict } from './rider.ts';
import type { Seat } from './seat.ts';

export const SUBAGENT_READS_NONE = 'Sub-agents get no notifications. The main agent reads its notifications itself.';
export const REFUSE_SUBAGENT: Verdict = { kind: 'refuse', text: SUBAGENT_REFUSED };

/** Refuses the call of a sub-agent while the gate is up. The refusal does not lower the gate. */
export async function beforeSubagent(seat: Seat, call: Call): Promise<Verdict> {
  const conversation = await seat.working();
  if (conversation.policy().interrupt !== 'before') return PASS;
  const gate = await conversation.gate();
  if (gate.length === 0) {
    seat.gate.down(call);
    return PASS;
  }
  const paused = gate.some(({ notification }) => notification.action === 'pause');
  const known = { text: SUBAGENT_REFUSED, ids: gate.map(({ id }) => id), states: new Map<string, number>(), paused };
  // The store has answered too late: the call has already passed.
  if (seat.gate.known(known, call, conversation) === undefined) return PASS;
  seat.gate.refused();
  return REFUSE_SUBAGENT;
}

/** Returns the seat of the main agent of a sub-agent, if the main agent has called. */
export const mainOf = ({ client, connection }: Seat, seats: Iterable<Seat>): Seat | undefined =>
  [...seats].find(
    (seat) =>
      seat.client === client &&
      seat.connection.caller?.session === connection.caller?.session &&
      seat.connection.caller?.subagent === false,
  );
