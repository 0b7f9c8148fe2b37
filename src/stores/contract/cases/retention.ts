/** Tests that stores erase, prune and forget records. */
import type { ConversationId, LogKey } from '../../../core/address.ts';
import type { Store } from '../../../core/ports.ts';
import type { Draft } from '../../../core/records.ts';
import { equal, matches, refuses } from '../check.ts';
import { closed, confirmed, conversation, ELSEWHERE, LOG, ME, offered, OTHER, queued, result, said } from '../drafts.ts';
import { idsOf, type Suite } from '../suite.ts';

export function erase({ test }: Suite): void {
  test('removes everything of one log before a position, including open notifications, and nothing of another log', async ({
    store,
    append,
    clock,
  }) => {
    const other = 'shop/coder2' as LogKey;
    await append(queued('open'), queued('!', { level: 'critical' }), queued('done'), said('hello'));
    await append(result(['done']), offered('c', ['open']));
    await store.append(other, [queued('stays')]);
    await store.touch({ log: LOG, conversation: 'main' as ConversationId });
    await store.touch({ log: other, conversation: 'main' as ConversationId });
    await store.withhold({
      log: LOG,
      conversation: 'main' as ConversationId,
      id: 'w',
      at: clock.time,
      until: clock.time + 9_000,
      tool: 't',
      body: 'b',
    });
    await store.setSetting(`mutes ${LOG}`, ['x']);
    await store.setSetting(`session token of ${LOG}#main`, 'st');
    await store.setSetting('session token st', `${LOG}#main`);
    await store.setSetting(`mutes ${other}`, ['x']);
    await append({ type: 'agent_forgotten' }, queued('late'));
    const before = (await store.read({ log: LOG, types: ['agent_forgotten'] }))[0]?.seq ?? 0;
    const erased = { records: 6, notifications: 3, conversations: 1, withheld: 1, settings: 3 };
    equal(await store.erase(LOG, before), erased);
    equal(
      (await store.read({ log: LOG })).map(({ body }) => body.type),
      ['agent_forgotten', 'system_notification_queued'],
    );
    equal(idsOf(await store.items(LOG, { kind: 'latest', limit: 9 })), ['late']);
    equal(idsOf(await store.items(LOG, { kind: 'open' })), ['late']);
    equal(await store.items(LOG, { kind: 'gate' }), []);
    equal(await store.presence({ log: LOG }), []);
    equal(await store.withheld(LOG, 'main' as ConversationId), []);
    equal(await store.setting(`mutes ${LOG}`), undefined);
    equal(await store.setting('session token st'), undefined);
    equal(idsOf(await store.items(other, { kind: 'open' })), ['stays']);
    equal((await store.presence({ log: other })).length, 1);
    equal(await store.setting(`mutes ${other}`), ['x']);
    equal(await store.verify(), []);
    matches(await store.append(LOG, [queued('open')]), { kind: 'appended' });
    matches(await store.erase('shop/nobody' as LogKey, 99), { records: 0, notifications: 0 });
  });
}

export function prune({ test }: Suite): void {
  test('removes notifications that closed before the given time, with their housekeeping records, and keeps all other notifications and the transcript', async ({
    store,
    append,
    clock,
  }) => {
    await append(queued('done'), queued('kept'), queued('leased'), queued('!', { level: 'critical' }), queued('twin'));
    await append(result(['done']), said('hello'), { type: 'of_the_future' }, { type: 'turn_start' });
    await append(result(['!']), closed(['twin'], 'expired'));
    await append(offered('c', ['leased']));
    clock.time += 1000;
    await append(queued('young'), closed(['young'], 'withdrawn'));
    equal(await store.prune(1_000_500), { records: 3, items: 2 });
    equal(idsOf(await store.items(LOG, { kind: 'latest', limit: 100 })).sort(), ['!', 'kept', 'leased', 'young']);
    equal(
      (await store.read({ log: LOG })).map((record) => record.body.type),
      [
        'system_notification_queued',
        'system_notification_queued',
        'system_notification_queued',
        'tool_call_response',
        'chat_response',
        'of_the_future',
        'turn_start',
        'tool_call_response',
        'carrier_offered',
        'system_notification_queued',
        'notification_closed',
      ],
    );
    equal(await store.prune(1_000_500), { records: 0, items: 0 });
    matches(await store.append(LOG, [queued('done')]), { kind: 'appended' });
  });

  test('never assigns a position twice, even if the newest record is old enough to be pruned', async ({
    store,
    append,
    clock,
  }) => {
    await append(queued('a'));
    await append(closed(['a'], 'expired'));
    clock.time += 1000;
    await store.prune(clock.time);
    equal(await store.head(), 2);
    equal((await append(said('x'))).records[0]?.seq, 3);
    await store.prune(clock.time);
    equal(await store.head(), 3);
    equal(await store.items(LOG, { kind: 'latest', limit: 9 }), []);
    await append(confirmed('nobody'));
    clock.time += 1000;
    await store.prune(clock.time);
    equal(await store.head(), 4);
  });

  test('keeps the intent of a fan-out until the fan-out is done, and removes both together', async ({ store, append, clock }) => {
    const fanOut = {
      type: 'fan_out',
      id: 'f1',
      notification: { id: 'f1', kind: { source: 'a', name: 'b' }, level: 'info', message: 'm' },
      targets: [],
    } as Draft;
    await append(fanOut, said('x'));
    clock.time += 1000;
    equal(await store.prune(clock.time), { records: 0, items: 0 });
    await append({ type: 'fan_out_done', id: 'f1' }, said('y'));
    equal(await store.prune(clock.time), { records: 0, items: 0 });
    clock.time += 1000;
    equal(
      await store.prune(clock.time),
      { records: 2, items: 0 },
      'prune removes a fan_out together with its fan_out_done, and housekeeping records that concern no item',
    );
  });

  test('removes ended conversations and expired withheld results', async ({ store, clock }) => {
    const x = { log: LOG, conversation: conversation('x') };
    await store.touch({ ...x, ended: true });
    await store.touch({ log: LOG, conversation: conversation('y') });
    await store.bind(ME, x);
    await store.withhold({ ...x, id: 'h', at: clock.time, until: clock.time + 1, tool: 't', body: '' });
    clock.time += 1000;
    await store.prune(clock.time);
    equal(
      (await store.presence({})).map((one) => one.conversation),
      ['y'],
    );
    equal(
      await store.binding(ME),
      undefined,
      'prune removes bindings made before `before` whose conversation has no presence any more',
    );
    clock.time -= 1000;
    equal(await store.withheld(LOG, x.conversation), []);
  });
}

