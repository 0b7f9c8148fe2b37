import { expect, it } from 'vitest';
import { logKey, type ConversationId } from '../../core/address.ts';
import type { NotificationId } from '../../core/notification.ts';
import { DEFAULT_POLICY } from '../../core/policy.ts';
import { memoryStore } from '../../stores/index.ts';
import { Inbox } from '../index.ts';
import { recordEarly } from './early-refusal.ts';

const LOG = logKey('shop', 'coder');

it.each([
  ['a resume', async (inbox: Inbox) => inbox.resume('shop/coder', { person: 'mira' }), 'mira'],
  [
    'a resume whose record has other words',
    async ({ store }: Inbox) =>
      store.append(LOG, [
        {
          type: 'notification_closed',
          ids: ['hold'],
          outcome: 'withdrawn',
          by: 'resume',
          cause: { kind: 'resumed', by: 'mira' },
          reason: 'x',
        },
      ]),
    'mira',
  ],
  [
    'a withdrawal',
    async (inbox: Inbox) => inbox.withdraw(LOG, { id: 'hold' }, { by: 'resume', reason: 'resumed by mira' }),
    null,
  ],
])(
  'after an early refusal, the agent is notified that it may continue only if a person resumed it: %s',
  async (_, end, person) => {
    const store = memoryStore({ clock: { now: () => 1_700_000_000_000 } });
    const inbox = new Inbox({
      store,
      policies: { policy: () => DEFAULT_POLICY },
      owner: { machine: 'here', pid: 1, startedAt: '1' },
      isAlive: () => true,
      timeZone: 'UTC',
    });
    const talk = inbox.conversation({ log: LOG, conversation: 'main' as ConversationId });
    await inbox.queue('shop/coder', { id: 'hold', message: 'hold on', action: 'pause', origin: { person: 'ann' } });
    await end(inbox);
    await recordEarly(talk, { ids: ['hold' as NotificationId], text: 'Not run.', on: 'write_file', at: store.now() });
    const resumes = (await store.items(LOG, { kind: 'open' })).filter((item) => item.notification.action === 'resume');
    expect(resumes.map(({ notification }) => notification.origin?.person)).toEqual(person === null ? [] : [person]);
  },
);
