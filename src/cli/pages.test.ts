/** `earpiece inbox` reads its lists a page at a time, including delivered but unread items. */
import { expect, it } from 'vitest';
import { proves } from '../../e2e/verifies.ts';
import { logKey } from '../core/address.ts';
import { memoryStore } from '../stores/memory.ts';
import { waitingIn } from './pages.ts';

it('an agent with 1,300 unread notifications: no read is larger than a page, and each notification is listed once', async () => {
  proves('cli:large');
  const store = memoryStore();
  const log = logKey('shop', 'coder');
  const drafts = Array.from({ length: 1_300 }, (_, n) => ({
    type: 'system_notification_queued' as const,
    id: `n${n}`,
    kind: { source: 'ci', name: 'failed' },
    message: 'x',
    level: 'critical' as const,
  }));
  await store.append(log, drafts);
  const told = drafts.slice(0, 1_200).map(({ id }) => id);
  const notifications = drafts.slice(0, 1).map(({ id, kind, message, level }) => ({ id, kind, message, level }));
  await store.append(log, [
    {
      type: 'tool_call_response',
      conversation: 'main',
      id: 'c',
      content: 'ok',
      is_error: false,
      notifications,
      summarizes: told.slice(1),
    } as never,
  ]);
  const sizes: number[] = [];
  const items = store.items.bind(store);
  store.items = async (...args) => {
    const found = await items(...args);
    sizes.push(found.length);
    return found;
  };
  const listed: string[] = [];
  for await (const { item } of waitingIn(store, [log], {})) listed.push(item.id);
  expect(listed.toSorted()).toEqual(drafts.map(({ id }) => id).toSorted());
  expect(sizes.reduce((most, size) => Math.max(most, size), 0)).toBeLessThanOrEqual(500);
});
