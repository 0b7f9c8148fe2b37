import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { NotificationInput } from '../../core/notification.ts';
import { DEFAULT_POLICY } from '../../core/policy.ts';
import type { Store } from '../../core/ports.ts';
import { memoryStore } from '../../stores/index.ts';
import { Inbox, type Conversation } from '../index.ts';
import { proves } from '../../../e2e/verifies.ts';

const AGENT = 'shop/coder';

describe('a notification with the key of an open notification', () => {
  proves('queue:fold');
  const policies = { policy: () => DEFAULT_POLICY };
  let now: number;
  let store: Store;
  let inbox: Inbox;

  beforeEach(() => {
    now = 1_700_000_000_000;
    store = memoryStore({ clock: { now: () => now } });
    inbox = new Inbox({ store, policies, timeZone: 'UTC' });
  });
  afterEach(() => inbox.close());

  const queue = async (input: NotificationInput, by = inbox): Promise<string> =>
    (await by.queue(AGENT, { key: 'k', ...input })).kind;
  const talk = (): Conversation => inbox.conversation(`${AGENT}#main`, { pulls: true });

  it.each<[string, NotificationInput['origin'], NotificationInput['origin']]>([
    ['a person after an unnamed producer', undefined, { person: 'Ann' }],
    ['another person', { person: 'Ann' }, { person: 'Bob' }],
    ['another agent', { agent: 'shop/tester' }, { agent: 'shop/writer' }],
    ['an agent with tell_agent', { agent: 'shop/tester', tool: 'bash' }, { agent: 'shop/tester', tool: 'tell_agent' }],
    ['an agent further down a chain of causes', { agent: 'shop/tester' }, { agent: 'shop/tester', depth: 1 }],
  ])('is queued separately if it comes from %s', async (_, first, second) => {
    await queue({ message: 'deploy', ...(first && { origin: first }) });
    expect(await queue({ message: 'deploy now', ...(second && { origin: second }) })).toBe('queued');
    expect(await queue({ message: 'deploy now', ...(second && { origin: second }) })).toBe('folded');
    expect(await queue({ message: 'deploy', ...(first && { origin: first }) })).toBe('folded');
  });

  it('is counted if it is queued at the same time as the first one, also after a call that failed', async () => {
    const failing = queue({ message: 'x', id: 'a b' }).catch(() => 'failed');
    const kinds = await Promise.all([failing, ...Array.from({ length: 60 }, (_, n) => queue({ message: `m${n % 5}` }))]);
    expect(Object.groupBy(kinds, (kind) => kind)).toMatchObject({
      failed: { length: 1 },
      queued: { length: 1 },
      folded: { length: 59 },
    });
    const { notifications } = await talk().pull({ mark: false });
    expect(notifications).toMatchObject([{ count: 60 }]);
  });

  it('does not wait longer than a second for a call that the store does not answer', async () => {
    let calls = 0;
    const hanging = new Proxy(store, {
      get: (target, name) =>
        name === 'append' ? () => (calls++, new Promise(() => {})) : (Reflect.get(target, name) as () => unknown).bind(target),
    });
    const other = new Inbox({ store: hanging, policies, timeZone: 'UTC' });
    vi.useFakeTimers();
    try {
      for (let n = 0; n < 3; n++) void other.queue(AGENT, { message: 'x', key: 'k' });
      await vi.advanceTimersByTimeAsync(900);
      expect(calls).toBe(1);
      await vi.advanceTimersByTimeAsync(200);
      expect(calls).toBe(3);
    } finally {
      vi.useRealTimers();
    }
  });

  it('never adds the words of an agent’s command to the words of a person', async () => {
    await queue({ message: 'deploy', origin: { person: 'Ann' } });
    const command = new Inbox({ store, policies, speaker: { log: AGENT } });
    await queue({ message: 'delete it' }, command);
    const { notifications } = await talk().pull({ mark: false });
    expect(notifications.map(({ message, from }) => [message, from])).toEqual([
      ['delete it', undefined],
      ['deploy', 'Ann'],
    ]);
    const offer = await talk().offer({ at: 'tool_result' });
    expect(offer?.view.items.map(({ text }) => text).filter((text) => text.includes('Ann'))).toEqual([
      expect.not.stringContaining('delete it'),
    ]);
  });

  const HOUR = 3_600_000;
  it.each<[string, NotificationInput, NotificationInput]>([
    ['is due now, and the other waits for a time', { message: 'x', deliver: { inMs: HOUR } }, { message: 'x' }],
    ['is due at a time, and the other is due now', { message: 'x' }, { message: 'x', deliver: { inMs: HOUR } }],
    ['waits for another moment', { message: 'x', deliver: 'turn_end' }, { message: 'x', deliver: { afterTool: 'bash' } }],
    ['is for another purpose', { message: 'x', purpose: 'review' }, { message: 'x' }],
    ['is about another fact', { message: 'x', about: 'file:/a' }, { message: 'x', about: 'file:/b' }],
    ['expires later', { message: 'x', ttlMs: HOUR }, { message: 'x', ttlMs: 3 * HOUR }],
    ['expires much earlier', { message: 'x', ttlMs: 3 * HOUR }, { message: 'x', ttlMs: HOUR }],
    ['never expires', { message: 'x', ttlMs: HOUR }, { message: 'x', expiresAt: null }],
    [
      'says something else to an agent without the tool',
      { message: 'x', instruction: 'call a', needs: { tool: 'a', otherwise: 'stop' } },
      { message: 'x', instruction: 'call a', needs: { tool: 'a', otherwise: 'go on' } },
    ],
  ])('is queued separately if it %s', async (_, first, second) => {
    await queue(first);
    expect(await queue(second)).toBe('queued');
    expect(await queue(second)).toBe('folded');
  });

  it('is queued separately if the open notification expires in less than half of its time', async () => {
    await queue({ message: 'x', ttlMs: 2 * HOUR });
    now += HOUR;
    expect(await queue({ message: 'x', ttlMs: 2 * HOUR })).toBe('folded');
    now += 1;
    expect(await queue({ message: 'x', ttlMs: 2 * HOUR })).toBe('queued');
  });
});
