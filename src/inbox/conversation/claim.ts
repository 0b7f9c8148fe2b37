/**
 * Claims items for a slow carrier, so that a later attempt to append the carrier succeeds. The store refuses a carrier if, after
 * the plan, another notification was folded into one of the planned items. A busy producer could thus cause a refusal of every
 * attempt. Therefore, after a refusal, the items into which notifications were folded are claimed for the carrier. A claim is a
 * lease without a text, so the store folds no later notification into a claimed item. The next attempt appends the release of the
 * claims and the carrier in one step. If the process dies before this step, the claims end like every lease, and the model has
 * seen nothing.
 */
import type { Item } from '../../core/items.ts';
import type { NotificationId } from '../../core/notification.ts';
import type { Appended } from '../../core/ports.ts';
import type { CarrierId, ContactPoint, ReleasedRecord } from '../../core/records.ts';
import { leaseOf, lesseeOf } from './lease.ts';
import { formatOf, type Recipient } from './recipient.ts';

export class Claim {
  readonly #recipient: Recipient;
  readonly #at: ContactPoint;
  readonly #carriers = new Set<CarrierId>();
  #items: readonly Item[] = [];
  /**
   * The notifications of the first refused plan. Newer notifications wait for the next carrier: otherwise, notifications that are
   * folded into them could cause further refusals.
   */
  #planned: ReadonlySet<NotificationId> | undefined;

  constructor(recipient: Recipient, at: ContactPoint) {
    this.#recipient = recipient;
    this.#at = at;
  }

  /** The claimed items, with the counts of all notifications that were folded into these items. */
  get items(): readonly Item[] {
    return this.#items;
  }

  /** Returns the records that end the claims. The carrier appends them before its own records. */
  releases(): ReleasedRecord[] {
    const { id } = this.#recipient;
    return [...this.#carriers].map((carrier) => ({ type: 'carrier_released', conversation: id, carrier, reason: 'late' }));
  }

  /** Selects the notifications of the next attempt. The claimed notifications count as open. */
  openOf(items: readonly Item[]): readonly Item[] {
    const planned = this.#planned;
    if (planned === undefined) return items.filter((item) => item.state === 'open');
    const isClaimed = ({ state, carrier }: Item): boolean =>
      state === 'offered' && carrier !== undefined && this.#carriers.has(carrier);
    return items.flatMap((item) => {
      if (!planned.has(item.id) || (item.state !== 'open' && !isClaimed(item))) return [];
      return [{ ...item, state: 'open' as const }];
    });
  }

  /**
   * Claims the items into which notifications were folded after the plan of a refused carrier. `planned`: all items of that plan.
   */
  async after(refused: Appended, planned: readonly Item[]): Promise<void> {
    const counted = refused.kind === 'conflict' ? refused.ids.flatMap(({ id, why }) => (why === 'counted' ? [id] : [])) : [];
    if (counted.length === 0) return;
    this.#planned ??= new Set(planned.map(({ id }) => id));
    const { context, log } = this.#recipient;
    const view = { format: formatOf(this.#recipient), items: [], text: '' };
    const record = leaseOf(lesseeOf(this.#recipient), { at: this.#at, view, ids: [], summarizes: [...new Set(counted)] });
    const appended = await context.store.append(log, [record]);
    if (appended.kind !== 'appended') return;
    this.#carriers.add(record.carrier);
    this.#items = [...this.#items, ...appended.items];
  }

  /** Ends the claims of a carrier that was not appended. If the append fails, the claims end like every lease. */
  async drop(): Promise<void> {
    if (this.#carriers.size === 0) return;
    const { context, log } = this.#recipient;
    await context.store.append(log, this.releases()).catch(() => undefined);
  }
}
