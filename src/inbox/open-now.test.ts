import { expect, it } from 'vitest';
import { logKey } from '../core/address.ts';
import { DEFAULT_POLICY } from '../core/policy.ts';
import { memoryStore } from '../stores/index.ts';
import { Inbox } from './index.ts';

const LOG = logKey('shop', 'coder');

it('a list of agents leaves out expired notifications, and reads the open items again only if the list may have changed', async () => {
  let now = 1_700_000_000_000;
  const store = memoryStore({ clock: { now: () => now } });
  let reads = 0;
  const items = store.items.bind(store);
  store.items = (...query) => {
    reads++;
    return items(...query);
  };
  const inbox = new Inbox({ store, policies: { policy: () => DEFAULT_POLICY } });
  const begun = now;
  await inbox.queue(LOG, { id: 'soon', message: 'soon over', level: 'error', ttlMs: 10_000 });
  now += 1_000;
  await inbox.queue(LOG, { id: 'lasts', message: 'lasts', ttlMs: 3_600_000 });
  reads = 0;
  const listed = async (): Promise<unknown> => (await inbox.agents({}))[0];
  const both = { open: { info: 1, warning: 0, error: 1, critical: 0 }, oldestOpenAt: begun };
  expect([await listed(), await listed()]).toMatchObject([both, both]);
  expect(reads).toBe(1);

  now = begun + 10_000;
  const one = { open: { info: 1, warning: 0, error: 0, critical: 0 }, oldestOpenAt: begun + 1_000 };
  expect([await listed(), await listed()]).toMatchObject([one, one]);
  expect(reads).toBe(2);

  await inbox.withdraw(LOG, { id: 'lasts' }, { by: 'Ann', reason: 'over' });
  const none = await listed();
  expect(none).toMatchObject({ open: { info: 0, warning: 0, error: 0, critical: 0 } });
  expect(none).not.toHaveProperty('oldestOpenAt');
  expect((await store.agents({}))[0]?.open).toMatchObject({ error: 1 });
  now += 60_000;
  const before = reads;
  expect(await listed()).toMatchObject({ open: { error: 0 } });
  expect(reads).toBe(before + 1);
  await store.close();
});
