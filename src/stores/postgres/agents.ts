/** Lists logs and agents, with one query for each list. */
import type { LogKey } from '../../core/address.ts';
import { MAX_CONVERSATIONS_OF_AN_OVERVIEW, type AgentOverview, type LogOverview, type Presence } from '../../core/ports.ts';
import { SIGNS_OF_WORK } from '../../core/records.ts';
import { agentOverview } from '../agent-overview.ts';
import { levelOf, OPEN } from '../item-row.ts';
import type { Query } from './database.ts';
import { inProject } from './records.ts';
import { fromColumn } from './text.ts';

const OPEN_OF = `
  (SELECT json_agg(json_build_array(level, n)) FROM
    (SELECT i.level, count(*) AS n FROM @items i WHERE i.log = l.log AND i.phase = ${OPEN} GROUP BY i.level) levels) AS open,
  (SELECT i.at FROM @items i WHERE i.log = l.log AND i.phase = ${OPEN} ORDER BY i.seq LIMIT 1) AS oldest`;

type OpenRow = { readonly log: LogKey; readonly open: readonly [number, number][] | null; readonly oldest: number | null };

export async function overviews(query: Query, project: string | undefined): Promise<readonly LogOverview[]> {
  const rows = await query<OpenRow>(
    `SELECT l.log, ${OPEN_OF} FROM @logs l
     WHERE ${inProject(1, 'l.log')} AND EXISTS (SELECT 1 FROM @records r WHERE r.log = l.log) ORDER BY l.log`,
    project ?? null,
  );
  return rows.map(({ log, open: counts, oldest }) => {
    const open = { info: 0, warning: 0, error: 0, critical: 0 };
    for (const [level, n] of counts ?? []) open[levelOf(level)] = n;
    return { log, open, ...(oldest === null ? {} : { oldestOpenAt: oldest }) };
  });
}

/** Lists one page of agents. Each column of a row is read by an index. */
export const AGENTS = `
  SELECT l.log, ${OPEN_OF},
    (SELECT json_agg(json_build_array(i.at, i.clock, i.notification)) FROM @items i WHERE i.log = l.log AND i.gate) AS gates,
    (SELECT json_agg(presence) FROM
      (SELECT c.presence FROM @conversations c WHERE c.log = l.log ORDER BY c.seen_at DESC, c.conversation
        LIMIT ${MAX_CONVERSATIONS_OF_AN_OVERVIEW}) seen) AS presence,
    (SELECT json_build_array(r.type, r.at, r.conversation, r.what) FROM @records r
      WHERE r.log = l.log AND r.type IN (${SIGNS_OF_WORK.map((type) => `'${type}'`).join(', ')})
      ORDER BY r.seq DESC LIMIT 1) AS last
  FROM @page($1, $2, $3) AS l(log) ORDER BY l.log`;

type AgentRow = OpenRow & {
  /** For each item whose `gate` is true, even if it has expired: `at`, the writer's clock, and the notification as JSON. */
  readonly gates: readonly [number, number | null, string][] | null;
  readonly presence: readonly string[] | null;
  readonly last: readonly [string, number, string | null, string | null] | null;
};

export async function agentsPage(
  query: Query,
  { project, after = '', limit = 100 }: { readonly project?: string; readonly after?: string; readonly limit?: number },
  now: number,
): Promise<readonly AgentOverview[]> {
  const rows = await query<AgentRow>(AGENTS, after, project ?? null, limit);
  return rows.map(({ log, open, oldest, gates, presence, last }) =>
    agentOverview(
      {
        log,
        open: open ?? [],
        oldest,
        gates: (gates ?? []).map(([at, clock, text]) => {
          const { expiresAt = null, action = null } = JSON.parse(text) as { expiresAt?: number | null; action?: string };
          return { at, clock, expiresAt, action };
        }),
        presence: (presence ?? []).map((text) => JSON.parse(text) as Presence),
        last: last === null ? undefined : { type: last[0], at: last[1], conversation: textOf(last[2]), what: textOf(last[3]) },
      },
      now,
    ),
  );
}

const textOf = (column: string | null): string | undefined => (column === null ? undefined : fromColumn(column));
