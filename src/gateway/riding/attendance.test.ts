import { expect, it } from 'vitest';
import { logKey, type ConversationId } from '../../core/address.ts';
import { DEFAULT_POLICY } from '../../core/policy.ts';
import { Inbox, type Conversation, type Identity } from '../../inbox/index.ts';
import { memoryStore } from '../../stores/index.ts';
import { Attendance } from './attendance.ts';

const LOG = logKey('shop', 'coder');

it('a conversation begins even if the beginning of the former conversation still waits', async () => {
  const stuck = Promise.withResolvers<void>();
  const inbox = new Inbox({
    store: memoryStore(),
    policies: { policy: () => DEFAULT_POLICY },
    owner: { machine: 'here', pid: 1, startedAt: '1' },
    isAlive: () => true,
    timeZone: 'UTC',
  });
  const conversation = (id: string): Conversation =>
    inbox.conversation({ log: LOG, conversation: id as ConversationId }, { carrier: 'gateway:test' });
  const [former, next] = [conversation('former'), conversation('next')];
  const purpose = former.purpose.bind(former);
  former.purpose = async () => {
    await stuck.promise;
    return purpose();
  };
  const identity = { by: 'given' } as Identity;
  const attendance = new Attendance('c');

  const begins = attendance.begin(former, identity);
  await attendance.arrive(former);
  const begun = attendance.begin(next, identity);
  await expect.poll(async () => (await next.presence())?.connections).toHaveProperty('c');
  setTimeout(() => stuck.resolve(), 50);
  await begun;
  expect(attendance.hasBegun(next)).toBe(true);
  await begins;
  expect(attendance.hasBegun(next)).toBe(true);
  await inbox.close();
});
