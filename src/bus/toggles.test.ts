import { describe, expect, onTestFinished, test } from 'vitest';
import { proves } from '../../e2e/verifies.ts';
import type { LogKey } from '../core/address.ts';
import type { EarpieceError } from '../core/errors.ts';
import { openLoadedInbox, type LoadedInbox } from '../loaded-inbox.ts';
import type { Subscriber, SubscriberSet } from './subscriber.ts';
import { subscriberToggles, type ToggleScope } from './toggles.ts';

const subscriber = (id: string, core = false): Subscriber => ({
  id,
  name: `The ${id}`,
  description: '',
  version: '1.0.0',
  events: { types: ['x.y'], severityFilter: 'info' },
  batching: { windowMs: 0, maxSize: 1, dedupeWindowMs: 0 },
  output: { priority: 'normal', injectAt: 'turn_start', core, supersede: false },
  from: { folder: 'shipped', file: `${id}.toml` },
});
const SET: SubscriberSet = {
  subscribers: [subscriber('large_result'), subscriber('self_notify'), subscriber('tool_failure', true)],
  problems: [],
};
const USER: ToggleScope = { kind: 'user' };
const WEB: ToggleScope = { kind: 'project', project: 'web' };

async function memory(): Promise<LoadedInbox> {
  const ear = await openLoadedInbox({ db: 'memory:', env: { HOME: '/nowhere' }, cwd: '/' });
  onTestFinished(() => ear.close());
  return ear;
}

const refusal = async (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => 'no refusal',
    (error: EarpieceError) => `${error.code}: ${error.message}`,
  );

describe('a disabled subscriber', () => {
  test('US5(b), FR-028: is switched off in all projects of the user, or in one project only', async () => {
    const toggles = subscriberToggles(await memory());
    expect(await toggles.disabled('web')).toEqual(new Set());
    expect(await toggles.disable(USER, 'self_notify', 'ann', SET)).toBe(true);
    expect(await toggles.disable(WEB, 'large_result', 'ann', SET)).toBe(true);
    expect(await toggles.disabled('web')).toEqual(new Set(['self_notify', 'large_result']));
    expect(await toggles.disabled('other')).toEqual(new Set(['self_notify']));
    expect(await toggles.lists('web')).toEqual({ user: ['self_notify'], project: ['large_result'] });
  });

  test('is removed from the list when it is enabled; a second time changes nothing', async () => {
    const ear = await memory();
    const toggles = subscriberToggles(ear);
    expect(await toggles.disable(WEB, 'large_result', 'ann', SET)).toBe(true);
    expect(await toggles.disable(WEB, 'large_result', 'ann', SET)).toBe(false);
    expect(await toggles.enable(WEB, 'large_result', 'ann', SET)).toBe(true);
    expect(await toggles.enable(WEB, 'large_result', 'ann', SET)).toBe(false);
    expect(await toggles.disabled('web')).toEqual(new Set());
    expect(await ear.store.setting('subscribers off web')).toBeUndefined();
  });

  test('is enabled again if a new list does not contain it', async () => {
    const toggles = subscriberToggles(await memory());
    await toggles.disable(WEB, 'self_notify', 'ann', SET);
    expect(await toggles.set(WEB, ['large_result', 'large_result'], 'ann', SET)).toEqual(['large_result']);
    expect(await toggles.set(WEB, [], 'ann', SET)).toEqual([]);
  });

  test('can still be enabled without its file, and stays in a list that is set', async () => {
    const toggles = subscriberToggles(await memory());
    await toggles.disable(WEB, 'self_notify', 'ann', SET);
    const without: SubscriberSet = { ...SET, subscribers: SET.subscribers.filter(({ id }) => id !== 'self_notify') };
    expect(await toggles.set(WEB, ['self_notify', 'large_result'], 'ann', without)).toEqual(['large_result', 'self_notify']);
    expect(await toggles.enable(WEB, 'self_notify', 'ann', without)).toBe(true);
    expect(await refusal(toggles.enable(WEB, 'self_notify', 'ann', without))).toMatch(/^not_found/);
  });

  test('the project’s log names each change and its author', async () => {
    const ear = await memory();
    const toggles = subscriberToggles(ear);
    await toggles.disable(WEB, 'self_notify', 'ann', SET);
    await toggles.disable(WEB, 'self_notify', 'bob', SET);
    await toggles.set(WEB, ['large_result'], 'bob', SET);
    await toggles.disable(USER, 'self_notify', 'bob', SET);
    const records = await ear.store.read({ log: 'web/*' as LogKey });
    expect(records.map(({ body }) => body)).toEqual([
      { type: 'subscriber_disabled', subscriber: 'self_notify', scope: 'project', by: 'ann' },
      { type: 'subscriber_disabled', subscriber: 'large_result', scope: 'project', by: 'bob' },
      { type: 'subscriber_enabled', subscriber: 'self_notify', scope: 'project', by: 'bob' },
    ]);
  });

  test('simultaneous changes are all kept', async () => {
    const toggles = subscriberToggles(await memory());
    const ids = Array.from({ length: 30 }, (_, n) => `s${n}`);
    const set: SubscriberSet = { subscribers: ids.map((id) => subscriber(id)), problems: [] };
    await Promise.all(ids.map((id) => toggles.disable(WEB, id, 'ann', set)));
    expect((await toggles.disabled('web')).size).toBe(30);
    await Promise.all(ids.slice(1).map((id) => toggles.enable(WEB, id, 'ann', set)));
    expect(await toggles.disabled('web')).toEqual(new Set(['s0']));
  });

  test('an invalid list in the store causes no failure', async () => {
    const ear = await memory();
    await ear.store.setSetting('subscribers off web', { not: 'a list' });
    const toggles = subscriberToggles(ear);
    expect(await toggles.disabled('web')).toEqual(new Set());
    await toggles.disable(WEB, 'self_notify', 'ann', SET);
    expect(await toggles.disabled('web')).toEqual(new Set(['self_notify']));
  });
});

describe('refused changes', () => {
  test('US5(c), FR-030: disabling a core subscriber is refused with the reason, and nothing is changed', async () => {
    proves('bus:locked');
    const toggles = subscriberToggles(await memory());
    const why =
      'bad_subscriber: tool_failure (The tool_failure) cannot be disabled: agents must not miss the notifications of a core subscriber';
    expect(await refusal(toggles.disable(WEB, 'tool_failure', 'ann', SET))).toBe(why);
    expect(await refusal(toggles.disable(USER, 'tool_failure', 'ann', SET))).toBe(why);
    expect(await refusal(toggles.set(WEB, ['self_notify', 'tool_failure'], 'ann', SET))).toBe(why);
    expect(await toggles.disabled('web')).toEqual(new Set());
  });

  test('a change of an unknown subscriber is refused with a suggestion', async () => {
    const toggles = subscriberToggles(await memory());
    expect(await refusal(toggles.disable(WEB, 'selfnotify', 'ann', SET))).toBe(
      'not_found: there is no subscriber "selfnotify"; did you mean self_notify?',
    );
    expect(await refusal(toggles.enable(WEB, 'nothing', 'ann', SET))).toBe(
      'not_found: there is no subscriber "nothing"; run: earpiece subscribers list',
    );
    expect(await refusal(toggles.set(WEB, ['large_reslt'], 'ann', SET))).toBe(
      'not_found: there is no subscriber "large_reslt"; did you mean large_result?',
    );
  });
});
