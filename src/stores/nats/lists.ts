/** Reads several logs at once: the records of a project, the list of agents, and the check of all logs. */
import { type LogKey, splitLog } from '../../core/address.ts';
import type { AgentOverview, LogOverview, Presence, ReadQuery } from '../../core/ports.ts';
import type { Stored } from '../../core/records.ts';
import { openOf, overviewOf, selectRecords } from '../memory-log.ts';
import { unsound } from '../soundness.ts';
import { inTurns } from './in-turns.ts';
import type { Logs } from './logs.ts';
import { logTokens, projectSubjects, token } from './names.ts';
import type { Server } from './server.ts';
import type { Tables } from './tables.ts';

export type Listing = { readonly server: Server; readonly tables: Tables; readonly logs: Logs };

/** The number of messages in each step of a read over several logs. With `newestFirst`, the number of positions. */
const STEP = 2_000;
/** The maximum number of logs that are brought up to date at the same time. */
const AT_ONCE = 32;

/** Returns all logs that have ever had a record or a conversation, sorted by name. */
export async function logNames({ tables }: Pick<Listing, 'tables'>, project?: string): Promise<LogKey[]> {
  const rows = await tables.scan<{ log: LogKey }>(project === undefined ? 'log.>' : `log.${token(project)}.*`);
  return rows
    .map(({ value }) => value.log)
    .filter((log) => project === undefined || splitLog(log).project === project)
    .toSorted((a, b) => (a < b ? -1 : 1));
}

/** Reads records of several logs. The subjects of a range of messages show which logs must be read. */
export async function readSeveral(of: Listing, query: ReadQuery): Promise<Stored[]> {
  const { server } = of;
  const { project, limit = 1_000, newestFirst = false, seqs } = query;
  const wanted = seqs === undefined ? [] : seqs;
  const after = Math.max(query.after ?? 0, seqs === undefined ? 0 : Math.min(...wanted) - 1);
  const upTo = Math.min(
    query.upTo ?? Number.POSITIVE_INFINITY,
    seqs === undefined ? Number.POSITIVE_INFINITY : Math.max(...wanted),
  );
  if (limit <= 0 || query.types?.length === 0 || seqs?.length === 0) return [];
  let head = Math.min(upTo, await server.lastSeq(server.logs));
  const byTokens = new Map((await logNames(of, project)).map((log) => [logTokens(log), log]));
  const found: Stored[] = [];
  for (let low = newestFirst ? Math.max(after, head - STEP) : after, high = newestFirst ? head : 0; found.length < limit;) {
    const page = newestFirst
      ? await server.ranges.range(server.logs, projectSubjects(server.root, project), low, high)
      : await server.ranges.subjects(server.logs, projectSubjects(server.root, project), { after: low, limit: STEP, head });
    const last = newestFirst ? high : Math.min(head, page.at(-1)?.seq ?? head);
    const names = new Set(page.filter(({ seq }) => seq <= head).flatMap(({ subject }) => byTokens.get(tokensOf(subject)) ?? []));
    const views = await inTurns([...names], (log) => of.logs.fresh(log));
    // Further records of an append may have been published after the head was read, so the read goes on to the end of that
    // append.
    const whole = Math.min(upTo, Math.max(last, ...views.map((view) => view.wholeUpTo(last))));
    if (whole > last && last === head) {
      if (newestFirst && found.length === 0) high = whole;
      head = whole;
      continue;
    }
    const part = views.map(({ log }) =>
      selectRecords(log.records, { ...query, after: low, upTo: last, limit: Number.POSITIVE_INFINITY }),
    );
    found.push(...part.flat().toSorted((a, b) => (newestFirst ? b.seq - a.seq : a.seq - b.seq)));
    if (newestFirst) {
      if (low <= after) break;
      high = low;
      low = Math.max(after, high - STEP);
    } else {
      if (page.length < STEP || last >= head) break;
      low = last;
    }
  }
  return found.slice(0, limit);
}

const tokensOf = (subject: string): string => subject.split('.').slice(3, 5).join('.');

export async function overviews(of: Listing, project: string | undefined): Promise<readonly LogOverview[]> {
  const views = await inTurns(await logNames(of, project), (log) => of.logs.fresh(log));
  return views.filter(({ log }) => log.records.length > 0).map(({ log }) => openOf(log));
}

export async function agentsPage(
  of: Listing & { readonly presence: (project: string | undefined) => Promise<readonly Presence[]> },
  { project, after = '', limit = 100 }: { readonly project?: string; readonly after?: string; readonly limit?: number },
  now: number,
): Promise<readonly AgentOverview[]> {
  const names = (await logNames(of, project)).filter((log) => log > after && !log.endsWith('/*'));
  const seen = Map.groupBy(await of.presence(project), ({ log }) => log);
  const agents: AgentOverview[] = [];
  for (let from = 0; from < names.length && agents.length < limit; from += AT_ONCE) {
    const views = await inTurns(names.slice(from, from + AT_ONCE), (log) => of.logs.fresh(log));
    for (const { log } of views)
      if (log.records.length > 0 || seen.has(log.key)) agents.push(overviewOf(log.key, log, seen.get(log.key) ?? [], now));
  }
  return agents.slice(0, limit);
}

/**
 * Checks all logs, and returns a text for each problem. A problem is an item in memory that differs from a replay of the log, or
 * a record in memory that the stream lacks.
 */
export async function verify(of: Listing, onProgress?: (done: number, of: number) => void): Promise<string[]> {
  const names = await logNames(of);
  // The stream has one message for each record, and few other messages.
  const all = (await of.server.info(of.server.logs)).state.messages;
  let done = 0;
  const problems: string[] = [];
  for (const name of names) {
    onProgress?.(done, all);
    // The check must not keep all logs in memory, so a log that was not in memory is dropped from memory again.
    const hadIt = of.logs.has(name);
    const known = await of.logs.fresh(name);
    const items = [...known.log.byId.values()].flat().map(({ item }) => item);
    const records = [...known.log.records];
    problems.push(...unsound(name, records, items));
    const again = new Map((await of.logs.reread(name)).log.records.map((record) => [record.seq, record]));
    const lost = records.filter(({ seq }) => !again.has(seq));
    if (lost.length > 0 && known === (await of.logs.fresh(name)))
      problems.push(`${name}: ${lost.length} records in memory are not in the stream, such as ${lost[0]?.seq}`);
    if (!hadIt) of.logs.forget(name);
    // During the check, other processes may have written more records, so `done` is limited to `all`.
    done = Math.min(done + records.length, all);
  }
  onProgress?.(all, all);
  return problems;
}
