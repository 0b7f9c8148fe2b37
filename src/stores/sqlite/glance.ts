/**
 * Checks whether a notification waits for delivery to a conversation, without loading a store. A coding agent runs a hook before
 * each tool call, and almost always no notification waits. If the result is undefined, the caller must open the store and check
 * fully.
 */
import type { DatabaseSync } from 'node:sqlite';
import type { LEVELS } from '../../core/notification.ts';

/** The major version of the schema for which the query is written (see `migrations.ts`). */
const MAJOR = 1;

export type Glance = {
  readonly path: string;
  /** The ancestors of this process, in the form that `bind` stores. */
  readonly processes: readonly { readonly machine: string; readonly pid: number; readonly startedAt: string }[];
  readonly conversation: string;
  /** The beginning of a setting's key, before the log's name. If the log has this setting, the result is not `quiet`. */
  readonly setting: string;
  /** The current time, epoch ms. */
  readonly now: number;
  /** The age of the last contact, in ms, after which a new contact must be written. */
  readonly seenWithinMs: number;
  /** Items that were delivered after this time, epoch ms, must be searched in the host's transcript. */
  readonly unprovenSince: number;
};

/** Parameters: machine, pid, start, conversation, key, time. An empty audience is ANYONE. Phase 0 is open or offered. */
export const GLANCE = `
  SELECT c.presence AS presence, c.seen_at AS seenAt, c.ended_at AS endedAt,
    EXISTS (SELECT 1 FROM items i WHERE i.log = b.log AND i.phase = 0 AND i.audience IN ('', b.conversation)) AS open,
    EXISTS (SELECT 1 FROM items i WHERE i.log = b.log AND i.gate = 1
      AND coalesce(i.taken_by, i.audience) IN ('', b.conversation)) AS gate,
    EXISTS (SELECT 1 FROM settings s, logs l WHERE l.id = b.log AND s.key = ?5 || l.key) AS setting,
    EXISTS (SELECT 1 FROM items i INDEXED BY items_closed WHERE i.log = b.log AND i.closed_at > ?6 AND i.phase = 1
      AND coalesce(i.taken_by, i.audience) = b.conversation AND i.state ->> '$.observed' = 0) AS unproven
  FROM bindings b JOIN conversations c ON c.log = b.log AND c.conversation = b.conversation
  WHERE b.machine = ?1 AND b.pid = ?2 AND b.started_at = ?3 AND b.conversation = ?4`;

/** Parameters: machine, pid, start, conversation. Returns a row if the process shows the conversation. */
export const OPEN_MARK = `
  SELECT (SELECT count(*) || ' ' || max(i.seq) || ' ' || count(i.carrier) FROM items i
    WHERE i.log = b.log AND i.phase = 0 AND i.audience IN ('', b.conversation) HAVING count(*) > 0) AS mark
  FROM bindings b WHERE b.machine = ?1 AND b.pid = ?2 AND b.started_at = ?3 AND b.conversation = ?4`;

type Row = {
  readonly presence: string;
  readonly seenAt: number;
  readonly endedAt: number | null;
  readonly open: number;
  readonly gate: number;
  readonly setting: number;
  readonly unproven: number;
};

/**
 * Checks a conversation that is active and bound to one of the processes. `free`: no gate is up. `quiet`: no gate is up, no item
 * is open, offered or unproven, and the log does not have the setting. Returns undefined if a full check is needed.
 */
export function glance({
  path,
  processes,
  conversation,
  setting,
  now,
  seenWithinMs,
  unprovenSince,
}: Glance): 'quiet' | 'free' | undefined {
  let db: DatabaseSync | undefined;
  try {
    db = open(path);
    if (db === undefined) return undefined;
    const ask = db.prepare(GLANCE);
    for (const { machine, pid, startedAt } of processes) {
      const row = ask.get(machine, pid, startedAt, conversation, setting, unprovenSince) as Row | undefined;
      if (row === undefined) continue;
      const { pending, process: of } = JSON.parse(row.presence) as {
        readonly pending?: boolean;
        readonly process?: Glance['processes'][number];
      };
      const isCurrent = of?.pid === pid && of.startedAt === startedAt && of.machine === machine && pending !== true;
      if (!isCurrent || row.gate > 0 || row.endedAt !== null || Math.abs(now - row.seenAt) >= seenWithinMs) return undefined;
      return row.open + row.setting + row.unproven > 0 ? 'free' : 'quiet';
    }
    return undefined;
  } catch {
    return undefined;
  } finally {
    db?.close();
  }
}

