/** Stores the data of conversations that is not in records: presence, bindings to host processes, and withheld results. */
import type { ConversationId, LogKey } from '../../core/address.ts';
import type { Presence, PresenceQuery, PresenceUpdate, Withheld } from '../../core/ports.ts';
import type { Owner } from '../../core/records.ts';
import { OPEN } from '../item-row.ts';
import { presenceAfter } from '../presence.ts';
import type { Query } from './database.ts';
import { inProject } from './records.ts';
import { fromColumn, toColumn } from './text.ts';

export type Bound = { readonly log: LogKey; readonly conversation: ConversationId };

/** Updates the presence of a conversation. The caller must hold the lock of the log. */
export async function touch(query: Query, update: PresenceUpdate, now: number): Promise<Presence> {
  const of = [update.log, toColumn(update.conversation)];
  const [row] = await query<{ presence: string }>(
    'SELECT presence FROM @conversations WHERE log = $1 AND conversation = $2',
    ...of,
  );
  const next = presenceAfter(row && (JSON.parse(row.presence) as Presence), update, now);
  await query('INSERT INTO @logs (log) VALUES ($1) ON CONFLICT DO NOTHING', update.log);
  await putPresence(query, next);
  return next;
}

export const putPresence = (query: Query, presence: Presence): Promise<unknown> =>
  query(
    `INSERT INTO @conversations (log, conversation, seen_at, ended_at, presence) VALUES ($1, $2, $3, $4, $5)
     ON CONFLICT (log, conversation) DO UPDATE SET
     (seen_at, ended_at, presence) = (excluded.seen_at, excluded.ended_at, excluded.presence)`,
    presence.log,
    toColumn(presence.conversation),
    presence.seenAt,
    presence.endedAt ?? null,
    JSON.stringify(presence),
  );

export async function presence(query: Query, wanted: PresenceQuery): Promise<readonly Presence[]> {
  const { project, log, conversation, after, limit } = wanted;
  const values = [log ?? null, conversation === undefined ? null : toColumn(conversation), project ?? null, after ?? null];
  const inPage = `($1::text IS NULL OR log = $1) AND ${inProject(3)} AND ($4::text IS NULL OR log > $4)
     AND ($2::text IS NULL OR conversation = $2)`;
  // A page never ends within a log.
  const end = `(SELECT max(log) FROM (SELECT DISTINCT log FROM @conversations WHERE ${inPage} ORDER BY log LIMIT $5) page)`;
  const rows = await query<{ presence: string }>(
    `SELECT presence FROM @conversations
     WHERE ${inPage} ${limit === undefined ? '' : `AND log <= ${end}`} ORDER BY log, conversation`,
    ...values,
    ...(limit === undefined ? [] : [limit]),
  );
  return rows.map((row) => JSON.parse(row.presence) as Presence);
}

const hostOf = ({ machine, pid, startedAt }: Owner): readonly unknown[] => [toColumn(machine), pid, toColumn(startedAt)];

export const bind = (query: Query, host: Owner, { log, conversation }: Bound, at: number): Promise<unknown> =>
  query(
    `INSERT INTO @bindings (machine, pid, started_at, log, conversation, at) VALUES ($1, $2, $3, $4, $5, $6)
     ON CONFLICT (machine, pid, started_at) DO UPDATE SET
     (log, conversation, at) = (excluded.log, excluded.conversation, excluded.at)`,
    ...hostOf(host),
    log,
    toColumn(conversation),
    at,
  );

export async function binding(query: Query, host: Owner): Promise<(Bound & { at: number }) | undefined> {
  const [row] = await query<{ log: LogKey; conversation: string; at: number }>(
    'SELECT log, conversation, at FROM @bindings WHERE machine = $1 AND pid = $2 AND started_at = $3',
    ...hostOf(host),
  );
  return row && { ...row, conversation: fromColumn(row.conversation) as ConversationId };
}

export const withhold = (query: Query, held: Withheld): Promise<unknown> =>
  query(
    `INSERT INTO @withheld (log, conversation, id, at, until, tool, body) VALUES ($1, $2, $3, $4, $5, $6, $7)
     ON CONFLICT (log, conversation, id) DO UPDATE SET
     (at, until, tool, body) = (excluded.at, excluded.until, excluded.tool, excluded.body)`,
    held.log,
    toColumn(held.conversation),
    toColumn(held.id),
    held.at,
    held.until,
    toColumn(held.tool),
    toColumn(held.body),
  );

export async function withheld(
  query: Query,
  { log, conversation }: Bound,
  { now, take }: { readonly now: number; readonly take: boolean },
): Promise<readonly Withheld[]> {
  const of = 'log = $1 AND conversation = $2 AND until > $3';
  type Row = { id: string; at: number; until: number; tool: string; body: string };
  const rows = await query<Row>(
    take ? `DELETE FROM @withheld WHERE ${of} RETURNING *` : `SELECT * FROM @withheld WHERE ${of}`,
    log,
    toColumn(conversation),
    now,
  );
  return rows
    .map(({ id, at, until, tool, body }) => ({
      log,
      conversation,
      id: fromColumn(id),
      at,
      until,
      tool: fromColumn(tool),
      body: fromColumn(body),
    }))
    .toSorted((a, b) => a.at - b.at);
}

/** Removes conversations that ended before `before`, old bindings without presence, and withheld results that have expired. */
export async function pruneConversations(query: Query, before: number, now: number): Promise<void> {
  await query('DELETE FROM @withheld WHERE until <= $1', now);
  // If notifications wait for the conversation, its presence stays, because a wrong clock may have recorded its end.
  await query(
    `DELETE FROM @conversations c WHERE c.ended_at < $1 AND NOT EXISTS
     (SELECT 1 FROM @items i WHERE i.log = c.log AND i.phase = ${OPEN} AND i.audience = c.conversation)`,
    before,
  );
  await query(
    `DELETE FROM @bindings b WHERE b.at < $1 AND NOT EXISTS
     (SELECT 1 FROM @conversations c WHERE c.log = b.log AND c.conversation = b.conversation)`,
    before,
  );
}
