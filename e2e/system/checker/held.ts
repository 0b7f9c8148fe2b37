/** Finds the sessions whose calls an interrupt must refuse, and the cases in which an interrupt may stay unread. */
import type { History } from '../history.ts';
import { agentOf, conversationOf, isBroadcast, isInterrupt, projectOf, type Notification } from './notifications.ts';
import { memo } from './memo.ts';
import { agentsIn, seenIn, type Reading, type Requested } from './reading.ts';
import { activeRun, endOf, overlaps, runsOf, unreachable } from './spans.ts';

const [ALWAYS, NEVER] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];

/** Whether any conversation of the agent may get the interrupt. The first conversation with a carrier gets the interrupt. */
export const isAnyones = ({ to, action }: Notification): boolean =>
  !isBroadcast(to) && conversationOf(to) === undefined && action === undefined;

/**
 * Whether each conversation has a separate copy of the notification. If an agent has two windows, each has a copy of a
 * notification to all agents, and of an action that names the agent.
 */
export const isCopied = ({ to, action }: Notification, agent: string, readings: readonly Reading[]): boolean =>
  (isBroadcast(to) || (action !== undefined && conversationOf(to) === undefined)) && windowsOf(agent, readings).size > 1;

const isOf = ({ to }: Notification, agent: string): boolean =>
  isBroadcast(to) ? projectOf(to) === projectOf(agent) : agentOf(to) === agent;

const windowsIn = memo(
  (readings: readonly Reading[]): ReadonlyMap<string, ReadonlySet<string>> =>
    new Map(
      [...agentsIn(readings)].map(([agent, each]) => [agent, new Set(each.map(({ session }) => session.about.window))] as const),
    ),
);

export const windowsOf = (agent: string, readings: readonly Reading[]): ReadonlySet<string> =>
  windowsIn(readings).get(agent) ?? new Set();

/**
 * Returns the time until which the interrupt certainly raises this session's gate. An agent's only window gets the interrupt in
 * every session: as an active session, as an heir, or as the first session. If an agent has two windows, no time is certain for
 * a critical notification to the agent, because either window may get it. When a conversation ends, the first later
 * conversation inherits its interrupts.
 */
export function heldUntil(one: Notification, reading: Reading, readings: readonly Reading[], storm: History['storm']): number {
  const { agent, form } = reading.session.about;
  if (!isOf(one, agent) || form === 'library') return NEVER;
  const windows = windowsOf(agent, readings);
  if (windows.size === 1 && !isBroadcast(one.to)) return ALWAYS;
  const named = conversationOf(one.to);
  if (named !== undefined && !runsOf(reading, storm).some(({ conversation }) => conversation === named)) return NEVER;
  if (isAnyones(one)) return NEVER;
  const run = activeRun(reading, one, storm);
  if (run !== undefined && (named === undefined || run.conversation === named))
    return windows.size > 1 && !isBroadcast(one.to) ? run.until : ALWAYS;
  // An interrupt to the whole project also applies to sessions that start while the interrupt is open.
  const comesLater = reading.session.about.t > (one.acknowledgedAt ?? 0);
  return isBroadcast(one.to) && comesLater ? ALWAYS : NEVER;
}

/**
 * Whether a host was killed while it waited for an answer that may have contained this interrupt. The gateway may have answered
 * just before the kill, and a written answer counts as delivered. The host's request must have been sent before `by`. No earlier
 * request may have been answered without the interrupt.
 */
export function mayBeUnread(
  one: Notification,
  readings: readonly Reading[],
  storm: History['storm'],
  by = Number.POSITIVE_INFINITY,
): boolean {
  if (!isInterrupt(one)) return false;
  const own = [...agentsIn(readings)].flatMap(([agent, each]) => (isOf(one, agent) ? each : []));
  const seen = seenIn(readings).get(one.nonce) ?? [];
  return own.some((reading) => {
    const open = openAtDeath(reading, storm);
    if (open === undefined || open.sentAt >= by || one.t >= endOf(reading, storm)) return false;
    return !own.some((other) => {
      if (other.session.about.t > open.sentAt || endOf(other, storm) < (one.acknowledgedAt ?? ALWAYS)) return false;
      const until = other === reading || isAnyones(one) ? ALWAYS : heldUntil(one, other, readings, storm);
      const shown = isBroadcast(one.to) ? seen.filter((sight) => sight.reading === other) : seen;
      return wasLeftOut(one, other, { before: Math.min(open.sentAt, until, shown[0]?.t ?? ALWAYS), storm });
    });
  });
}

/** Returns the first request that was unanswered when the host was killed; undefined for a host that ended normally. */
const openAtDeath = memo((reading: Reading, storm: History['storm']): Requested | undefined => {
  if (reading.session.lines.some(({ kind }) => kind === 'over')) return undefined;
  const end = endOf(reading, storm);
  return reading.requests.find(
    ({ sentAt, receivedAt, endsBy = end }) => receivedAt === undefined && sentAt < end && endsBy >= end,
  );
});

/**
 * Whether a request that was sent after the interrupt's acknowledgement was answered before the time `before`, outside of an
 * outage.
 */
function wasLeftOut(
  one: Notification,
  reading: Reading,
  { before, storm }: { readonly before: number; readonly storm: History['storm'] },
): boolean {
  const out = unreachable(reading, storm);
  return reading.requests.some(
    ({ sentAt, receivedAt = ALWAYS }) =>
      sentAt > (one.acknowledgedAt ?? ALWAYS) && receivedAt < before && !overlaps(out, sentAt, receivedAt),
  );
}
