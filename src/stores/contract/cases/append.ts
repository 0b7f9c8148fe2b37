/** Tests that one append is one step: it stores all of its drafts with their effects, or nothing. */
import assert from 'node:assert/strict';
import type { Draft, Stored } from '../../../core/records.ts';
import { broken, equal, matches, refuses, under } from '../check.ts';
import { closed, confirmed, forked, ids, LOG, offered, OTHER, queued, read, result, said } from '../drafts.ts';
import { fastCheck } from '../fast-check.ts';
import { idsOf, type Suite } from '../suite.ts';

const TWICE = 'append rejects with bad_argument if its drafts queue one id twice';
const NO_JSON = 'append rejects with bad_argument, in one line that names the type, if JSON cannot hold a draft';

export function append({ test, testWhere }: Suite): void {
  test('gives each record a position and a time, and reads each record back unchanged', async ({ store, append }) => {
    const { records } = await append(queued('a'), said('hello'));
    equal(
      records.map((record) => record.seq),
      [1, 2],
    );
    equal(
      records.every((record) => record.at === 1_000_000 && record.log === LOG),
      true,
    );
    equal(await store.read({ log: LOG }), records);
    equal(
      records.map((record) => record.body),
      [queued('a'), said('hello')],
    );
    equal(await store.head(), 2);
  });

  test('without drafts writes nothing', async ({ store }) => {
    equal(await store.append(LOG, []), { kind: 'appended', records: [], items: [] });
    equal(await store.head(), 0);
    equal(await store.overview(), []);
  });

  test('is all or nothing: if one draft cannot be settled, no draft is written', async ({ store, append }) => {
    await append(queued('a'), result(['a']));
    const before = await store.read({});
    const failed = await store.append(LOG, [queued('b'), said('x'), closed(['a'], 'expired')]);
    equal(failed, { kind: 'conflict', ids: [{ id: 'a', why: 'closed' }] }, 'append returns the conflict that settle returns');
    matches(await store.append(LOG, [queued('c'), queued('a')]), { kind: 'duplicate', id: 'a' });
    equal(await store.read({}), before);
    equal(await store.items(LOG, { kind: 'ids', ids: ids('b', 'c') }), []);
    equal(await store.head(), 2);
  });

  test('settles drafts in their order: one append may queue, offer, confirm and read a notification', async ({
    append,
    item,
  }) => {
    const { items } = await append(queued('a'), offered('c1', ['a']), confirmed('c1'), read(['a']));
    equal(items.length, 1);
    matches(items[0], { id: 'a', state: 'closed', outcome: 'delivered', read: true, history: [1, 2, 3, 4] });
    equal(await item('a'), items[0]);
  });

  test('answers duplicate for a repeated id, even after a fork that names the id', async ({ store, append }) => {
    await append(queued('a', { conversation: 'x' }));
    matches(await store.append(LOG, [forked(['a'], 'x', 'y'), queued('a')]), { kind: 'duplicate', id: 'a' });
    equal(await store.countOpen(LOG), 1);
  });

  test('refuses all drafts of an append if JSON cannot hold one of them, and writes nothing', async ({ store }) => {
    const circle: Record<string, unknown> = {};
    circle['self'] = { circle };
    for (const value of [circle, 1n])
      await store.append(LOG, [queued('a'), { ...said('x'), value }]).then(
        () => assert.fail(broken(NO_JSON, new Error('it resolved')) as Error),
        (error: unknown) =>
          under(NO_JSON, () => {
            const { code, message } = error as { readonly code?: string; readonly message: string };
            equal(code, 'bad_argument');
            assert.match(message, /chat_response/u);
            assert.doesNotMatch(message, /\n/u);
          }),
      );
    equal(await store.head(), 0);
    equal(await store.countOpen(LOG), 0);
  });

  test('refuses one append that queues an id twice, and writes nothing', async ({ store }) => {
    await refuses(store.append(LOG, [queued('a'), queued('a')]), 'bad_argument', TWICE);
    equal(await store.head(), 0);
  });

  test('answers a repeated id with its current item, in this log only', async ({ store, append, item }) => {
    await append(queued('a'));
    await append(offered('c1', ['a']));
    const repeated = await store.append(LOG, [queued('a', { message: 'another text' })]);
    equal(
      repeated,
      { kind: 'duplicate', id: 'a', item: await item('a') },
      'append returns duplicate, with the current item, if the log already has the id',
    );
    matches(repeated, { item: { state: 'offered', notification: { message: 'message of a' } } });
    await append(confirmed('c1'));
    matches(await store.append(LOG, [queued('a')]), { kind: 'duplicate', item: { state: 'closed' } });
    matches(await store.append(OTHER, [queued('a')]), { kind: 'appended' });
  });

  test('that swaps settings is one step: if a setting differs from its expected value, nothing is written', async ({
    store,
    append,
  }) => {
    const swaps = [
      { key: 'a', from: undefined, to: { version: 1 } },
      { key: 'b', from: undefined, to: ['x'] },
    ];
    matches(await store.append(LOG, [queued('n1')], { swaps }), { kind: 'appended', items: [{ id: 'n1' }] });
    equal([await store.setting('a'), await store.setting('b')], [{ version: 1 }, ['x']]);
    const head = await store.head();

    const first = { key: 'a', from: { version: 1 }, to: { version: 2 } };
    const stale = await store.append(LOG, [queued('n2')], {
      swaps: [first, { key: 'b', from: ['another'], to: undefined }],
    });
    equal(stale, { kind: 'stale', key: 'b' }, 'append returns stale, with the key, if a setting differs from its `from`');
    // If the store refuses the records, it does not change the settings.
    const swap = { swaps: [first] };
    matches(await store.append(LOG, [queued('n3'), queued('n1')], swap), { kind: 'duplicate', id: 'n1' });
    await append(closed(['n1'], 'withdrawn'));
    matches(await store.append(LOG, [queued('n3'), closed(['n1'], 'withdrawn')], swap), { kind: 'conflict' });
    await refuses(store.append(LOG, [queued('n3'), queued('n3')], swap), 'bad_argument', TWICE);
    equal([await store.setting('a'), await store.setting('b'), await store.head()], [{ version: 1 }, ['x'], head + 1]);

    matches(await store.append(LOG, [], { swaps: [{ key: 'b', from: ['x'], to: undefined }] }), { records: [] });
    equal(await store.setting('b'), undefined);
  });

  test('succeeds for only one of many simultaneous calls that swap a setting', async ({ store }) => {
    const all = await Promise.all(
      Array.from({ length: 20 }, (_, i) =>
        store.append(LOG, [queued(`n${i}`)], { swaps: [{ key: 'a', from: undefined, to: i }] }),
      ),
    );
    equal(all.filter(({ kind }) => kind === 'appended').length, 1);
    equal((await store.items(LOG, { kind: 'open' })).length, 1);
  });

  test('stores an id once if many simultaneous calls queue it', async ({ store }) => {
    const all = await Promise.all(Array.from({ length: 20 }, () => store.append(LOG, [queued('a')])));
    equal(all.filter(({ kind }) => kind === 'appended').length, 1);
    equal(all.filter(({ kind }) => kind === 'duplicate').length, 19);
  });

  testWhere(
    'many-processes',
    'with new ids stores the notifications in the order of the log, and settles later calls against them',
    async ({ store, also }) => {
      const other = await also();
      const stored: Stored[] = [];
      const isNew = { newIds: true };
      for (let n = 0; n < 12; n++) {
        // The other process writes to this log and to another log, so this process does not know the whole log.
        if (n % 3 === 0) matches(await other.append(LOG, [queued(`p${n}`)], isNew), { kind: 'appended' });
        matches(await other.append(OTHER, [queued(`o${n}`)]), { kind: 'appended' });
        const [made, closing] = await Promise.all([
          store.append(LOG, [queued(`n${n}`)], isNew),
          store.append(LOG, [n % 2 === 0 ? closed([`n${n}`], 'withdrawn') : queued(`m${n}`)]),
        ]);
        matches(made, { kind: 'appended', items: [{ id: `n${n}`, state: 'open' }] });
        equal(closing.kind, 'appended');
        if (made.kind === 'appended') stored.push(...made.records);
      }
      const all = await store.read({ log: LOG });
      equal(all, await other.read({ log: LOG }));
      equal(
        all.filter(({ seq }) => stored.some((one) => one.seq === seq)),
        stored,
      );
      equal(
        idsOf(await store.items(LOG, { kind: 'open' })).filter((id) => id.startsWith('n')),
        ['n1', 'n3', 'n5', 'n7', 'n9', 'n11'],
      );
      matches(await other.append(LOG, [queued('n1')]), { kind: 'duplicate', id: 'n1' });
      matches(await store.append(LOG, [said('x'), queued('p0')]), { kind: 'duplicate', id: 'p0' });
    },
  );

  test('keeps the order of calls', async ({ store }) => {
    await Promise.all(Array.from({ length: 50 }, (_, i) => store.append(LOG, [said(String(i))])));
    const messages = (await store.read({ log: LOG })).map((record) => (record.body as { message?: string }).message);
    equal(
      messages,
      Array.from({ length: 50 }, (_, i) => String(i)),
    );
  });

  test('is not affected by later changes of its arguments', async ({ store, append }) => {
    const draft = { type: 'of_the_future', list: [1], deep: { a: 1 } };
    await append(draft);
    draft.list.push(2);
    draft.deep.a = 2;
    equal((await store.read({}))[0]?.body, { type: 'of_the_future', list: [1], deep: { a: 1 } });
  });

  test('returns unknown types and fields as the same JSON', async ({ store, append }) => {
    const fc = await fastCheck();
    await fc.assert(
      fc.asyncProperty(fc.jsonValue(), fc.dictionary(fc.string(), fc.jsonValue(), { maxKeys: 4 }), async (payload, fields) => {
        const { type: _type, conversation: _conversation, ...rest } = fields;
        const unknown = { ...rest, type: 'of_the_future', payload } as Draft;
        const known = { ...queued(`q${await store.head()}`), metadata: payload, later: rest } as Draft;
        const { records } = await append(unknown, known);
        const back = await store.read({ log: LOG, after: (records[0] as Stored).seq - 1 });
        equal(
          back.map((record) => JSON.stringify(record.body)),
          [unknown, known].map((draft) => JSON.stringify(draft)),
        );
      }),
      { numRuns: 60 },
    );
  });

  test('accepts texts of all kinds', async ({ store, append, item }) => {
    const message = 'a\u0000b \ud83d\ude00 \u2028 \ud800 "\\" \u202e';
    await append(queued('a', { message, key: 'k\u0000\ud83d\ude00' }), queued('b', { message: 'x'.repeat(1_000_000) }));
    equal((await item('a')).notification.message, message);
    equal((await item('b')).notification.message.length, 1_000_000);
    equal(idsOf(await store.items(LOG, { kind: 'key', key: 'k\u0000\ud83d\ude00' })), ['a']);
  });
}
