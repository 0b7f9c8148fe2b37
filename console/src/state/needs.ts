/** Which agents need a person, and the order of a list that shows those first. */
import type { AgentSummary } from '../types.ts';

/** A notification that waits longer than this for an active agent needs a person. */
export const STUCK_MS = 60_000;

/** The most urgent first. An agent of the last two waits for its next carrier, and may need nobody. */
export const NEEDS = ['asks', 'held', 'budget', 'failed', 'waits_with_error', 'waits'] as const;
export type Need = { readonly kind: (typeof NEEDS)[number]; readonly since: number };

/** Null: the agent works, is idle, or is inactive. */
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

/** The time since which a notification waits for too long, although its agent is active. */
export const stuckSince = ({ active, oldestOpenAt }: AgentSummary, now: number): number | null =>
  active && oldestOpenAt !== null && now - oldestOpenAt > STUCK_MS ? oldestOpenAt : null;

export const GROUPS = ['needs', 'waiting', 'working', 'idle', 'away'] as const;
export type Group = (typeof GROUPS)[number];

/** A row's place in the list. */
export type Placed = { readonly group: Group; readonly log: string };

/** Agents that need a person come first, by need and then by how long. The others are in order of their names. */
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

/** The order of `wanted`, but existing rows keep their places. New ones come last in their group. */
export function keepingPlaces(had: readonly Placed[], wanted: readonly Placed[]): readonly Placed[] {
  const now = new Set(wanted.map(({ log }) => log));
  const before = new Set(had.map(({ log }) => log));
  const rows = [...had.filter(({ log }) => now.has(log)), ...wanted.filter(({ log }) => !before.has(log))];
  return GROUPS.flatMap((group) => rows.filter((row) => row.group === group));
}
