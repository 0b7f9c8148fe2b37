import { expect, it } from 'vitest';
import { Inbox } from '../inbox/index.ts';
import { logKey } from '../core/address.ts';
import { DEFAULT_POLICY } from '../core/policy.ts';
import { memoryStore } from '../stores/index.ts';
import { attend } from './attend.ts';
import { letta } from './letta/hooks.ts';
import { opencode } from './opencode/host.ts';
import type { Moment } from './moment.ts';

it('a turn of a host that does not report holds is held at most three times; the next turn is held again', async () => {
  const owner = { machine: 'here', pid: 1, startedAt: '1' };
  const inbox = new Inbox({ store: memoryStore(), policies: { policy: () => DEFAULT_POLICY }, owner, isAlive: () => true });
  const place = { inbox, project: 'shop' };
  const caller = { session: '/work', folder: '/work' };
  const answer = async (moment: Moment): Promise<string> => {
    const attended = await attend(place, letta, caller, moment);
    await attended.confirm();
    return attended.answer.kind;
  };
  const ends = async (): Promise<string> => {
    await inbox.queue('shop/letta-code', { kind: 'ci.failed', level: 'error', message: 'red' });
    return answer({ kind: 'turn_end' });
  };
  await answer({ kind: 'prompt' });
  expect([await ends(), await ends(), await ends(), await ends()]).toEqual(['hold', 'hold', 'hold', 'nothing']);
  expect(await answer({ kind: 'prompt' })).toBe('tell');
  for (const turn of [1, 2, 3, 4]) {
    expect(await ends(), `turn ${turn}`).toBe('hold');
    expect(await answer({ kind: 'prompt' })).toBe('nothing');
  }
  await inbox.close();
});

it('the contact points of opencode include the end of a turn, which its plugin holds', async () => {
  const inbox = new Inbox({ store: memoryStore(), policies: { policy: () => DEFAULT_POLICY } });
  await inbox.queue('shop/opencode', { message: 'red', level: 'error' });
  const caller = { session: 's', folder: '/work' };
  const { answer } = await attend({ inbox, project: 'shop' }, opencode, caller, { kind: 'turn_end', held: false });
  expect(answer.kind).toBe('hold');
  const [known] = await inbox.store.presence({ log: logKey('shop', 'opencode') });
  expect(known?.points?.['hook']).toContain('turn_end');
  await inbox.close();
});
