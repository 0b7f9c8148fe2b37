/** Computes the correct answers of a store from the records alone, without an index. */
import type { ConversationId, LogKey } from '../../core/address.ts';
import { ANYONE, type Item, itemKey, putItem, replay, settle, type Settled, touches } from '../../core/items.ts';
import type { ItemQuery, Store } from '../../core/ports.ts';
import { type CarrierId, type Draft, isType } from '../../core/records.ts';
import { equal } from './check.ts';
import { carrierId, conversation, ids } from './drafts.ts';
import { CONVERSATIONS, IDS, KEYS } from './random-drafts.ts';

/** Returns the correct result of an append, computed from all items of the log. */
export async function expectedAppend(store: Store, log: LogKey, drafts: readonly Draft[]): Promise<Settled> {
  const records = await store.read({ log, limit: 1_000_000 });
  const items = replay(records);
  const changed = new Map<string, Item>();
  let seq = await store.head();
  const at = Math.max(store.ordered(), 0);
  for (const draft of drafts) {
    const need = touches(draft);
    const named = new Set([...need.ids, ...need.creates]);
    const found = [...items.values()].filter(
      (item) => named.has(item.id) || (need.carrier !== undefined && item.carrier === need.carrier),
    );
    const settled = settle(draft, { seq: ++seq, at }, found);
    if (settled.kind !== 'settled') return settled;
    for (const item of settled.items) {
      putItem(items, item);
      putItem(changed, item);
    }
  }
  return { kind: 'settled', items: [...changed.values()] };
}

/** Compares `countOpen` and the queries of one log's items, except `closed`, with a filter over a replay of the log. */
export async function expectIndexEqualsReplay(store: Store, log: LogKey): Promise<void> {
  const records = await store.read({ log, limit: 1_000_000 });
  const all = [...replay(records).values()];
  const oldest = (items: readonly Item[]): Item[] =>
    items.toSorted((a, b) => a.seq - b.seq || (a.audience < b.audience ? -1 : 1));
  const newest = (items: readonly Item[]): Item[] =>
    items.toSorted((a, b) => b.seq - a.seq || (a.audience < b.audience ? -1 : 1));
  // Items of one record have no defined order, so with a limit any of them may be returned.
  const check = async (query: ItemQuery, expected: readonly Item[]): Promise<void> => {
    const rule = `items(log, ${JSON.stringify(query)}) gives the same answer as a filter over the replayed log`;
    const given = await store.items(log, query);
    const limit = 'limit' in query ? query.limit : undefined;
    equal(
      given.map((item) => item.seq),
      expected.slice(0, limit).map((item) => item.seq),
      rule,
    );
    const named = new Map(expected.map((item) => [itemKey(item), item]));
    for (const item of given) equal(item, named.get(itemKey(item)), rule);
    equal(new Set(given.map(itemKey)).size, given.length, rule);
  };

  const alive = oldest(all.filter((item) => item.state !== 'closed'));
  const unread = newest(
    all.filter(
      (item) => item.state === 'closed' && !item.read && (item.outcome === 'delivered' || item.outcome === 'summarized'),
    ),
  );
  const gate = oldest(all.filter((item) => item.gate));
  equal(await store.countOpen(log), alive.length, 'countOpen(log) counts the open and offered items of the replayed log');
  await check({ kind: 'open' }, alive);
  await check({ kind: 'open', limit: 2 }, alive);
  await check(
    { kind: 'held' },
    alive.filter((item) => item.audience !== ANYONE || item.takenBy !== undefined),
  );
  await check({ kind: 'unread' }, unread);
  await check({ kind: 'unread', limit: 2 }, unread);
  await check({ kind: 'gate' }, gate);
  await check(
    { kind: 'gate', read: true },
    gate.filter((item) => item.state === 'closed' && !unread.includes(item)),
  );
  await check({ kind: 'latest', limit: 3 }, newest(all));
  await check({ kind: 'latest', limit: 1000 }, newest(all));
  for (const name of CONVERSATIONS) {
    const me = conversation(name);
    await check(
      { kind: 'open', conversation: me },
      alive.filter((item) => [ANYONE, me].includes(item.audience)),
    );
    await check(
      { kind: 'unread', conversation: me },
      unread.filter((item) => owner(item) === me),
    );
    await check(
      { kind: 'gate', conversation: me },
      gate.filter((item) => owner(item) === me || owner(item) === ANYONE),
    );
  }
  for (const key of KEYS)
    await check(
      { kind: 'key', key },
      alive.filter((item) => item.state === 'open' && item.notification.key === key),
    );
  const carriers = new Set(records.flatMap(({ body }) => (isType(body, 'carrier_offered') ? [body.carrier] : [])));
  for (const carrier of [...carriers, 'nobody'])
    await check({ kind: 'carrier', carrier: carrierId(carrier) }, oldest(all.filter(carriedBy(carrierId(carrier)))));
  await check({ kind: 'ids', ids: ids(...IDS) }, oldest(all));
}

const owner = (item: Item): ConversationId => item.takenBy ?? item.audience;
const carriedBy =
  (carrier: CarrierId) =>
  (item: Item): boolean =>
    item.carrier === carrier;
