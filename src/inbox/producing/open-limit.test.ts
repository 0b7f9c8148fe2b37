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
