import { EarpieceError } from '../core/errors.ts';
import type { Item } from '../core/items.ts';
import { touches } from '../core/items.ts';
import type { NotificationId } from '../core/notification.ts';
import type { CarrierId, Draft, KnownDraft, OfferedRecord } from '../core/records.ts';

/**
 * Types of records that only concern items or their delivery. The store's `prune` never removes records of other types, such as
 * the records of a transcript, of tasks or of unknown types.
 */
const HOUSEKEEPING: ReadonlySet<string> = new Set([
  'system_notification_queued',
  'system_notification_folded',
  'carrier_offered',
  'carrier_confirmed',
  'carrier_released',
  'notification_observed',
  'notification_read',
  'notification_closed',
  'gate_refused',
  'conversation_succeeded',
  'notification_extended',
  'gate_lifted',
  'fan_out',
  'fan_out_part',
  'fan_out_done',
] satisfies KnownDraft['type'][]);

export const isHousekeeping = (draft: Draft): boolean => HOUSEKEEPING.has(draft.type);

/** Throws `bad_argument` for a record that concerns items or their delivery, because `forget` must not remove such records. */
export function mustConcernNoItem({ seq, body }: { readonly seq: number; readonly body: Draft }): void {
  const { ids, creates, carrier } = touches(body);
  if (ids.length === 0 && creates.length === 0 && carrier === undefined && !isHousekeeping(body)) return;
  throw new EarpieceError(
    'bad_argument',
    `cannot forget record ${seq} (${body.type}), because the record concerns a notification or its delivery; leave the record out`,
  );
}

/** Whether the item was closed before `before` and keeps no gate up. */
export const isPast = (item: Item, before: number): boolean =>
  item.state === 'closed' && !item.gate && item.closedAt !== undefined && item.closedAt < before;

/**
 * Decides which records can be removed with their items, so that a replay of the other records gives the remaining items
 * unchanged. `history`: the records in the histories of the removed items. `stays` returns whether an item of this id is kept.
 *
 * A record stays while any item that it names stays. A confirmation or release names only its carrier, so it is removed together
 * with that carrier's offer.
 */
export function removable(
  history: readonly { readonly seq: number; readonly body: Draft }[],
  stays: (id: NotificationId) => boolean,
): number[] {
  const offers = new Map<CarrierId, boolean>();
  for (const { body } of history) {
    if (body.type !== 'carrier_offered') continue;
    const offer = body as OfferedRecord;
    offers.set(offer.carrier, !touches(offer).ids.some(stays));
  }
  return history
    .filter(({ body }) => {
      if (!isHousekeeping(body)) return false;
      const { ids, creates, carrier } = touches(body);
      if (carrier !== undefined) return offers.get(carrier) ?? true;
      return ![...ids, ...creates].some(stays);
    })
    .map(({ seq }) => seq);
}

/**
 * Decides which housekeeping records without an item can be removed, such as a late confirmation without effect. A `fan_out` and
 * its parts are removed only together with their `fan_out_done`, because a `fan_out` alone would be repeated.
 */
export function removableLoose(loose: readonly { readonly seq: number; readonly body: Draft }[]): number[] {
  const done = new Set(loose.flatMap(({ body }) => (body.type === 'fan_out_done' ? [(body as { id?: unknown }).id] : [])));
  return loose
    .filter(({ body }) => !['fan_out', 'fan_out_part'].includes(body.type) || done.has((body as { id?: unknown }).id))
    .map(({ seq }) => seq);
}
