/** Tests that a store that is closed and opened again contains everything that a call has acknowledged, and nothing else. */
import assert from 'node:assert/strict';
import type { LogKey } from '../../../core/address.ts';
import type { Store } from '../../../core/ports.ts';
import type { Draft } from '../../../core/records.ts';
import { equal, matches } from '../check.ts';
import { closed, confirmed, conversation, ELSEWHERE, LOG, ME, OTHER, queued, said } from '../drafts.ts';
import { type Stage, type Suite } from '../suite.ts';
import { DELIVERY } from './delivery-effects.ts';
import { SUCCESSION } from './succession-effects.ts';

const X = { log: LOG, conversation: conversation('x') };
const Y = { log: LOG, conversation: conversation('y') };
const REOPENED = 'after close(), a store that is opened again has';

export function reopened({ testWhere }: Suite): void {
  /**
   * Writes data, and closes and reopens the store. `seen` must return the same value before the close and after the opening.
   * This value must match `expected`, unless `expected` is undefined. `after` runs more checks on the reopened store.
   */
  const keeps = (what: string, write: (stage: Stage) => Promise<unknown>, seen: Seen, expected: unknown, after?: After): void =>
    testWhere('survives-restart', `has ${what}`, async (stage) => {
      const { store, also } = stage;
      const rule = `${REOPENED} ${what}`;
      await write(stage);
      const before = await seen(store);
      if (expected !== undefined) matches(before, expected, `before close(), the store has ${what}`);
      await store.close();
      const other = await also();
      equal(await seen(other), before, rule);
      equal(await other.verify(), [], `${REOPENED} items that equal a replay of its records`);
      await after?.(other, stage);
    });
  const settings =
    (...keys: readonly string[]): Seen =>
    (store) =>
      Promise.all(keys.map((key) => store.setting(key)));

  keeps(
    'the records and items of an append that swaps settings, and the new values: set, changed and removed',
    async ({ store }) => {
      await store.setSetting('changed', { n: 1 });
      await store.setSetting('removed', ['x']);
      const appended = await store.append(LOG, [queued('a'), said('hello')], {
        swaps: [
          { key: 'set', from: undefined, to: 1 },
          { key: 'changed', from: { n: 1 }, to: { n: 2 } },
          { key: 'removed', from: ['x'], to: undefined },
        ],
      });
      equal(appended.kind, 'appended');
    },
    async (store) => [await everything(store), await settings('set', 'changed', 'removed')(store)],
    [{ head: 2, records: [{ seq: 1 }, { seq: 2 }], items: [{ id: 'a' }] }, [1, { n: 2 }, undefined]],
    async (store) => equal((await store.append(LOG, [said('next')])).kind, 'appended'),
  );

  keeps(
    'only acknowledged records: no record of a refused or aborted append',
    async ({ store, append }) => {
      await append(queued('a'), queued('b'), closed(['b'], 'expired'));
      const swaps = [{ key: 's', from: undefined, to: 1 }];
      const stale = [{ key: 's', from: 7, to: 1 }];
      equal((await store.append(LOG, [queued('c')], { swaps: stale })).kind, 'stale');
      equal((await store.append(LOG, [queued('c'), queued('a')], { swaps })).kind, 'duplicate');
      equal((await store.append(LOG, [queued('c'), closed(['b'], 'expired')], { swaps })).kind, 'conflict');
      await store.append(LOG, [queued('c'), queued('c')], { swaps }).catch(() => undefined);
      const signal = AbortSignal.abort(new Error('stop'));
      await store.append(LOG, [queued('c')], { swaps, signal }).catch(() => undefined);
      await store.setSetting('s', 1, { signal }).catch(() => undefined);
      await store.touch(X, { signal }).catch(() => undefined);
    },
    async (store) => [await everything(store), await store.setting('s'), await store.presence({})],
    [{ head: 3, items: [{ id: 'b' }, { id: 'a' }] }, undefined, []],
  );

  keeps(
    'the item that each record leaves: offers, leases, reads, folds, forks, heirs and audiences',
    async ({ store }) => {
      for (const [n, { given, when }] of EFFECTS.entries())
        for (const draft of [...given, when]) await store.append(`effects/${n}` as LogKey, [draft]);
    },
    (store) =>
      Promise.all(
        EFFECTS.map((_, n) => `effects/${n}` as LogKey).map(async (log) => [
          await store.items(log, { kind: 'latest', limit: 99 }),
          await store.items(log, { kind: 'gate' }),
          await store.items(log, { kind: 'unread' }),
          await store.items(log, { kind: 'key', key: 'k' }),
          await store.countOpen(log),
        ]),
      ),
    undefined,
  );

  keeps(
    'the order of simultaneous calls',
    ({ store }) => Promise.all(Array.from({ length: 30 }, (_, i) => store.append(LOG, [said(String(i))]))),
    async (store) => (await store.read({ log: LOG })).map(({ seq, body }) => [seq, 'message' in body && body.message]),
    Array.from({ length: 30 }, (_, i) => [i + 1, String(i)]),
  );

  keeps(
    'the texts, types and fields as they were given, and the clock of a writer that is behind',
    async ({ append, clock }) => {
      clock.time = 86_400_000;
      await append(
        queued('a', { message: 'a\u0000b \ud83d\ude00 \u2028 \ud800', key: 'k\u0000', metadata: { big: '1'.repeat(99_999) } }),
      );
      clock.time = 1_000;
      await append({ type: 'of_the_future', list: [1, { deep: null }], 'odd key': '\u0000' });
    },
    everything,
    { records: [{ at: 86_400_000 }, { at: 86_400_000, clock: 1_000, body: { 'odd key': '\u0000' } }] },
    async (store) =>
      matches(
        await store.append(LOG, [said('y')]),
        { records: [{ seq: 3, at: 86_400_000 }] },
        `${REOPENED} its newest time and position: no later record has an earlier time or position`,
      ),
  );

  keeps(
    'each `fan_out` record, which prune removes only together with its `fan_out_done`',
    async ({ append }) => {
      await append(FAN_OUT, confirmed('nobody'), said('x'));
    },
    (store) => store.read({ types: ['fan_out', 'fan_out_done'] }),
    [{ body: { type: 'fan_out', id: 'f1' } }],
    async (store, { clock }) => {
      clock.time += 1_000;
      matches(await store.prune(clock.time), { records: 1 }, 'prune keeps a fan_out without its fan_out_done');
      await store.append(LOG, [{ type: 'fan_out_done', id: 'f1' }, said('y')]);
      clock.time += 1_000;
      matches(await store.prune(clock.time), { records: 2 }, 'prune removes a fan_out together with its fan_out_done');
    },
  );

  keeps(
    'the presence of conversations, with every field',
    async ({ store, clock }) => {
      await store.touch({ ...X, ...EVERY_FIELD });
      clock.time += 10;
      await store.touch({ ...X, connect: { key: 'c2', process: { ...ME, pid: 2 } } });
      await store.touch({ ...X, disconnect: ['c2'], carrier: 'gateway', carried: true, turnStarted: true });
      await store.touch({ ...Y, ended: true });
      clock.time += 10;
      await store.touch({ ...Y, passedTo: X.conversation });
    },
    (store) => store.presence({}),
    [
      {
        ...X,
        host: 'codex',
        connections: { c1: ME },
        carriers: { hook: 1_000_000, gateway: 1_000_010 },
        pending: true,
        turns: 2,
      },
      { ...Y, endedAt: 1_000_010, seenAt: 1_000_010, passedTo: { conversation: 'x', at: 1_000_020 } },
    ],
    async (store) =>
      matches(await store.touch(Y), { endedAt: 1_000_010 }, 'touch keeps endedAt until an update says ended: false'),
  );

  keeps(
    'the newest binding of each host process',
    async ({ store, clock }) => {
      await store.bind(ME, X);
      clock.time += 5;
      await store.bind(ME, Y);
      await store.bind({ ...ME, pid: 2 }, { log: ELSEWHERE, conversation: conversation('z') });
    },
    async (store) => [await store.binding(ME), await store.binding({ ...ME, pid: 2 }), await store.binding({ ...ME, pid: 3 })],
    [{ ...Y, at: 1_000_005 }, { log: ELSEWHERE, conversation: 'z' }, undefined],
  );

  keeps(
    'the withheld results, except the taken ones',
    async ({ store }) => {
      const held = { ...X, id: 'h1', at: 1_000_000, until: 1_000_100, tool: 'write', body: '{"content":[]}' };
      await store.withhold(held);
      await store.withhold({ ...held, id: 'h2', body: 'b\u0000' });
      await store.withhold({ ...held, ...Y, id: 'taken' });
      await store.withheld(LOG, Y.conversation, { take: true });
    },
    async (store) => [await store.withheld(LOG, X.conversation), await store.withheld(LOG, Y.conversation)],
    [
      [
        { id: 'h1', tool: 'write' },
        { id: 'h2', body: 'b\u0000' },
      ],
      [],
    ],
  );

  keeps(
    'the settings: set, swapped and removed',
    async ({ store }) => {
      await store.setSetting('set', [{ a: null }]);
      await store.setSetting('removed', 1);
      await store.setSetting('removed', undefined);
      await store.swapSetting('swapped', undefined, 'x');
      await store.swapSetting('swapped', 'x', { y: 1 });
      await store.swapSetting('gone', undefined, 0);
      await store.swapSetting('gone', 0, undefined);
      await store.swapSetting('set', 'not this', 2);
    },
    settings('set', 'removed', 'swapped', 'gone'),
    [[{ a: null }], undefined, { y: 1 }, undefined],
  );

  keeps(
    'the same secret',
    ({ store }) => store.secret(),
    (store) => store.secret(),
    undefined,
  );

  keeps(
    'nothing that prune removed, and the position of the newest record',
    async ({ store, append, clock }) => {
      await store.touch({ ...X, ended: true });
      await store.bind(ME, X);
      await store.withhold({ ...X, id: 'h', at: clock.time, until: clock.time + 1, tool: 't', body: '' });
      await append(queued('gone'), queued('kept'), closed(['gone'], 'expired'), confirmed('nobody'));
      clock.time += 1_000;
      await append(queued('young'));
      clock.time += 1_000;
      matches(await store.prune(clock.time), { items: 1, records: 3 });
    },
    async (store) => [await everything(store), await store.presence({}), await store.binding(ME)],
    [{ head: 5, records: [{ seq: 2 }, { seq: 5 }], items: [{ id: 'young' }, { id: 'kept' }] }, [], undefined],
    async (store) => {
      matches(
        await store.append(LOG, [queued('gone')]),
        { records: [{ seq: 6 }] },
        'a pruned id can be queued again, at a new position',
      );
    },
  );

  keeps(
    'nothing that forget removed, and the settings that forget changed',
    async ({ store, append }) => {
      await append(said('1'), queued('a'), said('2'), said('3'));
      equal(await store.forget([1, 3], { swaps: [{ key: 's', from: undefined, to: 1 }] }), true);
      equal(await store.forget([2 + 2], { swaps: [{ key: 't', from: undefined, to: 1 }] }), false);
    },
    async (store) => [await everything(store), await settings('s', 't')(store)],
    [{ head: 4, records: [{ seq: 2 }, { seq: 4 }], items: [{ id: 'a' }] }, [1, undefined]],
  );

  keeps(
    'nothing that erase removed, and everything of other logs',
    async ({ store, append, clock }) => {
      await fill(store, LOG, clock.time);
      await fill(store, OTHER, clock.time);
      await append({ type: 'agent_forgotten' });
      await store.erase(LOG, await store.head());
    },
    async (store) => [
      await everything(store),
      await everything(store, OTHER),
      (await store.presence({})).map(({ log }) => log),
      await store.withheld(LOG, X.conversation),
      await store.binding(ME),
      await settings(`mutes ${LOG}`, `mutes ${OTHER}`)(store),
    ],
    [
      { records: [{ body: { type: 'agent_forgotten' } }], items: [] },
      { items: [{ id: 'secret-note' }] },
      [OTHER],
      [],
      { log: OTHER },
      [undefined, 1],
    ],
  );

  testWhere(
    ['survives-restart', 'overwrites-erased'],
    'has no byte of the erased data',
    async ({ store, append, also, clock, contents }) => {
      await fill(store, LOG, clock.time);
      await append(...Array.from({ length: 50 }, (_, i) => queued(`n${i}`, { message: `${SECRET} ${'x'.repeat(i * 40)}` })));
      await append({ type: 'agent_forgotten' });
      await store.close();
      assert.ok(holds(await contents(), SECRET), 'the store keeps a text that is missing in the bytes of contents()');
      const other = await also();
      await other.erase(LOG, await other.head());
      await other.close();
      equal(
        holds(await contents(other), SECRET),
        false,
        'erase overwrites the bytes: nothing that was erased is left in the closed store',
      );
    },
  );
}

