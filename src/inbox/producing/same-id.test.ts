import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ConversationId, LogKey } from '../../core/address.ts';
import type { NotificationInput } from '../../core/notification.ts';
import { DEFAULT_POLICY } from '../../core/policy.ts';
import type { Store } from '../../core/ports.ts';
import { memoryStore } from '../../stores/index.ts';
import { Inbox } from '../index.ts';
import { proves } from '../../../e2e/verifies.ts';

describe('an id that a notification already has', () => {
  proves('log:idempotent', 'queue:own-id');
  const policies = { policy: () => DEFAULT_POLICY };
  let store: Store;
  let inbox: Inbox;
  let agents: Inbox;

  beforeEach(async () => {
    store = memoryStore({ clock: { now: () => 1_700_000_000_000 } });
    inbox = new Inbox({ store, policies });
    agents = new Inbox({ store, policies, speaker: { log: 'e/a' } });
    for (const log of ['e/a', 'e/b']) await store.touch({ log: log as LogKey, conversation: 's1' as ConversationId });
  });
  afterEach(async () => {
    await inbox.close();
    await agents.close();
  });

  const ADDRESSES = ['e/a', 'e/a#s1', 'e/*'];
  const first: NotificationInput = { message: 'hi', id: 'stop-now', origin: { person: 'anna' } };
  const countsOpen = (): Promise<number[]> => Promise.all(['e/a', 'e/b'].map((log) => store.countOpen(log as LogKey)));

  it.each(
    ADDRESSES.flatMap((to): [string, string, NotificationInput][] => [
      [to, 'another person', { ...first, origin: { person: 'bob' } }],
      [to, 'no person', { message: 'hi', id: 'stop-now' }],
      [to, 'an action', { ...first, action: 'pause' }],
      [to, 'the level critical', { ...first, level: 'critical' }],
    ]),
  )('to %s, with %s, is refused and names the holder', async (to, _, second) => {
    await inbox.queue(to, first);
    const before = await countsOpen();
    await expect(inbox.queue(to, second)).rejects.toMatchObject({
      code: 'conflict',
      message: expect.stringMatching(
        /^id "stop-now" belongs to a notification from "anna" in e\/[a*]; .* was not queued; choose another id$/u,
      ) as unknown,
    });
    expect(await countsOpen()).toEqual(before);
    expect((await inbox.queue(to, { ...first, message: 'other words' })).kind).toBe('duplicate');
  });

  it.each(ADDRESSES.flatMap((from) => ADDRESSES.map((to) => [from, to] as const)))(
    "lets no agent's command to %s swallow a person's pause to %s",
    async (from, to) => {
      await agents.queue(from, { message: 'hi', id: 'stop-now' });
      await expect(inbox.queue(to, { ...first, action: 'pause' })).rejects.toMatchObject({ code: 'conflict' });
      expect((await inbox.queue(to, { ...first, id: 'stop-2', action: 'pause' })).kind).toBe('queued');
    },
  );

  it.each([
    [
      ['e/a'],
      'belongs to another notification in e/a, so only the other receivers got this notification; queue it for e/a with another id',
    ],
    [
      ['e/a', 'e/b'],
      'belongs to a notification from the agent e/a in e/a; this notification has another sender, so it was not queued; choose another id',
    ],
  ])('refuses a notification to the whole project only for %j, which used the id in the meantime', async (logs, said) => {
    const append = store.append.bind(store);
    store.append = async (log, drafts, how) => {
      if (!drafts.some(({ type }) => type === 'fan_out')) return append(log, drafts, how);
      store.append = append;
      for (const taken of logs) await agents.queue(taken, { message: 'hi', id: 'stop-now' });
      return append(log, drafts, how);
    };
    const before = await countsOpen();
    await expect(inbox.queue('e/*', first)).rejects.toMatchObject({
      code: 'conflict',
      message: `id "stop-now" ${said}`,
    });
    expect(await countsOpen()).toEqual(before.map((count) => count + 1));
  });

  it('stays that of a pause for the whole project, also in conversations that begin later', async () => {
    await inbox.queue('e/*', { ...first, action: 'pause' });
    await expect(agents.queue('e/c#s9', { message: 'hi', id: 'stop-now' })).rejects.toMatchObject({ code: 'conflict' });
  });

  it('is a repetition if the first notification was counted into another notification', async () => {
    await inbox.queue('e/a', { message: 'one', key: 'k' });
    const second = { message: 'two', key: 'k', id: 'k2' };
    expect((await inbox.queue('e/a', second)).kind).toBe('folded');
    expect((await inbox.queue('e/a', second)).kind).toBe('duplicate');
    await expect(agents.queue('e/a', second)).rejects.toMatchObject({ code: 'conflict' });
  });

  it('cannot be one that the bus makes', async () => {
    await expect(inbox.queue('e/a', { message: 'x', id: 'ci/42~cli_event' })).rejects.toMatchObject({
      code: 'bad_notification',
      message:
        'id "ci/42~cli_event": must not contain "~", which only ids of subscribers\' notifications contain; choose another id',
    });
  });
});
