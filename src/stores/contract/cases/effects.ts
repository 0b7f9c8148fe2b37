/** Tests the effect of each record on the items. */
import { type Item, itemKey, replay } from '../../../core/items.ts';
import { equal, matches } from '../check.ts';
import { carrierId, conversation, ids, LOG, offered, queued, released, result } from '../drafts.ts';
import { DELIVERY } from './delivery-effects.ts';
import { SUCCESSION } from './succession-effects.ts';
import type { Suite } from '../suite.ts';

const byKey = (items: readonly Item[]): readonly Item[] => items.toSorted((a, b) => (itemKey(a) < itemKey(b) ? -1 : 1));

export function effects({ test }: Suite): void {
  test('a notification that is queued for one conversation twice makes one item', async ({ store, append }) => {
    const { items } = await append(queued('a', { audience: [conversation('x'), conversation('x')] }));
    equal(items.length, 1);
    equal(await store.countOpen(LOG), 1);
    await append(result(['a'], 'x'));
    equal(await store.countOpen(LOG), 0);
  });

  test('a carrier that lost its items to another carrier finds no items', async ({ store, append }) => {
    await append(queued('a'), offered('c', ['a']), released('c'));
    equal((await store.items(LOG, { kind: 'carrier', carrier: carrierId('c') })).length, 1);
    await append(offered('d', ['a']));
    equal(await store.items(LOG, { kind: 'carrier', carrier: carrierId('c') }), []);
    equal((await store.items(LOG, { kind: 'carrier', carrier: carrierId('d') })).length, 1);
  });

  test('a release removes all fields of the lease', async ({ append, item }) => {
    await append(queued('a'), offered('c', ['a'], { conversation: 'x', summarizes: ids('a') }), released('c'));
    const left = Object.keys(await item('a'));
    equal(
      left.filter((field) => ['owner', 'until', 'inSummary', 'takenBy'].includes(field)),
      [],
    );
  });

  for (const { name, given, when, becomes } of [...DELIVERY, ...SUCCESSION])
    test(name, async ({ store, append }) => {
      for (const draft of given) await append(draft);
      const before = await store.head();
      const appended = await store.append(LOG, [when]);
      if ('conflict' in becomes) {
        equal(appended.kind, 'conflict');
        const problems = appended.kind === 'conflict' ? appended.ids : [];
        equal(Object.fromEntries(problems.map(({ id, why }) => [id, why])), becomes.conflict);
        equal(await store.head(), before);
        return;
      }
      if (appended.kind !== 'appended') throw new Error(JSON.stringify(appended));
      const named = Object.fromEntries(
        appended.items.map((one) => [one.audience === '' ? one.id : `${one.id} for ${one.audience}`, one]),
      );
      equal(Object.keys(named).sort(), Object.keys(becomes).sort());
      matches(named, becomes);
      equal(
        byKey(await store.items(LOG, { kind: 'latest', limit: 1_000 })),
        byKey([...replay(await store.read({ log: LOG })).values()]),
        'after each append, the items equal a replay of the records: an item replaces the item that `formerOf` names, even in another audience',
      );
      const stored = await store.items(LOG, { kind: 'ids', ids: [...new Set(appended.items.map((one) => one.id))] });
      for (const { id, audience } of appended.items)
        equal(
          stored.filter((one) => one.id === id && one.audience === audience),
          appended.items.filter((one) => one.id === id && one.audience === audience),
        );
    });
}
