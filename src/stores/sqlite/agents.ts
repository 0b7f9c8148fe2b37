import type { LogKey } from '../../core/address.ts';
import { MAX_CONVERSATIONS_OF_AN_OVERVIEW, type AgentOverview, type Presence } from '../../core/ports.ts';
import { SIGNS_OF_WORK } from '../../core/records.ts';
import type { Database } from './database.ts';
import { agentOverview } from '../agent-overview.ts';
import { OPEN } from '../item-row.ts';

/**
 * Parameters: above (exclusive), below (exclusive), limit. A page reads the names of logs from their index. The other columns of
 * each row come from the indexes of their tables. `schema.test.ts` checks the plan of this query.
 */
export const AGENTS = `
  WITH page AS MATERIALIZED (
    SELECT l.id, l.key FROM logs l
    WHERE l.key > ?1 AND l.key < ?2 AND substr(l.key, -2) <> '/*' AND (
      EXISTS (SELECT 1 FROM items i WHERE i.log = l.id)
      OR EXISTS (SELECT 1 FROM conversations c WHERE c.log = l.id)
      OR EXISTS (SELECT 1 FROM records r WHERE r.log = l.id AND r.notification IS NULL))
    ORDER BY l.key LIMIT ?3)
  SELECT page.key AS log,
    (SELECT json_group_array(json_array(level, n)) FROM
      (SELECT i.level, count(*) AS n FROM items i WHERE i.log = page.id AND i.phase = ${OPEN} GROUP BY i.level)) AS open,
    (SELECT r.at FROM items i JOIN records r ON r.seq = i.seq
      WHERE i.log = page.id AND i.phase = ${OPEN} ORDER BY i.seq LIMIT 1) AS oldest,
    (SELECT json_group_array(json_array(r.at, r.clock, r.body ->> '$.expiresAt', r.body ->> '$.action'))
      FROM items i JOIN records r ON r.seq = i.seq WHERE i.log = page.id AND i.gate = 1) AS gates,
    (SELECT json_group_array(json(presence)) FROM
      (SELECT c.presence FROM conversations c WHERE c.log = page.id ORDER BY c.seen_at DESC, c.conversation
        LIMIT ${MAX_CONVERSATIONS_OF_AN_OVERVIEW})) AS presence,
    (SELECT json_array(r.type, r.at, r.conversation, r.body ->> '$.name', r.body ->> '$.on') FROM records r
      WHERE r.log = page.id AND r.notification IS NULL AND r.type IN (${SIGNS_OF_WORK.map((type) => `'${type}'`).join(', ')})
      ORDER BY r.seq DESC LIMIT 1) AS last
  FROM page ORDER BY page.key`;

type Row = {
  readonly log: LogKey;
  readonly open: string;
  readonly oldest: number | null;
  /** For each item whose `gate` is true, even if it has expired: `at`, the writer's clock, `expiresAt` and the action. */
  readonly gates: string;
  readonly presence: string;
  readonly last: string | null;
};

export function agentsPage(
  db: Database,
  query: { readonly project?: string; readonly after?: LogKey; readonly limit?: number },
  now: number,
): AgentOverview[] {
  const { project, after = '', limit = 100 } = query;
  // The logs of a project are adjacent in the index. The range of these logs ends at "0", the character after "/".
  const from = project === undefined ? '' : `${project}/`;
  const below = project === undefined ? '\u{10ffff}' : `${project}0`;
  return db.all<Row>(AGENTS, after > from ? after : from, below, limit).map((row) => overviewOf(row, now));
}

function overviewOf(row: Row, now: number): AgentOverview {
  const gates = JSON.parse(row.gates) as readonly [number, number | null, number | null, string | null][];
  const [type, at, conversation, name, on] = row.last === null ? [] : (JSON.parse(row.last) as unknown[]);
  return agentOverview(
    {
      log: row.log,
      open: JSON.parse(row.open) as readonly [number, number][],
      oldest: row.oldest,
      gates: gates.map(([at, clock, expiresAt, action]) => ({ at, clock, expiresAt, action })),
      presence: JSON.parse(row.presence) as Presence[],
      last: typeof type === 'string' && typeof at === 'number' ? { type, at, conversation, what: name ?? on } : undefined,
    },
    now,
  );
}
