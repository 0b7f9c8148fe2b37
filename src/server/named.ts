/**
 * Decides which records a token for one conversation sees. If a record names notifications but no conversation, the items of
 * these notifications decide, because they may belong to another conversation.
 */
import type { LogKey } from '../core/address.ts';
import type { Item } from '../core/items.ts';
import type { NotificationId } from '../core/notification.ts';
import type { Store } from '../core/ports.ts';
import { isType, type Stored } from '../core/records.ts';
import { maySee, maySeeItem } from './authority.ts';
import type { Principal } from './tokens.ts';

/** Returns a record as a principal may see it. Undefined if the principal may not see the record. */
export type Sees = (record: Stored) => Stored | undefined;

/** Decides which records of one read a principal sees. Reads the items of a log at most once. */
export class Named {
  readonly #store: Store;
  readonly #records: readonly Stored[];
  readonly #items = new Map<LogKey, Promise<readonly Item[]>>();

  constructor(store: Store, records: readonly Stored[]) {
    this.#store = store;
    this.#records = records;
  }

  /** Returns the function that shows these records to a principal. Reads items only for a token for one conversation. */
  async seenBy(who: Principal): Promise<Sees> {
    if (who.conversation === null) return (record) => (maySee(who, record) ? record : undefined);
    const items = await this.#itemsOf(`${who.project}/${who.agent}` as LogKey);
    const mine = new Set(items.filter((item) => maySeeItem(who, item)).map(({ id }) => id));
    return (record) => (maySee(who, record) ? onlyOf(record, mine) : undefined);
  }

  #itemsOf(log: LogKey): Promise<readonly Item[]> {
    let items = this.#items.get(log);
    if (items === undefined) {
      const ids = [...new Set(this.#records.flatMap((record) => (record.log === log ? (idsIn(record) ?? []) : [])))];
      this.#items.set(log, (items = ids.length === 0 ? Promise.resolve([]) : this.#store.items(log, { kind: 'ids', ids })));
    }
    return items;
  }
}

/** Returns the notifications that the record names, if the record names no conversation. */
function idsIn({ body }: Stored): readonly NotificationId[] | undefined {
  if (body.conversation !== undefined) return undefined;
  if (isType(body, 'system_notification_queued')) return [body.id];
  if (isType(body, 'system_notification_folded')) return [body.into];
  const { ids } = body as { readonly ids?: unknown };
  return Array.isArray(ids) ? ids : undefined;
}

/** Returns the record without the notifications that are not in `mine`; undefined if none is left. */
function onlyOf(record: Stored, mine: ReadonlySet<NotificationId>): Stored | undefined {
  const ids = idsIn(record);
  if (ids === undefined) return record;
  const left = ids.filter((id) => mine.has(id));
  if (left.length === ids.length) return record;
  if (left.length === 0) return undefined;
  const { counts, ...body } = record.body as { readonly counts?: readonly number[] } & typeof record.body;
  const kept = counts?.filter((_count, place) => left.includes(ids[place] as NotificationId));
  return { ...record, body: { ...body, ids: left, ...(kept === undefined ? {} : { counts: kept }) } };
}
