/** Applies a page of records to the items that the records touch. */
import type { LogKey } from '../../core/address.ts';
import { formerOf, type Item, settle, touches, type Touches } from '../../core/items.ts';
import type { CarrierId, Stored } from '../../core/records.ts';
import type { NotificationId } from '../../core/notification.ts';

export type Need = { readonly log: LogKey; readonly ids: ReadonlySet<NotificationId>; readonly carriers: ReadonlySet<CarrierId> };

/** Returns, for each log, the ids and carriers whose items the records touch. */
export function needsOf(records: readonly Stored[]): Need[] {
  const needs = new Map<LogKey, { log: LogKey; ids: Set<NotificationId>; carriers: Set<CarrierId> }>();
  for (const { log, body } of records) {
    const { ids, creates, carrier } = touches(body);
    if (ids.length + creates.length === 0 && carrier === undefined) continue;
    const need = needs.get(log) ?? { log, ids: new Set(), carriers: new Set() };
    needs.set(log, need);
    for (const id of [...ids, ...creates]) need.ids.add(id);
    if (carrier !== undefined) need.carriers.add(carrier);
  }
  return [...needs.values()];
}

type Of = { readonly byId: Map<NotificationId, Item[]>; readonly byCarrier: Map<CarrierId, Set<NotificationId>> };

export class PageItems {
  readonly #logs = new Map<LogKey, Of>();
  /** The last state of each changed or new item, by log, position and audience. */
  readonly changed = new Map<string, { readonly log: LogKey; readonly item: Item }>();
  /** Rows that an heir's item replaces. */
  readonly gone = new Map<string, { readonly log: LogKey; readonly item: Item }>();

  /** Adds an item in the state that the store has. */
  know(log: LogKey, item: Item): void {
    const { byId, byCarrier } = this.#of(log);
    const of = byId.get(item.id);
    if (of === undefined) byId.set(item.id, [item]);
    else of.push(item);
    if (item.carrier !== undefined) this.#carried(byCarrier, item.carrier, item.id);
  }

  /** Applies a record as a replay does. Returns whether the record changed or made an item. */
  apply({ log, body, seq, at, clock }: Stored): boolean {
    const found = this.#found(log, touches(body));
    const result = settle(body, { seq, at, ...(clock === undefined ? {} : { clock }) }, found, true);
    if (result.kind !== 'settled') return false;
    for (const item of result.items) this.#put(log, item, formerOf(item, found));
    return result.items.length > 0;
  }

  seqOf(log: LogKey, id: NotificationId): number | undefined {
    return this.#of(log).byId.get(id)?.[0]?.seq;
  }

  #put(log: LogKey, item: Item, former: Item | undefined): void {
    const { byId, byCarrier } = this.#of(log);
    if (former !== undefined && former.audience !== item.audience) {
      this.gone.set(rowKey(log, former), { log, item: former });
      this.changed.delete(rowKey(log, former));
    }
    const left = (byId.get(item.id) ?? []).filter(
      (one) => one.audience !== item.audience && (former === undefined || one.audience !== former.audience),
    );
    byId.set(item.id, [...left, item]);
    if (item.carrier !== undefined) this.#carried(byCarrier, item.carrier, item.id);
    this.gone.delete(rowKey(log, item));
    this.changed.set(rowKey(log, item), { log, item });
  }

  #found(log: LogKey, { ids, creates, carrier }: Touches): Item[] {
    const { byId, byCarrier } = this.#of(log);
    const wanted = new Set([...ids, ...creates]);
    const found = [...wanted].flatMap((id) => byId.get(id) ?? []);
    if (carrier === undefined) return found;
    const carried = [...(byCarrier.get(carrier) ?? [])].filter((id) => !wanted.has(id));
    return [...found, ...carried.flatMap((id) => (byId.get(id) ?? []).filter((item) => item.carrier === carrier))];
  }

  #carried(byCarrier: Of['byCarrier'], carrier: CarrierId, id: NotificationId): void {
    byCarrier.set(carrier, (byCarrier.get(carrier) ?? new Set()).add(id));
  }

  #of(log: LogKey): Of {
    const of = this.#logs.get(log) ?? { byId: new Map(), byCarrier: new Map() };
    this.#logs.set(log, of);
    return of;
  }
}

const rowKey = (log: LogKey, { seq, audience }: Item): string => `${log}\n${seq}\n${audience}`;
