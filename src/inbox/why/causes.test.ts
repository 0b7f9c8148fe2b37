/** Tests that no program reads the words of a reason: `why` decides from the causes of decisions and of closing records. */
import { describe, expect, it } from 'vitest';
import { logKey, type ConversationId } from '../../core/address.ts';
import { DEFAULT_POLICY, type Policy } from '../../core/policy.ts';
import type { Store } from '../../core/ports.ts';
import type { Draft } from '../../core/records.ts';
import { curesOf } from '../../core/verdict/cures.ts';
import type { Verdict } from '../../core/verdict/kinds.ts';
import { memoryStore } from '../../stores/index.ts';
import { Inbox, type Conversation } from '../index.ts';

const LOG = logKey('shop', 'coder');
const MAIN = 'main' as ConversationId;
const POLICY: Policy = {
  ...DEFAULT_POLICY,
  flat: { 'ci.failed': false },
  tools: { 'my tool': { failed: false } },
  minLevel: 'warning',
};

const clock = { now: () => 1_700_000_000_000 };
const inboxOver = (store: Store): Inbox =>
  new Inbox({
    store,
    policies: { policy: () => POLICY, decidedBy: () => ({ file: '/etc/earpiece.toml:3', scope: 'user' }) },
    owner: { machine: 'here', pid: 1, startedAt: '1' },
    isAlive: () => true,
    timeZone: 'UTC',
  });

/** Carries notifications that end in each way that the plan decides. */
async function carried(): Promise<Store> {
  const store = memoryStore({ clock });
  const inbox = inboxOver(store);
  await mute(inbox);
  const queue = async (input: Parameters<Inbox['queue']>[1]): Promise<unknown> => inbox.queue('shop/coder', input);
  await queue({ id: 'muted', kind: 'mail.came', message: 'x', level: 'warning' });
  await queue({ id: 'kind', kind: 'ci.failed', message: 'x', level: 'warning' });
  await queue({ id: 'tool', kind: 'a.failed', message: 'x', level: 'warning', origin: { tool: 'my tool' } });
  await queue({ id: 'level', kind: 'a.b', message: 'x' });
  await queue({ id: 'old', kind: 'a.b', message: 'x', level: 'warning', key: 'tests', supersede: true });
  await queue({ id: 'new', kind: 'a.b', message: 'y', level: 'warning', key: 'tests', supersede: true });
  await (await talk(inbox).offer({ at: 'tool_result', on: 'read' }))?.confirm();
  return store;
}

const mute = (inbox: Inbox): Promise<unknown> => inbox.mute('shop/coder', 'mail.*', { by: 'mira', forMs: 60_000 });
const talk = (inbox: Inbox): Conversation => inbox.conversation({ log: LOG, conversation: MAIN }, { pulls: true });

/** Copies the records and the mute into another store, with changed closing records. */
async function copied(from: Store, change: (closing: Record<string, unknown>) => object): Promise<Store> {
  const to = memoryStore({ clock });
  await mute(inboxOver(to));
  for (const { log, body } of await from.read({ log: LOG }))
    await to.append(log, [(body.type === 'notification_closed' ? change({ ...body }) : body) as Draft]);
  return to;
}

const verdicts = async (store: Store): Promise<Record<string, { verdict: Verdict | undefined; cures: readonly object[] }>> => {
  const found = await Promise.all(
    ['muted', 'kind', 'tool', 'level', 'old'].map(async (id) => {
      const story = await inboxOver(store).why(id, LOG);
      const verdict = story?.items[0]?.verdict;
      return [id, { verdict, cures: verdict && story ? curesOf(verdict, story) : [] }] as const;
    }),
  );
  return Object.fromEntries(found);
};

describe('the cause of a closing record', () => {
  it('names the mute, the setting or the newer notification, and not the words of the record', async () => {
    const store = await carried();
    const expected = await verdicts(store);
    expect(expected).toMatchObject({
      muted: { verdict: { kind: 'muted', pattern: 'mail.*', by: 'mira', holds: true }, cures: [{ kind: 'unmute' }, {}] },
      kind: { verdict: { key: 'conversation.notifications.kinds."ci.failed"', scope: 'user' } },
      tool: { verdict: { key: 'conversation.tools."my tool".notifications.failed' } },
      level: { verdict: { key: 'min_level', setting: 'below min_level warning' } },
      old: { verdict: { kind: 'superseded', by: 'new' }, cures: [{ kind: 'show', id: 'new' }] },
    });
    expect(await verdicts(await copied(store, (body) => ({ ...body, reason: 'n9 is newer with key x' })))).toEqual(expected);
  });

  it('is missing in records from before 0.1.0, and unknown in records of a newer release: `why` then only shows the words', async () => {
    const store = await carried();
    for (const cause of [undefined, { kind: 'moon', phase: 3 }]) {
      const words = await copied(store, (body) => ({ ...body, cause }));
      expect(await verdicts(words)).toMatchObject({
        muted: { verdict: { kind: 'filtered', key: null, setting: '“mail.* is muted by mira”' }, cures: [{ kind: 'requeue' }] },
        level: { verdict: { key: null, setting: '“below min_level warning”' }, cures: [{ kind: 'requeue' }] },
        old: { verdict: { kind: 'superseded', by: null, reason: '“new is newer with key tests”' }, cures: [] },
      });
    }
  });

  it('has no end of a mute and no file of a setting, because both may change', async () => {
    const records = await (await carried()).read({ log: LOG, types: ['notification_closed'] });
    expect(records.map(({ body }) => body['cause' as keyof Draft])).toEqual([
      { kind: 'mute', pattern: 'mail.*', by: 'mira' },
      { kind: 'setting', key: 'conversation.notifications.kinds."ci.failed"', value: false },
      { kind: 'setting', key: 'conversation.tools."my tool".notifications.failed', value: false },
      { kind: 'setting', key: 'min_level', value: 'warning' },
      { kind: 'superseded', by: 'new', key: 'tests' },
    ]);
  });
});
