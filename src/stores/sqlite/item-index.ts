import type { SQLInputValue } from 'node:sqlite';
import { type Item, type Touches } from '../../core/items.ts';
import { levelRank, type NotificationId } from '../../core/notification.ts';
import type { ItemQuery } from '../../core/ports.ts';
import { type Draft, isType } from '../../core/records.ts';
import { heldFor } from '../audience.ts';
import type { Database } from './database.ts';
import { DONE, type ItemRow, itemOf, OPEN, phaseOf, stateOf, UNREAD } from '../item-row.ts';
import { ITEMS } from './rows.ts';

/** Reads and writes the table of items. An item changes only in the transaction of the record that changes it. */
export class ItemIndex {
  readonly #db: Database;

  constructor(db: Database) {
    this.#db = db;
  }

  find(log: number, query: ItemQuery): Item[] {
    switch (query.kind) {
      case 'open':
        return query.conversation === undefined
          ? this.select(ITEMS.open, log, query.limit ?? -1)
          : this.select(ITEMS.openFor, log, query.conversation, query.limit ?? -1);
      case 'held':
        return this.select(ITEMS.held, log);
      case 'gate':
        return this.select(query.read ? ITEMS.gateRead : ITEMS.gate, log).filter((item) => heldFor(item, query.conversation));
      case 'unread': {
        const { conversation, limit = -1, before = Number.MAX_SAFE_INTEGER } = query;
        return conversation === undefined
          ? this.select(ITEMS.unreadBefore, log, before, limit)
          : this.select(ITEMS.unreadOf, log, conversation, before, limit);
      }
      case 'key':
        return this.select(ITEMS.key, log, query.key).filter((item) => item.state === 'open');
      case 'ids':
        return [...new Set(query.ids)].flatMap((id) => this.byId(log, id)).sort((a, b) => a.seq - b.seq);
      case 'carrier':
        return this.select(ITEMS.carrier, query.carrier, log);
      case 'latest': {
        const { before = Number.MAX_SAFE_INTEGER, limit, state } = query;
        return [
          ...(state === 'closed' ? [] : [ITEMS.openBefore]),
          ...(state === 'open' ? [] : [ITEMS.unreadBefore, ITEMS.doneBefore]),
        ]
          .flatMap((sql) => this.select(sql, log, before, limit))
          .sort((a, b) => b.seq - a.seq)
          .slice(0, limit);
      }
      case 'closed': {
        const { closedAt, seq } = query.before ?? { closedAt: query.to, seq: 0 };
        return this.select(ITEMS.closedIn, log, query.from, closedAt, seq, query.limit);
      }
    }
  }

  /** Returns the items that `settle` needs for a record. */
  touched(log: number, need: Touches): Item[] {
    const ids = [...need.creates, ...need.ids];
    const items =
      ids.length === 1 ? this.byId(log, ids[0] as NotificationId) : [...new Set(ids)].flatMap((id) => this.byId(log, id));
    return need.carrier === undefined ? items : [...items, ...this.find(log, { kind: 'carrier', carrier: need.carrier })];
  }

  countOpen(log: number): number {
    return this.#db.get<{ n: number }>(`SELECT count(*) AS n FROM items WHERE log = ? AND phase = ${OPEN}`, log)?.n ?? 0;
  }

  byId(log: number, id: NotificationId): Item[] {
    const seq = this.seqOf(log, id);
    return seq === undefined ? [] : this.select(ITEMS.atSeq, log, seq);
  }

  /** Returns the position at which the notification was queued or folded. */
  seqOf(log: number, id: NotificationId): number | undefined {
    return this.#db.get<{ seq: number }>('SELECT seq FROM records WHERE log = ? AND notification = ?', log, id)?.seq;
  }

  select(sql: string, ...values: SQLInputValue[]): Item[] {
    return this.#db.all<ItemRow>(sql, ...values).map(itemOf);
  }

  /** Writes an item that `body` made, or changed from `before`. */
  put(log: number, { item, before, body }: { item: Item; before: Item | undefined; body: Draft }): void {
    const now = [
      item.gate ? 1 : 0,
      item.carrier ?? null,
      item.takenBy ?? null,
      item.closedAt ?? null,
      stateOf(item),
    ] satisfies SQLInputValue[];
    if (before !== undefined) {
      this.#db.run(
        `UPDATE items SET phase = ?, audience = ?, gate = ?, carrier = ?, taken_by = ?, closed_at = ?, state = ?
         WHERE log = ? AND phase = ? AND seq = ? AND audience = ?`,
        phaseOf(item),
        item.audience,
        ...now,
        log,
        phaseOf(before),
        item.seq,
        before.audience,
      );
      return;
    }
    // A folded notification has its own id. The rest of the notification comes from its target.
    const source = isType(body, 'system_notification_folded') ? this.seqOf(log, body.into) : undefined;
    this.#db.run(
      // `OR REPLACE` is needed because a record may name an audience twice.
      `INSERT OR REPLACE INTO items (log, phase, seq, audience, level, key, source, gate, carrier, taken_by, closed_at, state)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
      log,
      phaseOf(item),
      item.seq,
      item.audience,
      levelRank(item.notification.level),
      item.notification.key ?? null,
      source ?? null,
      ...now,
    );
  }

  remove(log: number, seq: number): void {
    this.#db.run(`DELETE FROM items WHERE log = ? AND phase IN (${OPEN}, ${UNREAD}, ${DONE}) AND seq = ?`, log, seq);
  }
}
