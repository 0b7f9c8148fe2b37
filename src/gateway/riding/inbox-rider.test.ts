import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { logKey, type ConversationId } from '../../core/address.ts';
import { DEFAULT_POLICY } from '../../core/policy.ts';
import type { Store } from '../../core/ports.ts';
import { Inbox } from '../../inbox/index.ts';
import { memoryStore } from '../../stores/index.ts';
import { inboxRider } from './inbox-rider.ts';
import { profileOf } from './profiles.ts';
import type { Connection } from './rider.ts';
import { proves } from '../../../e2e/verifies.ts';

it('a pull right behind another one does not show again what that one has read', async () => {
  proves('pull:repeated');
  const log = logKey('shop', 'coder');
  const memory = memoryStore();
  // A store on a busy disk: what an answer came to is written a while after it was said.
  const store: Store = new Proxy(memory, {
    get: (target, name) => {
      const member: unknown = Reflect.get(target, name, target);
      if (typeof member !== 'function') return member;
      const call = (...args: unknown[]): unknown => Reflect.apply(member, target, args);
      if (name !== 'append') return call;
      return async (...args: unknown[]) => {
        if (JSON.stringify(args).includes('notification_read')) await sleep(50);
        return call(...args);
      };
    },
  });
  const inbox = new Inbox({
    store,
    policies: { policy: () => DEFAULT_POLICY },
    owner: { machine: 'here', pid: 1, startedAt: '1' },
    isAlive: () => true,
    timeZone: 'UTC',
  });
  const rider = inboxRider({
    inbox,
    identify: async () => ({ log, conversation: 'main' as ConversationId, by: 'given' }),
    carrier: 'gateway:test',
    complain: () => {},
  });
  const connection: Connection = { key: 'k', profile: profileOf(undefined) };
  const pull = async (requestId: string) => {
    const answer = await rider.callTool(connection, { tool: 'get_notifications', args: {}, requestId });
    answer.confirm();
    return JSON.stringify(answer.result);
  };
  await inbox.queue(log, { id: 'stop', level: 'critical', message: 'stop that' });
  expect(await pull('1')).toContain('stop that');
  expect(await pull('2')).not.toContain('stop that');
  await rider.idle();
  await inbox.close();
});
