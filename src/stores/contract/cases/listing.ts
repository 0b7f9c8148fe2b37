/** Tests the lists of items: open, by agent, newest first, closed in a period, keeping a gate up. */
import type { LogKey } from '../../../core/address.ts';
import type { Item } from '../../../core/items.ts';
import type { Draft } from '../../../core/records.ts';
import { equal } from '../check.ts';
import {
  confirmed,
  conversation,
  ELSEWHERE,
  ids,
  LOG,
  offered,
  OTHER,
  queued,
  read,
  redacted,
  released,
  result,
  said,
} from '../drafts.ts';
import { idsOf, type Suite } from '../suite.ts';

export function listing({ test }: Suite): void {
  test('counts open notifications by log and level', async ({ store, append, clock }) => {
    await append(queued('a'), queued('b', { level: 'error' }), queued('c', { level: 'error' }));
    clock.time += 10;
    await append(result(['a']), offered('c1', ['b']));
    await store.append(OTHER, [said('x')]);
    await store.append(ELSEWHERE, [queued('a', { level: 'critical' })]);
    equal(await store.overview('shop'), [
      { log: LOG, open: { info: 0, warning: 0, error: 2, critical: 0 }, oldestOpenAt: 1_000_000 },
      { log: OTHER, open: { info: 0, warning: 0, error: 0, critical: 0 } },
    ]);
    equal(
      (await store.overview()).map((one) => one.log),
      [ELSEWHERE, LOG, OTHER],
    );
    equal(await store.countOpen(LOG), 2);
    equal(await store.countOpen('no/body' as LogKey), 0);
  });

  test('lists agents by name, page by page, with open notifications, presence and last record', async ({
    store,
    append,
    clock,
  }) => {
    const seen = 'shop/quiet' as LogKey;
    const nobody = { info: 0, warning: 0, error: 0, critical: 0 };
    equal(await store.agents({}), []);
    await store.append('shop/*' as LogKey, [{ type: 'fan_out_done', id: 'x' as never }]);
    await append(queued('a'), queued('b', { level: 'error' }), said('hello', 'x'));
    clock.time += 10;
    await append(offered('c1', ['b'], { conversation: 'x' }));
    await append(queued('p', { action: 'pause' }));
    // `isSignOfWork` is false for this record.
    await append({ type: 'subscriber_disabled', subscriber: 'x' });
    await store.append(ELSEWHERE, [queued('a', { level: 'critical' })]);
    const x = await store.touch({ log: LOG, conversation: conversation('x'), host: 'codex' });
    equal(x.host, 'codex');
    clock.time += 10;
    const [y, alone] = await Promise.all(
      [
        { log: LOG, conversation: conversation('y') },
        { log: seen, conversation: conversation('z') },
      ].map((one) => store.touch(one)),
    );
    const mine = {
      log: LOG,
      open: { ...nobody, info: 2, error: 1 },
      oldestOpenAt: 1_000_000,
      paused: true,
      gated: true,
      presence: [y, x],
      last: { type: 'carrier_offered', at: 1_000_010, conversation: 'x' },
    };
    const quiet = { log: seen, open: nobody, paused: false, gated: false, presence: [alone] };
    equal(
      await store.agents({ project: 'shop' }),
      [mine, quiet],
      'agents lists logs with records or presence, without project/*. `last` is the newest record with isSignOfWork. Presence is sorted by the last contact, newest first',
    );
    const all = await store.agents({});
    equal(
      all.map(({ log }) => log),
      [ELSEWHERE, LOG, seen].toSorted(),
    );
    for (let limit = 1, found = 0; found < 3; found++)
      equal(await store.agents({ limit, ...(found === 0 ? {} : { after: all[found - 1]?.log as LogKey }) }), [all[found]]);
    equal(await store.agents({ project: 'shop', after: seen }), []);
    equal(await store.agents({ project: 'sho' }), []);
  });

  test('pages through the notifications of a log, newest first, of all states or of one state', async ({ store, append }) => {
    await append(queued('a'), queued('b'), queued('c'), queued('d'));
    await append(result(['b', 'c']));
    const page = async (query: { before?: number; state?: 'open' | 'closed'; limit?: number }): Promise<string[]> =>
      idsOf(await store.items(LOG, { kind: 'latest', limit: 10, ...query }));
    equal(await page({}), ['d', 'c', 'b', 'a']);
    equal(await page({ limit: 2, before: 4 }), ['c', 'b']);
    equal(await page({ state: 'open' }), ['d', 'a']);
    equal(await page({ state: 'closed' }), ['c', 'b']);
    equal(await page({ state: 'closed', before: 3 }), ['b']);
    equal(await page({ before: 1 }), []);
  });

  test('lists a notification that opens again at the position at which it was queued', async ({ store, append, clock }) => {
    await append(queued('old', { key: 'k', supersede: true }));
    clock.time += 10;
    await append(offered('c', ['old'], { conversation: 'x' }), confirmed('c'));
    await append(queued('new', { key: 'k', supersede: true }));
    await append(released('c', 'unproven'));
    equal(idsOf(await store.items(LOG, { kind: 'open' })), ['old', 'new']);
    equal(idsOf(await store.items(LOG, { kind: 'open', limit: 1 })), ['old']);
    equal(idsOf(await store.items(LOG, { kind: 'key', key: 'k' })), ['old', 'new']);
    equal(idsOf(await store.items(LOG, { kind: 'latest', state: 'open', limit: 10 })), ['new', 'old']);
    equal(await store.overview('shop'), [
      { log: LOG, open: { info: 2, warning: 0, error: 0, critical: 0 }, oldestOpenAt: 1_000_000 },
    ]);
    await append(queued('later'));
    equal(idsOf(await store.items(LOG, { kind: 'open' })), ['old', 'new', 'later']);
  });

  test('pages through the notifications that closed in a period, the last closed first', async ({ store, append, clock }) => {
    await append(queued('a'), queued('b'), queued('c'), queued('d'), queued('open'));
    clock.time += 10;
    await append(result(['d']));
    clock.time += 10;
    await append(result(['a', 'c']));
    clock.time += 10;
    await append(result(['b']));
    const closed = (query: { from: number; to: number; limit?: number; before?: { closedAt: number; seq: number } }) =>
      store.items(LOG, { kind: 'closed', limit: 10, ...query });
    const all = await closed({ from: 0, to: clock.time + 1 });
    equal(idsOf(all), ['b', 'c', 'a', 'd']);
    equal(idsOf(await closed({ from: 1_000_010, to: 1_000_020 })), ['d']);
    equal(idsOf(await closed({ from: 1_000_011, to: 1_000_030 })), ['c', 'a']);
    const c = all[1] as Item;
    equal(idsOf(await closed({ from: 0, to: clock.time + 1, limit: 2, before: { closedAt: c.closedAt ?? 0, seq: c.seq } })), [
      'a',
      'd',
    ]);
  });

  test('lists an interrupt for the gate of each conversation that may take it, and then of the conversation that took it', async ({
    store,
    append,
  }) => {
    await append(queued('!', { level: 'critical' }));
    const gates = async (): Promise<string[]> => {
      const up = await Promise.all(
        ['x', 'y'].map(async (as) => (await store.items(LOG, { kind: 'gate', conversation: conversation(as) })).length),
      );
      return ['x', 'y'].filter((_, i) => up[i] === 1);
    };
    equal(await gates(), ['x', 'y']);
    await append(offered('c', ['!'], { conversation: 'x' }));
    equal(await gates(), ['x']);
    await append(confirmed('c'));
    equal(await gates(), ['x']);
    equal((await store.items(LOG, { kind: 'gate' })).length, 1);
    await append(read(['!'], 'x'));
    equal(await gates(), []);
  });

  test('lists the closed notifications that still hold a gate up and are not in the list of unread notifications', async ({
    store,
    append,
  }) => {
    const pause = (id: string): Draft => queued(id, { action: 'pause', conversation: 'x' });
    const readBut = (id: string): Draft => ({ ...read([id], 'x'), holds: true });
    await append(queued('!', { level: 'critical', conversation: 'x' }), ...['open', 'unread', 'read', 'left out'].map(pause));
    await append(result(['unread', 'read', 'left out', '!'], 'x'), readBut('open'), readBut('read'));
    await append(redacted(['left out', '!'], 3));
    const held = async (): Promise<string[][]> => [
      idsOf(await store.items(LOG, { kind: 'gate' })),
      idsOf(await store.items(LOG, { kind: 'gate', read: true })),
      idsOf(await store.items(LOG, { kind: 'gate', read: true, conversation: conversation('x') })),
      idsOf(await store.items(LOG, { kind: 'gate', read: true, conversation: conversation('y') })),
    ];
    equal(await held(), [['open', 'unread', 'read', 'left out'], ['read', 'left out'], ['read', 'left out'], []]);
    await append({ type: 'gate_lifted', ids: ids('read'), by: 'a person' });
    equal((await held())[1], ['left out']);
  });
}
