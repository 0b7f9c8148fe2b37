/** Decides which agents need a person, and orders a list that shows these agents first. */
import type { AgentSummary } from '../types.ts';

/** How long a notification may wait for an active agent. After this time, the list shows the agent as waiting. */
export const STUCK_MS = 60_000;

/**
 * The reasons why an agent is listed first, the most urgent first. With the last two reasons, the agent needs no person: a
 * notification only waits for the agent's next carrier.
 */
export const NEEDS = ['asks', 'held', 'budget', 'failed', 'waits_with_error', 'waits'] as const;
export type Need = { readonly kind: (typeof NEEDS)[number]; readonly since: number };

/** Returns the most urgent reason why the agent is listed first; null if there is no reason. */
export function needOf(agent: AgentSummary, now: number): Need | null {
  const { active, held, asksSince, failedAt, open } = agent;
  if (!active) return null;
  if (asksSince !== null) return { kind: 'asks', since: asksSince };
  if (held !== null) return { kind: held.kind.startsWith('budget.') ? 'budget' : 'held', since: held.since };
  if (failedAt !== null) return { kind: 'failed', since: failedAt };
  const since = stuckSince(agent, now);
  return since === null ? null : { kind: open.error + open.critical > 0 ? 'waits_with_error' : 'waits', since };
}

export const needsAPerson = (agent: AgentSummary, now: number): boolean => groupOf(agent, needOf(agent, now)) === 'needs';

/** Returns the time since which a notification of an active agent waits, if it waits for too long; otherwise null. */
export const stuckSince = ({ active, oldestOpenAt }: AgentSummary, now: number): number | null =>
  active && oldestOpenAt !== null && now - oldestOpenAt > STUCK_MS ? oldestOpenAt : null;

export const GROUPS = ['needs', 'waiting', 'working', 'idle', 'away'] as const;
export type Group = (typeof GROUPS)[number];

/** A row's place in the list. */
export type Placed = { readonly group: Group; readonly log: string };

/** Orders agents by group, then by the urgency and the time of their need, and then by name. */
export function placesOf(agents: readonly AgentSummary[], now: number): readonly Placed[] {
  const rows = agents.map((agent) => {
    const need = needOf(agent, now);
    return { log: agent.log, need, group: groupOf(agent, need) };
  });
  return rows
    .toSorted(
      (a, b) =>
        GROUPS.indexOf(a.group) - GROUPS.indexOf(b.group) ||
        rankOf(a.need) - rankOf(b.need) ||
        (a.need?.since ?? 0) - (b.need?.since ?? 0) ||
        (a.log < b.log ? -1 : 1),
    )
    .map(({ group, log }) => ({ group, log }));
}

const rankOf = (need: Need | null): number => (need === null ? 0 : NEEDS.indexOf(need.kind));

function groupOf({ active, doing }: AgentSummary, need: Need | null): Group {
  if (need !== null) return need.kind === 'waits' || need.kind === 'waits_with_error' ? 'waiting' : 'needs';
  if (!active) return 'away';
  return doing.kind === 'nothing' ? 'idle' : 'working';
}

/** Orders rows like `wanted`, except that existing rows keep their places, and new rows come last in their group. */
export function keepingPlaces(had: readonly Placed[], wanted: readonly Placed[]): readonly Placed[] {
  const now = new Set(wanted.map(({ log }) => log));
  const before = new Set(had.map(({ log }) => log));
  const rows = [...had.filter(({ log }) => now.has(log)), ...wanted.filter(({ log }) => !before.has(log))];
  return GROUPS.flatMap((group) => rows.filter((row) => row.group === group));
}
