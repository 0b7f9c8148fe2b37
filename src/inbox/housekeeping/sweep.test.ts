import { expect, it } from 'vitest';
import { logKey } from '../../core/address.ts';
import { DEFAULT_POLICY } from '../../core/policy.ts';
import { memoryStore } from '../../stores/index.ts';
import { Inbox } from '../index.ts';

it('a sweep does not count an expired notification that a carrier has taken in the meantime', async () => {
  let now = 1_700_000_000_000;
  const store = memoryStore({ clock: { now: () => now } });
  const inbox = new Inbox({ store, policies: { policy: () => DEFAULT_POLICY } });
  await inbox.queue('shop/coder#a', { id: 'taken', message: 'x', ttlMs: 1_000 });
  await inbox.queue('shop/coder#b', { id: 'over', message: 'y', ttlMs: 1_000 });
  const items = store.items.bind(store);
  const reads: string[] = [];
  store.items = async (log, query, wait) => {
    const found = await items(log, query, wait);
    reads.push(query.kind);
    // The sweep reads the gates and then the open notifications, and then closes the expired ones.
    if (reads.slice(-2).join() === 'gate,open') {
      store.items = items;
      now -= 1_000;
      await inbox.conversation('shop/coder#a').offer({ at: 'tool_result' });
      now += 1_000;
    }
    return found;
  };
  now += 1_000;
  expect(await inbox.sweep()).toMatchObject({ expired: 1 });
  const all = await items(logKey('shop', 'coder'), { kind: 'latest', limit: 10 });
  expect(all.map(({ id, state, outcome }) => [id, outcome ?? state])).toEqual([
    ['over', 'expired'],
    ['taken', 'offered'],
  ]);
  await inbox.close();
});
