import { expect, it } from 'vitest';
import { makeEvent, type Handled } from '../../core/event.ts';
import { say } from './say.ts';

it.each<[what: string, heard: readonly Handled[], said: object, queued: number]>([
  ['no subscriber listens to', [], { kind: 'said', ids: ['e1'] }, 1],
  [
    'withdrew its notifications',
    [
      { subscriber: 'a', kind: 'skipped', because: 'off' },
      { subscriber: 'b', kind: 'withdrew', ids: ['n1'] },
    ],
    { kind: 'said', ids: [] },
    0,
  ],
  ['had nothing to withdraw', [{ subscriber: 'a', kind: 'withdrew', ids: [] }], { kind: 'said', ids: [] }, 0],
  ['was skipped', [{ subscriber: 'a', kind: 'skipped', because: 'off' }], { kind: 'skipped', because: 'a: off' }, 0],
])(
  'queues a plain notification only for an event that no subscriber listens to: an event that %s',
  async (_, heard, said, count) => {
    const queued: string[] = [];
    const inbox = { queue: async (to: string) => void queued.push(to) };
    const emitter = { emit: async () => ({ event, heard }) };
    const event = makeEvent({ type: 'tool.stopped', source: 'tool', subject: 'shop/coder' }, { id: 'e1', now: 0 });
    expect(await say(event, { inbox, emitter, now: 0 })).toEqual(said);
    expect(queued).toHaveLength(count);
  },
);
