import { expect, it } from 'vitest';
import { logKey, type ConversationId } from '../../core/address.ts';
import { DEFAULT_POLICY } from '../../core/policy.ts';
import { memoryStore } from '../../stores/index.ts';
import { arrive, begin, Inbox, leave, type Conversation } from '../index.ts';
import { proves } from '../../../e2e/verifies.ts';

it('two conversations that begin at the same moment count as simultaneous, so neither is the heir of the other', async () => {
  proves('succession:heir');
  const log = logKey('shop', 'coder');
  const inbox = new Inbox({
    store: memoryStore(),
    policies: { policy: () => DEFAULT_POLICY },
    owner: { machine: 'here', pid: 1, startedAt: '1' },
    isAlive: () => true,
    timeZone: 'UTC',
  });
  const window = (id: string, pid: number): Conversation =>
    inbox.conversation({ log, conversation: id as ConversationId }, { process: { machine: 'here', pid, startedAt: '1' } });
  const [a, b] = [window('a', 10), window('b', 20)];
  await Promise.all([a, b].map((each) => arrive(each, { connection: each.id })));
  await begin(b);
  await inbox.queue(`${log}#b`, { id: 'for-b', message: 'the build failed' });
  await leave(b, { connection: 'b' });
  expect(await begin(a)).toEqual({ from: [], waits: false });
  expect(await begin(window('c', 30))).toEqual({ from: ['b'], waits: false });
  await inbox.close();
});
