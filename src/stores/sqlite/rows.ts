import { ANYONE } from '../../core/items.ts';
import { DONE, OPEN, UNREAD } from '../item-row.ts';

/** Makes a query of `ItemRow`s. In `rest`, `i` is the table `items`. */
const select = (rest: string, by = ''): string =>
  `SELECT i.seq, i.audience, i.state, r.at, r.clock, r.body, s.body AS source_body
   FROM items i ${by} JOIN records r ON r.seq = i.seq LEFT JOIN records s ON s.seq = i.source ${rest}`;

const newestFirst = 'ORDER BY i.seq DESC, i.audience LIMIT ?';
const oldestFirst = 'ORDER BY i.seq, i.audience';

/**
 * `schema.test.ts` checks that each query except `all` uses an index. A comment lists the values for the question marks of the
 * queries after it, in order.
 */
export const ITEMS = {
  /** log, limit */
  open: select(`WHERE i.log = ? AND i.phase = ${OPEN} ${oldestFirst} LIMIT ?`),
  /** log, conversation, limit */
  openFor: select(`WHERE i.log = ? AND i.phase = ${OPEN} AND i.audience IN ('${ANYONE}', ?) ${oldestFirst} LIMIT ?`),
  /** log */
  held: select(`WHERE i.log = ? AND i.phase = ${OPEN} AND (i.audience <> '${ANYONE}' OR i.taken_by IS NOT NULL) ${oldestFirst}`),
  /** log */
  gate: select(`WHERE i.log = ? AND i.gate = 1 ${oldestFirst}`),
  gateRead: select(`WHERE i.log = ? AND i.gate = 1 AND i.phase = ${DONE} ${oldestFirst}`, 'INDEXED BY items_gate'),
  /** log, conversation, position, limit */
  unreadOf: select(
    `WHERE i.log = ? AND i.phase = ${UNREAD} AND coalesce(i.taken_by, i.audience) = ? AND i.seq < ? ${newestFirst}`,
  ),
  /** log, key. Without INDEXED BY, SQLite scans all open items. */
  key: select(`WHERE i.log = ? AND i.phase = ${OPEN} AND i.key = ? ${oldestFirst}`, 'INDEXED BY items_key'),
  /** carrier, log */
  carrier: select(`WHERE i.carrier = ? AND i.log = ? ${oldestFirst}`),
  /** log, position, limit: items queued before the position */
  openBefore: select(`WHERE i.log = ? AND i.phase = ${OPEN} AND i.seq < ? ${newestFirst}`),
  unreadBefore: select(`WHERE i.log = ? AND i.phase = ${UNREAD} AND i.seq < ? ${newestFirst}`),
  doneBefore: select(`WHERE i.log = ? AND i.phase = ${DONE} AND i.seq < ? ${newestFirst}`),
  /** log, from, to or the time of the last item, its position or 0, limit */
  closedIn: select(
    'WHERE i.log = ? AND i.closed_at >= ? AND (i.closed_at, i.seq) < (?, ?) ORDER BY i.closed_at DESC, i.seq DESC LIMIT ?',
    'INDEXED BY items_closed',
  ),
  /** log, seq: the items that one record made, one for each audience */
  atSeq: select(`WHERE i.log = ? AND i.phase IN (${OPEN}, ${UNREAD}, ${DONE}) AND i.seq = ? ORDER BY i.audience`),
  /** log */
  all: select('WHERE i.log = ?'),
} as const;