export function forget({ test }: Suite): void {
  const fact = (n: number): Draft => ({ type: 'of_somebody', n });
  const kept = async (store: Store): Promise<number[]> => (await store.read({})).map(({ seq }) => seq);

  test('removes records of any log that concern no item, and changes settings in the same step; the other records replay as before', async ({
    store,
    append,
  }) => {
    await append(queued('a'), fact(1), said('x'));
    await store.append(OTHER, [fact(2), queued('b')]);
    await append(fact(3), offered('c', ['a']), fact(4));
    const before = await store.items(LOG, { kind: 'latest', limit: 9 });
    await store.setSetting('one', { n: 1 });
    const swaps = [
      { key: 'one', from: { n: 1 }, to: undefined },
      { key: 'two', from: undefined, to: [2] },
    ];
    equal(await store.forget([2, 4, 6, 99], { swaps }), true);
    equal(await kept(store), [1, 3, 5, 7, 8]);
    equal(
      (await store.read({ log: LOG })).map(({ seq }) => seq),
      [1, 3, 7, 8],
    );
    equal(
      (await store.read({ log: OTHER })).map(({ seq }) => seq),
      [5],
    );
    equal([await store.setting('one'), await store.setting('two')], [undefined, [2]]);
    equal(await store.items(LOG, { kind: 'latest', limit: 9 }), before);
    equal(await store.forget([2, 4]), true);
    equal((await append(fact(5))).records[0]?.seq, 9);
    // The store does not list a log whose records were all forgotten.
    await store.append(ELSEWHERE, [fact(6)]);
    await append(fact(7));
    equal(await store.forget([10]), true);
    equal(
      (await store.overview()).map(({ log }) => log),
      [LOG, OTHER].toSorted(),
    );
  });

  test('changes nothing if a setting has changed, or if one of the records is the newest', async ({ store, append }) => {
    await append(fact(1), fact(2), fact(3));
    await store.setSetting('one', 1);
    const swaps = [
      { key: 'two', from: undefined, to: 2 },
      { key: 'one', from: 7, to: undefined },
    ];
    equal(await store.forget([1], { swaps }), false);
    equal(await store.forget([1, 3], { swaps: swaps.slice(0, 1) }), false);
    equal(await kept(store), [1, 2, 3]);
    equal([await store.setting('one'), await store.setting('two')], [1, undefined]);
  });

  test('refuses records about items, and housekeeping records', async ({ store, append }) => {
    const about = [
      queued('a'),
      result(['a']),
      confirmed('nobody'),
      { type: 'fan_out', id: 'f', notification: {}, targets: [] } as unknown as Draft,
    ];
    await append(...about, fact(1), fact(2));
    for (const seq of [1, 2, 3, 4])
      await refuses(
        store.forget([seq, 5], { swaps: [{ key: 'one', from: undefined, to: 1 }] }),
        'bad_argument',
        'forget rejects with bad_argument for each record that names an item or a carrier, and for isHousekeeping records',
      );
    equal(await kept(store), [1, 2, 3, 4, 5, 6]);
    equal(await store.setting('one'), undefined);
  });
}
