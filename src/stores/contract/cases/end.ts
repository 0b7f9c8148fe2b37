/** A store closes, and the next one finds its data. */
import assert from 'node:assert/strict';
import { equal, matches } from '../check.ts';
import { carrierId, conversation, folded, LOG, ME, offered, queued, said } from '../drafts.ts';
import type { Suite } from '../suite.ts';

export function end({ test, testWhere }: Suite): void {
  test('may come twice, and later calls are refused', async ({ fresh }) => {
    const mine = await fresh();
    await mine.close();
    await mine.close();
    await assert.rejects(mine.append(LOG, [said('x')]), { code: 'store_unavailable' });
    await assert.rejects(mine.read({}), { code: 'store_unavailable' });
    await assert.rejects(mine.changed(0), { code: 'store_unavailable' });
  });

  test('is heard by an aborted call', async ({ store }) => {
    await assert.rejects(store.append(LOG, [said('x')], { signal: AbortSignal.abort(new Error('stop')) }), /stop/u);
    equal(await store.head(), 0);
  });

  testWhere('survives-restart', 'keeps everything', async ({ store, append, also }) => {
    await append(queued('a', { level: 'critical' }), queued('b'), offered('c', ['b']), folded('d', 'a'));
    await store.touch({ log: LOG, conversation: conversation('x') });
    await store.setSetting('s', { a: 1 });
    const secret = await store.secret();
    const [records, items] = [await store.read({}), await store.items(LOG, { kind: 'latest', limit: 9 })];
    await store.close();
    const other = await also();
    equal(await other.read({}), records);
    equal(await other.items(LOG, { kind: 'latest', limit: 9 }), items);
    equal((await other.presence({})).length, 1);
    equal(await other.setting('s'), { a: 1 });
    equal(await other.secret(), secret);
    matches(await other.items(LOG, { kind: 'carrier', carrier: carrierId('c') }), [{ id: 'b', owner: ME }]);
    equal(await other.verify(), []);
  });
}
