/** Tests that an append wakes waiting readers. */
import { equal } from '../check.ts';
import { conversation, LOG, queued, said } from '../drafts.ts';
import type { Suite } from '../suite.ts';

export function changed({ test, testWhere }: Suite): void {
  test('resolves at once if there is a newer record already', async ({ store, append }) => {
    await append(said('x'));
    equal(await store.changed(0), 1);
  });

  test('wakes all waiting callers when a record is appended', async ({ store, append }) => {
    const waiting = [store.changed(0), store.changed(0), store.changed(1)];
    await append(said('x'));
    equal(await Promise.all(waiting.slice(0, 2)), [1, 1]);
    await append(said('y'));
    equal(await waiting[2], 2);
  });

  test('returns the given position on abort, on timeout and on close', async ({ store, fresh }) => {
    const abort = new AbortController();
    const aborted = store.changed(0, { signal: abort.signal });
    const late = store.changed(0, { withinMs: 5 });
    abort.abort();
    equal(await aborted, 0);
    equal(await store.changed(0, { signal: abort.signal }), 0);
    equal(await late, 0);
    const mine = await fresh();
    const waiting = mine.changed(0);
    await mine.head();
    await mine.close();
    equal(await waiting, 0);
  });

  test('is not woken by a call that appends nothing', async ({ store, append }) => {
    await append(queued('a'));
    const waiting = store.changed(1, { withinMs: 50 });
    await store.append(LOG, [queued('a')]);
    await store.touch({ log: LOG, conversation: conversation('x') });
    await store.setSetting('a', 1);
    equal(await waiting, 1);
  });

  testWhere('many-processes', 'wakes for an append through another opening of the store', async ({ store, also }) => {
    const other = await also();
    for (let i = 0; i < 5; i++) {
      const waiting = store.changed(i, { withinMs: 5000 });
      await other.append(LOG, [said(String(i))]);
      equal(await waiting, i + 1);
    }
  });
}
