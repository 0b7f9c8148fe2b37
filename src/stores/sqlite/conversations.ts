import type { ConversationId, LogKey } from '../../core/address.ts';
import type { Presence, PresenceQuery, PresenceUpdate, Withheld } from '../../core/ports.ts';
import type { Owner } from '../../core/records.ts';
import { presenceAfter } from '../presence.ts';
import type { Database } from './database.ts';
import type { Logs } from './logs.ts';
import { OPEN } from '../item-row.ts';
import { Where } from './where.ts';

/** The conversation that a host process shows. */
export type Bound = { readonly log: LogKey; readonly conversation: ConversationId };

/**
 * Stores the data of conversations that is not in records: presence, bindings to host processes, and withheld results. Call the
 * writing methods inside a transaction.
 */
export class Conversations {
  readonly #db: Database;
  readonly #logs: Logs;

  constructor(db: Database, logs: Logs) {
    this.#db = db;
    this.#logs = logs;
  }

  touch(update: PresenceUpdate, now: number): Presence {
    const log = this.#logs.numberFor(update.log);
    const row = this.#db.get<{ presence: string }>(
      'SELECT presence FROM conversations WHERE log = ? AND conversation = ?',
      log,
      update.conversation,
    );
    const next = presenceAfter(row && (JSON.parse(row.presence) as Presence), update, now);
    this.#db.run(
      'INSERT OR REPLACE INTO conversations (log, conversation, seen_at, ended_at, presence) VALUES (?, ?, ?, ?, ?)',
      log,
      next.conversation,
      next.seenAt,
      next.endedAt ?? null,
      JSON.stringify(next),
    );
    return next;
  }

  presence({ project, log, conversation, after, limit }: PresenceQuery): readonly Presence[] {
    const logs = new Where();
    if (project !== undefined) logs.and('l.project = ?', project);
    if (log !== undefined) logs.and('l.key = ?', log);
    if (after !== undefined) logs.and('l.key > ?', after);
    const where = logs.copy();
    if (limit !== undefined) {
      // A page never ends within a log.
      const has = 'EXISTS (SELECT 1 FROM conversations c WHERE c.log = l.id';
      if (conversation === undefined) logs.and(`${has})`);
      else logs.and(`${has} AND c.conversation = ?)`, conversation);
      const page = `SELECT l.id FROM logs l ${logs.sql} ORDER BY l.key LIMIT ?`;
      where.and(`l.id IN (${page})`, ...logs.values, limit);
    }
    if (conversation !== undefined) where.and('c.conversation = ?', conversation);
    const sql = `SELECT c.presence FROM conversations c JOIN logs l ON l.id = c.log ${where.sql} ORDER BY l.key, c.conversation`;
    return this.#db.all<{ presence: string }>(sql, ...where.values).map((row) => JSON.parse(row.presence) as Presence);
  }

  /** Whether the conversation has ended. `log`: the number of the log. */
  hasEnded(log: number, conversation: ConversationId): boolean {
    const sql = 'SELECT ended_at FROM conversations WHERE log = ? AND conversation = ?';
    const row = this.#db.get<{ ended_at: number | null }>(sql, log, conversation);
    return row !== undefined && row.ended_at !== null;
  }

  bind(host: Owner, { log, conversation, at }: Bound & { readonly at: number }): void {
    this.#db.run(
      'INSERT OR REPLACE INTO bindings (machine, pid, started_at, log, conversation, at) VALUES (?, ?, ?, ?, ?, ?)',
      host.machine,
      host.pid,
      host.startedAt,
      this.#logs.numberFor(log),
      conversation,
      at,
    );
  }

  binding(host: Owner): (Bound & { at: number }) | undefined {
    const row = this.#db.get<Bound & { at: number }>(
      `SELECT l.key AS log, b.conversation, b.at FROM bindings b JOIN logs l ON l.id = b.log
       WHERE b.machine = ? AND b.pid = ? AND b.started_at = ?`,
      host.machine,
      host.pid,
      host.startedAt,
    );
    return row && { ...row };
  }

  withhold(held: Withheld): void {
    this.#db.run(
      'INSERT OR REPLACE INTO withheld (log, conversation, id, at, until, tool, body) VALUES (?, ?, ?, ?, ?, ?, ?)',
      this.#logs.numberFor(held.log),
      held.conversation,
      held.id,
      held.at,
      held.until,
      held.tool,
      held.body,
    );
  }

  withheld(log: LogKey, conversation: ConversationId, now: number): Withheld[] {
    return this.#db
      .all<Omit<Withheld, 'log' | 'conversation'>>(
        `SELECT id, at, until, tool, body FROM withheld
         WHERE log = (SELECT id FROM logs WHERE key = ?) AND conversation = ? AND until > ? ORDER BY at`,
        log,
        conversation,
        now,
      )
      .map((row) => ({ log, conversation, ...row }));
  }

  takeWithheld(log: LogKey, conversation: ConversationId, now: number): Withheld[] {
    const held = this.withheld(log, conversation, now);
    this.#db.run(
      'DELETE FROM withheld WHERE log = (SELECT id FROM logs WHERE key = ?) AND conversation = ? AND until > ?',
      log,
      conversation,
      now,
    );
    return held;
  }

  /** Removes conversations that ended before `before`, old bindings without presence, and withheld results that have expired. */
  prune(before: number, now: number): void {
    this.#db.run('DELETE FROM withheld WHERE until <= ?', now);
    // If notifications wait for the conversation, its presence stays, because a wrong clock may have recorded its end.
    this.#db.run(
      `DELETE FROM conversations WHERE ended_at < ? AND NOT EXISTS
       (SELECT 1 FROM items i WHERE i.log = conversations.log AND i.phase = ${OPEN} AND i.audience = conversations.conversation)`,
      before,
    );
    this.#db.run(
      `DELETE FROM bindings WHERE at < ? AND NOT EXISTS
       (SELECT 1 FROM conversations c WHERE c.log = bindings.log AND c.conversation = bindings.conversation)`,
      before,
    );
  }
}
