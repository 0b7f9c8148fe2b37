/** Makes the overview of one agent from the columns of a database. */
import type { LogKey } from '../core/address.ts';
import { isExpired } from '../core/clocks.ts';
import type { AgentOverview, Presence } from '../core/ports.ts';
import { levelOf } from './item-row.ts';

export type AgentColumns = {
  readonly log: LogKey;
  /** For each level with open items: its rank, and the number of these items. */
  readonly open: readonly (readonly [level: number, count: number])[];
  readonly oldest: number | null;
  /** The items whose field `gate` is true, expired items included. */
  readonly gates: readonly {
    readonly at: number;
    readonly clock: number | null;
    readonly expiresAt: number | null;
    readonly action: string | null;
  }[];
  readonly presence: readonly Presence[];
  /** The newest record that shows the agent's work. */
  readonly last:
    | { readonly type: string; readonly at: number; readonly conversation: unknown; readonly what: unknown }
    | undefined;
};

export function agentOverview({ log, open: counts, oldest, gates, presence, last }: AgentColumns, now: number): AgentOverview {
  const up = gates.filter(
    ({ at, clock, expiresAt }) => !isExpired({ at, ...(clock === null ? {} : { clock }), notification: { expiresAt } }, now),
  );
  const open = { info: 0, warning: 0, error: 0, critical: 0 };
  for (const [level, count] of counts) open[levelOf(level)] = count;
  return {
    log,
    open,
    ...(oldest === null ? {} : { oldestOpenAt: oldest }),
    paused: up.some(({ action }) => action === 'pause'),
    gated: up.length > 0,
    presence,
    ...(last === undefined
      ? {}
      : {
          last: {
            type: last.type,
            at: last.at,
            ...(typeof last.conversation === 'string' ? { conversation: last.conversation } : {}),
            ...(typeof last.what === 'string' ? { what: last.what } : {}),
          },
        }),
  };
}
