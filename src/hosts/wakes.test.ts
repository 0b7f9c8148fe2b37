import { beforeEach, describe, expect, it } from 'vitest';
import { logKey, type ConversationId } from '../core/address.ts';
import { DEFAULT_POLICY } from '../core/policy.ts';
import type { Store } from '../core/ports.ts';
import { begin, Inbox, type Conversation } from '../inbox/index.ts';
import { memoryStore } from '../stores/index.ts';
import { wakesOf } from './wakes.ts';

const LOG = logKey('shop', 'coder');

describe('a critical notification to the whole project', () => {
  let store: Store;
  let inbox: Inbox;
  const session = async (id: string): Promise<Conversation> => {
    const conversation = inbox.conversation(
      { log: LOG, conversation: id as ConversationId },
      { process: { machine: 'here', pid: 10, startedAt: '1' } },
    );
    await begin(conversation);
    await conversation.seen();
    return conversation;
  };
  const reads = async (conversation: Conversation): Promise<void> => {
    await (await conversation.offer({ at: 'turn_start' }))?.confirm();
    await conversation.answered('cycle_start');
  };

  beforeEach(() => {
    store = memoryStore();
    inbox = new Inbox({
      store,
      policies: { policy: () => ({ ...DEFAULT_POLICY, wake: { ...DEFAULT_POLICY.wake, critical: 'auto' } }) },
      owner: { machine: 'here', pid: 1, startedAt: '1' },
      isAlive: () => true,
      timeZone: 'UTC',
    });
  });

  it('wakes the session that is active', async () => {
    const first = await session('s1');
    await inbox.queue('shop/*', { id: 'stop', message: 'the disk is full', kind: 'disk.full', level: 'critical' });
    expect(await wakesOf(first)).toEqual(['stop']);
  });

  it('does not wake the session after /clear if the earlier session has read the notification, but is delivered with the next prompt', async () => {
    const first = await session('s1');
    await inbox.queue('shop/*', { id: 'stop', message: 'the disk is full', kind: 'disk.full', level: 'critical' });
    await reads(first);
    await first.ended();
    const second = await session('s2');
    expect(await wakesOf(second)).toEqual([]);
    expect((await second.offer({ at: 'turn_start' }))?.ids).toEqual(['stop']);
  });

  it('wakes the next session if no session has read the notification', async () => {
    const first = await session('s1');
    await inbox.queue('shop/*', { id: 'stop', message: 'the disk is full', kind: 'disk.full', level: 'critical' });
    await first.ended();
    expect(await wakesOf(await session('s2'))).toEqual(['stop']);
  });
});
