import { NEVER_SENT, type Item } from '../../core/items.ts';
import type { Receipt } from '../../core/receipts.ts';
import { isType, type OfferedRecord, type Stored } from '../../core/records.ts';

export function receiptOf(item: Item): Receipt {
  if (item.state !== 'closed' || item.outcome === undefined)
    return item.state === 'offered' || item.offers > 0 ? 'offered' : 'queued';
  if (item.outcome === 'left_out') return 'left_out';
  if (item.outcome === 'delivered') return item.read ? 'read' : item.observed ? 'observed' : 'delivered';
  if (item.outcome === 'summarized') return item.read ? 'read' : 'summarized';
  return item.offers > 0 ? 'maybe_seen' : item.outcome;
}

/**
 * Whether one of these records sent this notification. The mark of a whole frame does not show this, because a frame may repeat
 * some notifications and show others for the first time.
 */
export function wasSentIn(records: readonly Stored[], item: Item): boolean {
  const unsent = new Set(
    records.flatMap(({ body }) => (isType(body, 'carrier_released') && NEVER_SENT.has(body.reason) ? [body.carrier] : [])),
  );
  return records.some(({ body }) => isType(body, 'carrier_offered') && offers(body, item) && !unsent.has(body.carrier));
}

const offers = ({ ids, shows = [] }: OfferedRecord, { id }: Item): boolean => ids.includes(id) || shows.includes(id);