type Seen = (store: Store) => Promise<unknown>;
type After = (store: Store, stage: Stage) => Promise<void>;

const EFFECTS = [...DELIVERY, ...SUCCESSION];
const SECRET = 'a text that must not be found';
const holds = (bytes: Uint8Array, text: string): boolean => Buffer.from(bytes).includes(text);

const FAN_OUT = {
  type: 'fan_out',
  id: 'f1',
  notification: { id: 'f1', kind: { source: 'a', name: 'b' }, level: 'info', message: 'm' },
  targets: [],
} as Draft;

const EVERY_FIELD = {
  purpose: 'review',
  host: 'codex',
  hostVersion: '1.2',
  process: ME,
  shared: true,
  folder: '/work',
  pending: true,
  began: { run: 'r', beside: ['s'] },
  connect: { key: 'c1', process: ME },
  carrier: 'hook',
  points: ['tool_result'],
  told: true,
  mark: 'k7f3',
  pulls: true,
  has: ['send'],
  turnStarted: true,
} as const;

/** Returns all records and items of a log, and the store's newest position. */
async function everything(store: Store, log = LOG): Promise<unknown> {
  const [head, records, items] = await Promise.all([
    store.head(),
    store.read({ log, limit: 1_000 }),
    store.items(log, { kind: 'latest', limit: 1_000 }),
  ]);
  return { head, records, items };
}

/** Writes data of each kind that erase removes. The messages, the folder and the withheld body contain the secret text. */
async function fill(store: Store, log: LogKey, now: number): Promise<void> {
  const main = { log, conversation: X.conversation };
  await store.append(log, [queued('secret-note', { message: SECRET }), said(SECRET, 'x')]);
  await store.touch({ ...main, folder: SECRET });
  await store.bind(ME, main);
  await store.withhold({ ...main, id: 'w', at: now, until: now + 9_000, tool: 't', body: SECRET });
  await store.setSetting(`mutes ${log}`, 1);
}
