import { expect, it } from 'vitest';
import { createAgent } from '../../agent/index.ts';
import { scriptedModel } from '../../agent/scripted-model.ts';
import { makeEvent, type Emitter } from '../../core/event.ts';
import { DEFAULT_POLICY } from '../../core/policy.ts';
import { Inbox } from '../../inbox/index.ts';
import { memoryStore } from '../../stores/index.ts';
import { Driver } from './driver.ts';
import type { Session } from './session.ts';

it('a reply to a turn that has just ended is sent as the next message', async () => {
  const ear = new Inbox({ store: memoryStore(), policies: { policy: () => DEFAULT_POLICY }, timeZone: 'UTC' });
  const model = scriptedModel([{ text: 'done' }, { text: 'right' }]);
  const emitter: Emitter = {
    emit: async (event) => {
      if (event.type === 'agent.turn.end' && model.requests.length === 1) driver.reply('no, the other one');
      return { event: makeEvent(event, { id: 'e', now: 0 }), heard: [] };
    },
  };
  const agent = await createAgent({ model, earpiece: ear, address: 'shop/coder', emitter });
  const sent: string[] = [];
  const driver = new Driver({
    session: { agent, ear } as unknown as Session,
    show: () => {},
    sent: (text) => void sent.push(text),
    trouble: (message) => expect.unreachable(message),
  });
  driver.send('go');
  await driver.settled();
  expect(sent).toEqual(['go', 'no, the other one']);
  expect(JSON.stringify(model.requests[1]?.prompt)).toContain('no, the other one');
  await driver.end();
  await agent.close();
  await ear.close();
});
