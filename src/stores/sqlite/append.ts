import { clockBeside } from '../../core/clocks.ts';
import { fault } from '../../core/faults.ts';
import { formerOf, type Item, type Place, putItem, settle, touches } from '../../core/items.ts';
import type { NotificationId } from '../../core/notification.ts';
import type { Placing, Written } from '../placing.ts';
import { isHousekeeping } from '../retention.ts';
import { twice } from '../settle-append.ts';
import type { Database } from './database.ts';
import type { ItemIndex } from './item-index.ts';

/**
 * Appends inside a transaction. The caller rolls the transaction back unless the result is `placed`. `last` is the newest record
 * of the store. Each new record gets a higher position and no earlier time.
 */
export function append(
  db: Database,
  index: ItemIndex,
  to: { readonly number: number; readonly last: { seq: number; at: number }; readonly now: number },
  drafts: readonly Written[],
): Placing {
  fault('append.begun');
  const { number } = to;
  const at = Math.max(to.now, to.last.at);
  const beside = clockBeside(at, to.now);
  const first = to.last.seq + 1;
  const changed = new Map<string, Item>();
  const queued = new Set<NotificationId>();
  let isFresh = true;
  for (const [n, { body, text }] of drafts.entries()) {
    const seq = first + n;
    const need = touches(body);
    const found = index.touched(number, need);
    if (found.length > 0) isFresh = false;
    const result = settle(body, { seq, at, ...beside }, found);
    if (result.kind === 'conflict') return result;
    if (result.kind === 'duplicate') {
      if (queued.has(result.id)) throw twice(result.id);
      return { kind: 'duplicate', id: result.id, item: found.find((item) => item.id === result.id) as Item };
    }
    for (const id of need.creates) queued.add(id);
    write(db, index, { number, seq, at, ...beside }, { body, text }, { found, items: result.items });
    for (const item of result.items) putItem(changed, item);
  }
  return { kind: 'placed', seq: first, at, ...beside, items: [...changed.values()], isFresh };
}

/** Writes one settled record, and the items that it made or changed. `found`: the items before the record. */
export function write(
  db: Database,
  index: ItemIndex,
  { number, seq, at, clock }: Place & { readonly number: number },
  { body, text }: Written,
  { found, items }: { readonly found: readonly Item[]; readonly items: readonly Item[] },
): void {
  db.run(
    'INSERT INTO records (seq, log, at, clock, type, conversation, notification, body) VALUES (?, ?, ?, ?, ?, ?, ?, ?)',
    seq,
    number,
    at,
    clock ?? null,
    body.type,
    typeof body.conversation === 'string' ? body.conversation : null,
    items.length > 0 ? (touches(body).creates[0] ?? null) : null,
    text,
  );
  fault('append.record_written');
  for (const item of items) index.put(number, { item, before: formerOf(item, found), body });
  if (items.length > 0) fault('append.items_written');
  else if (isHousekeeping(body)) db.run('INSERT INTO loose (log, seq, at) VALUES (?, ?, ?)', number, seq, at);
}