/**
 * Returns a text that changes with the open items of a conversation. The text is empty if no item is open. Returns undefined if
 * the process does not show the conversation, or if the database cannot be read.
 */
export function openMark({
  path,
  process: { machine, pid, startedAt },
  conversation,
}: Pick<Glance, 'path' | 'conversation'> & { readonly process: Glance['processes'][number] }): string | undefined {
  let db: DatabaseSync | undefined;
  try {
    db = open(path);
    const row = db?.prepare(OPEN_MARK).get(machine, pid, startedAt, conversation) as { mark: string | null } | undefined;
    return row === undefined ? undefined : (row.mark ?? '');
  } catch {
    return undefined;
  } finally {
    db?.close();
  }
}

/**
 * Parameters: machine, pid, start, conversation. Counts open or offered items by level (0 is info), and then the items that
 * keep the gate up.
 */
export const OPEN_LEVELS = `
  SELECT i.level AS level, count(*) AS count, 0 AS gates FROM items i JOIN bindings b ON b.log = i.log
    WHERE b.machine = ?1 AND b.pid = ?2 AND b.started_at = ?3 AND b.conversation = ?4
      AND i.phase = 0 AND i.audience IN ('', b.conversation) GROUP BY i.level
  UNION ALL SELECT 0, 0, count(*) FROM items i JOIN bindings b ON b.log = i.log
    WHERE b.machine = ?1 AND b.pid = ?2 AND b.started_at = ?3 AND b.conversation = ?4
      AND i.gate = 1 AND coalesce(i.taken_by, i.audience) IN ('', b.conversation)`;

/** One number for each level. */
type Counts = PerLevel<typeof LEVELS>;
type PerLevel<Levels extends readonly unknown[]> = { -readonly [At in keyof Levels]: number };

export type OpenLevels = { readonly counts: readonly number[]; readonly gates: number };

/**
 * Returns the numbers of open items of the conversation by level, info first, and the number of interrupts that keep its gate up.
 * Undefined if the database cannot be read or its schema has another major version.
 */
export function openLevels({
  path,
  processes,
  conversation,
}: Pick<Glance, 'path' | 'processes' | 'conversation'>): OpenLevels | undefined {
  let db: DatabaseSync | undefined;
  try {
    db = open(path);
    if (db === undefined) return undefined;
    const ask = db.prepare(OPEN_LEVELS);
    const counts: Counts = [0, 0, 0, 0];
    let gates = 0;
    for (const { machine, pid, startedAt } of processes)
      for (const row of ask.all(machine, pid, startedAt, conversation) as {
        level: number;
        count: number;
        gates: number;
      }[]) {
        counts[row.level] = (counts[row.level] ?? 0) + row.count;
        gates += row.gates;
      }
    return { counts, gates };
  } catch {
    return undefined;
  } finally {
    db?.close();
  }
}

/** Opens the database for reading. Undefined if the schema has another major version. */
function open(path: string): DatabaseSync | undefined {
  // `node:sqlite` is not imported, because an older Node lacks this module.
  const db = new (process.getBuiltinModule('node:sqlite').DatabaseSync)(path, { readOnly: true });
  let isKnown = false;
  try {
    const version = Number(db.prepare('PRAGMA user_version').get()?.['user_version']);
    isKnown = Math.floor(version / 1_000) === MAJOR;
  } finally {
    if (!isKnown) db.close();
  }
  return isKnown ? db : undefined;
}
