import { NEVER_SENT, type Item } from '../../core/items.ts';
import { isType, type OfferedRecord, type Stored } from '../../core/records.ts';

/** The receipts of a notification without an outcome, lowest first. */
export const RECEIPTS = ['queued', 'offered', 'delivered', 'observed', 'read'] as const;

export function receiptOf(item: Item): string {
  if (item.state === 'open') return item.offers > 0 ? 'offered' : 'queued';
  if (item.state === 'offered') return 'offered';
  if (item.outcome === 'left_out') return 'left_out';
  if (item.outcome !== 'delivered') {
    if (item.outcome === 'summarized' && item.read) return 'read';
    return item.offers > 0 && item.outcome !== 'summarized' ? 'maybe_seen' : (item.outcome ?? 'closed');
  }
  if (item.read) return 'read';
  return item.observed ? 'observed' : 'delivered';
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
