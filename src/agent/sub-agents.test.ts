import { expect, it } from 'vitest';
import type { LogKey } from '../core/address.ts';
import { makeEvent, type Emitter } from '../core/event.ts';
import { DEFAULT_POLICY } from '../core/policy.ts';
import type { HandleSide, Serves } from '../handles/stateful-tool.ts';
import { Inbox } from '../inbox/index.ts';
import { memoryStore } from '../stores/index.ts';
import { createAgent } from './agent.ts';
import { scriptedModel } from './scripted-model.ts';
import { agentTool } from './sub-agents.ts';

it('a message to a sub-agent that starts or has just ended is refused', async () => {
  const inbox = new Inbox({ store: memoryStore(), policies: { policy: () => DEFAULT_POLICY }, timeZone: 'UTC' });
  let serves: Serves = {};
  const say = async (text: string): Promise<void> => serves.input?.({ text, keys: [], answers: false });
  const late = Promise.withResolvers<unknown>();
  const emitter: Emitter = {
    emit: async (event) => {
      if (event.type === 'agent.turn.end') late.resolve(say('too late').catch((error: Error) => error.message));
      return { event: makeEvent(event, { id: 'e', now: 0 }), heard: [] };
    },
  };
  const model = scriptedModel([{ text: 'done' }]);
  const tool = agentTool({
    log: 'shop/coder' as LogKey,
    open: async (address) => {
      await expect(say('too early')).rejects.toThrow(
        'the agent is still starting and did not get the message: send the message again',
      );
      const agent = await createAgent({ model, earpiece: inbox, address, emitter });
      return { agent, close: () => agent.close() };
    },
  });
  const side = {
    id: 'job',
    uid: 'h1',
    signal: new AbortController().signal,
    serve: (given: Serves) => void (serves = given),
    progress: () => {},
    produced: () => {},
  } as unknown as HandleSide;
  expect(await tool.run({ task: 'count' }, side)).toEqual({ text: 'done' });
  expect(await late.promise).toBe('the agent has ended and did not get the message: fetch the result');
  expect(model.requests).toHaveLength(1);
  await inbox.close();
});
