import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ConversationId, LogKey } from '../../../src/core/address.ts';
import { settle } from '../../../src/core/items.ts';
import type { ToolCallResponseRecord } from '../../../src/core/records.ts';
import type { SqliteStore } from '../../../src/stores/index.ts';
import { phaseOf, stateOf } from '../../../src/stores/item-row.ts';
import { LOGS, OWN } from './roles.ts';

/** A faulty store: it closes the items that its caller saw open, without a new check. Returns the ids. */
export async function carryWithoutCondition(store: SqliteStore, result: ToolCallResponseRecord): Promise<readonly string[]> {
  const conversation = OWN as ConversationId;
  const seen = await store.items(LOGS.coder as LogKey, { kind: 'open', conversation, limit: 10 });
  const items = seen.filter((item) => item.state === 'open');
  if (items.length === 0) return [];
  // The pause lets the other carrier read meanwhile.
  await sleep(50);
  const body: ToolCallResponseRecord = { ...result, conversation, notifications: items.map((item) => item.notification) };
  const db = new DatabaseSync(store.path, { timeout: 5000 });
  try {
    db.exec('BEGIN IMMEDIATE');
    const { seq, at } = db.prepare('SELECT seq + 1 AS seq, at FROM records ORDER BY seq DESC LIMIT 1').get() as {
      seq: number;
      at: number;
    };
    const { id: log } = db.prepare('SELECT id FROM logs WHERE key = ?').get(LOGS.coder) as { id: number };
    db.prepare('INSERT INTO records (seq, log, at, type, conversation, body) VALUES (?, ?, ?, ?, ?, ?)').run(
      seq,
      log,
      at,
      body.type,
      conversation,
      JSON.stringify(body),
    );
    const closed = settle(body, { seq, at }, items);
    if (closed.kind !== 'settled') throw new TypeError(closed.kind);
    const update = db.prepare(
      'UPDATE items SET phase = ?, state = ?, closed_at = ?, taken_by = ?, gate = ? WHERE log = ? AND seq = ? AND audience = ?',
    );
    for (const item of closed.items)
      update.run(phaseOf(item), stateOf(item), at, conversation, item.gate ? 1 : 0, log, item.seq, item.audience);
    db.exec('COMMIT');
  } finally {
    db.close();
  }
  return items.map((item) => item.id);
}
