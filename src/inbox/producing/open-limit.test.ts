import { expect, it } from 'vitest';
import { logKey } from '../../core/address.ts';
import { DEFAULT_POLICY } from '../../core/policy.ts';
import { memoryStore } from '../../stores/index.ts';
import { Inbox } from '../index.ts';

it('the reason of a dropped notification names the limit, even while a carrier offers some notifications', async () => {
  const store = memoryStore();
  const inbox = new Inbox({ store, policies: { policy: () => ({ ...DEFAULT_POLICY, maxOpen: 10 }) } });
  for (let n = 0; n < 5; n++) await inbox.queue('shop/coder', { message: `offered ${n}` });
  const offer = await inbox.conversation('shop/coder#main').offer({ at: 'tool_result' });
  expect(offer?.ids).toHaveLength(5);
  for (let n = 0; n < 10; n++) await inbox.queue('shop/coder', { message: `open ${n}` });
  const closed = await store.read({ log: logKey('shop', 'coder'), types: ['notification_closed'] });
  const reasons = closed.map(({ body }) => ('reason' in body ? body.reason : undefined));
  expect(new Set(reasons)).toEqual(new Set(['more than 10 notifications were open', 'counted into a newer summary']));
  await inbox.close();
});

it('a lower limit takes effect with the next notification', async () => {
  const store = memoryStore();
  let maxOpen = 1_000;
  const inbox = new Inbox({ store, policies: { policy: () => ({ ...DEFAULT_POLICY, maxOpen }) } });
  for (let n = 0; n < 20; n++) await inbox.queue('shop/coder', { message: `open ${n}` });
  maxOpen = 5;
  await inbox.queue('shop/coder', { message: 'the next one' });
  expect(await store.countOpen(logKey('shop', 'coder'))).toBeLessThanOrEqual(5);
  await inbox.close();
});

it.each([10, 100, 1_000])('one process never exceeds a limit of %d', async (maxOpen) => {
  const store = memoryStore();
  const inbox = new Inbox({ store, policies: { policy: () => ({ ...DEFAULT_POLICY, maxOpen }) } });
  let most = 0;
  for (let n = 0; n < 2 * maxOpen; n++) {
    await inbox.queue('shop/coder', { message: `open ${n}` });
    most = Math.max(most, await store.countOpen(logKey('shop', 'coder')));
  }
  expect(most).toBe(maxOpen);
  await inbox.close();
});
