/** Tests presence, bindings, withheld results, settings and the secret. */
import assert from 'node:assert/strict';
import type { LogKey } from '../../../core/address.ts';
import type { Store } from '../../../core/ports.ts';
import { equal, matches } from '../check.ts';
import { conversation, ELSEWHERE, LOG, ME, OTHER, said } from '../drafts.ts';
import type { Suite } from '../suite.ts';

export function conversations({ test }: Suite): void {
  const x = { log: LOG, conversation: conversation('x') };

  test('keep the fields that a later touch does not mention', async ({ store, clock }) => {
    equal(await store.touch({ ...x, host: 'codex', carrier: 'hook', points: ['tool_result'], process: ME }), {
      ...x,
      host: 'codex',
      process: ME,
      carriers: { hook: 1_000_000 },
      points: { hook: ['tool_result'] },
      startedAt: 1_000_000,
      seenAt: 1_000_000,
      told: false,
      pulls: false,
      turns: 0,
    });
    clock.time += 50;
    await store.touch({ ...x, turnStarted: true, told: true, pulls: true, carrier: 'gateway', carried: true });
    const known = {
      ...x,
      host: 'codex',
      process: ME,
      carriers: { hook: 1_000_000, gateway: 1_000_050 },
      points: { hook: ['tool_result'] },
      startedAt: 1_000_000,
      seenAt: 1_000_050,
      carriedAt: 1_000_050,
      told: true,
      pulls: true,
      turns: 1,
    };
    equal(await store.presence({ log: LOG }), [known]);
    clock.time += 50;
    await store.touch({ ...x, ended: true });
    equal(await store.presence({}), [{ ...known, seenAt: 1_000_100, endedAt: 1_000_100 }]);
    await store.touch({ ...x });
    matches(await store.presence({}), [{ endedAt: 1_000_100 }], 'touch keeps endedAt until an update says ended: false');
    equal(await store.touch({ ...x, ended: false, turnStarted: true }), { ...known, seenAt: 1_000_100, turns: 2 });
  });

  test('keep `shared` until another process is named', async ({ store }) => {
    await store.touch({ ...x, process: ME, shared: true });
    matches([await store.touch(x), await store.touch({ ...x, process: ME })], [{ shared: true }, { shared: true }]);
    const { shared } = await store.touch({ ...x, process: { ...ME, pid: ME.pid + 1 } });
    equal(shared, undefined);
  });

  test('are found by project, log and conversation, and make no records', async ({ store }) => {
    await store.touch(x);
    await store.touch({ log: OTHER, conversation: conversation('x') });
    await store.touch({ log: ELSEWHERE, conversation: conversation('y') });
    const found = async (query: Parameters<Store['presence']>[0]): Promise<string[]> =>
      (await store.presence(query)).map((one) => `${one.log}#${one.conversation}`);
    equal(await found({}), ['farm/coder#y', 'shop/coder#x', 'shop/tester#x'], 'presence is sorted by log, then by conversation');
    equal(await found({ project: 'shop' }), ['shop/coder#x', 'shop/tester#x']);
    equal(await found({ log: OTHER }), ['shop/tester#x']);
    equal(await found({ conversation: conversation('y') }), ['farm/coder#y']);
    equal(await found({ log: LOG, conversation: conversation('y') }), []);
    equal(await store.head(), 0);
    equal(await store.overview(), []);
  });

  test('reads presence in pages of whole logs', async ({ store }) => {
    for (const log of ['shop/a', 'shop/b', 'shop/c', 'farm/d'] as LogKey[])
      for (const name of ['x', 'y']) await store.touch({ log, conversation: conversation(name) });
    await store.append('shop/aa' as LogKey, [said('a log without presence is not in a page')]);
    const page = async (query: Parameters<Store['presence']>[0]): Promise<string[]> =>
      (await store.presence(query)).map((one) => `${one.log}#${one.conversation}`);
    equal(await page({ project: 'shop', limit: 2 }), ['shop/a#x', 'shop/a#y', 'shop/b#x', 'shop/b#y']);
    equal(await page({ project: 'shop', after: 'shop/b' as LogKey, limit: 2 }), ['shop/c#x', 'shop/c#y']);
    equal(await page({ project: 'shop', after: 'shop/c' as LogKey, limit: 2 }), []);
    equal(await page({ after: 'shop/a' as LogKey, conversation: conversation('y') }), ['shop/b#y', 'shop/c#y']);
    equal(await page({ limit: 1 }), ['farm/d#x', 'farm/d#y']);
    await store.touch({ log: 'shop/b' as LogKey, conversation: conversation('z') });
    const only = { conversation: conversation('z'), limit: 1 };
    equal(await page(only), ['shop/b#z'], 'a log without this conversation is not in a page');
    equal(await page({ ...only, project: 'shop' }), ['shop/b#z']);
    equal(await page({ ...only, after: 'shop/b' as LogKey }), []);
  });

  test('binds a host process: the newest binding counts, and a reused pid is another process', async ({ store, clock }) => {
    equal(await store.binding(ME), undefined);
    await store.bind(ME, x);
    clock.time += 5;
    await store.bind(ME, { log: LOG, conversation: conversation('y') });
    equal(await store.binding(ME), { log: LOG, conversation: 'y', at: 1_000_005 });
    equal(
      await store.binding({ ...ME, startedAt: '100' }),
      undefined,
      'machine, pid and startedAt together identify a host process',
    );
    equal(await store.binding({ ...ME, machine: 'm2' }), undefined);
  });

  test('withholds a result until the result is taken or expires', async ({ store, clock }) => {
    const held = { ...x, id: 'h1', at: 1_000_000, until: 1_000_100, tool: 'write', body: '{"content":[]}' };
    await store.withhold(held);
    await store.withhold({ ...held, id: 'h2', at: 1_000_001, until: 1_000_200 });
    await store.withhold({ ...held, conversation: conversation('y') });
    equal(
      (await store.withheld(LOG, x.conversation)).map(({ id }) => id),
      ['h1', 'h2'],
    );
    equal((await store.withheld(LOG, x.conversation))[0], held);
    clock.time += 100;
    equal(
      (await store.withheld(LOG, x.conversation)).map(({ id }) => id),
      ['h2'],
    );
    equal((await store.withheld(LOG, x.conversation, { take: true })).length, 1);
    equal(await store.withheld(LOG, x.conversation), []);
    equal(await store.withheld(OTHER, x.conversation, { take: true }), []);
  });

  test('swaps a setting only if it has the value that the caller saw; of many simultaneous calls one succeeds', async ({
    store,
  }) => {
    equal(await store.swapSetting('writer', { pid: 1 }, { pid: 2 }), false);
    equal(await store.swapSetting('writer', undefined, { pid: 1 }), true);
    equal(await store.swapSetting('writer', undefined, { pid: 2 }), false);
    const won = await Promise.all([2, 3, 4].map((pid) => store.swapSetting('writer', { pid: 1 }, { pid })));
    equal(won.filter(Boolean).length, 1);
    const pid = won.indexOf(true) + 2;
    equal(await store.setting('writer'), { pid });
    equal(await store.swapSetting('writer', { pid }, undefined), true);
    equal(await store.setting('writer'), undefined);
  });

  test('keeps small settings and one secret', async ({ store }) => {
    equal(await store.setting('mutes'), undefined);
    await store.setSetting('mutes', [{ pattern: 'a.b', until: null }]);
    await store.setSetting('other', 0);
    equal(await store.setting('mutes'), [{ pattern: 'a.b', until: null }]);
    equal(await store.setting('other'), 0);
    await store.setSetting('mutes', undefined);
    equal(await store.setting('mutes'), undefined);
    const secret = await store.secret();
    assert.match(secret, /^[0-9a-f]{32,}$/);
    equal(await store.secret(), secret);
  });
}
