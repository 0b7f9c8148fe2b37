/** Tests that no reply of a person is lost, whenever the reply arrives. */
import { afterEach, beforeEach, expect, it } from 'vitest';
import { makeEvent, type Emitter } from '../core/event.ts';
import { DEFAULT_POLICY } from '../core/policy.ts';
import { Inbox } from '../inbox/index.ts';
import { memoryStore } from '../stores/index.ts';
import { createAgent, type Agent } from './agent.ts';
import type { AgentOptions } from './options.ts';
import { scriptedModel, type ScriptedModel, type Step } from './scripted-model.ts';

let inbox: Inbox;
const agents: Agent[] = [];
beforeEach(() => {
  inbox = new Inbox({ store: memoryStore(), policies: { policy: () => DEFAULT_POLICY }, timeZone: 'UTC' });
});
afterEach(async () => {
  for (const agent of agents.splice(0)) await agent.close();
  await inbox.close();
});

async function start(
  steps: readonly Step[],
  options: Partial<AgentOptions> = {},
): Promise<{ agent: Agent; model: ScriptedModel; request: (n: number) => string }> {
  const model = scriptedModel(steps);
  const agent = await createAgent({ model, earpiece: inbox, address: 'shop/coder', ...options });
  agents.push(agent);
  return { agent, model, request: (n) => JSON.stringify(model.requests[n]?.prompt) };
}

it('a reply during the last look for notifications joins the turn', async () => {
  let isEnding = false;
  const { agent, request } = await start([{ text: 'done' }, { text: 'right' }], {
    onTurnEnd: async () => {
      isEnding = true;
      return { again: true };
    },
  });
  const { conversation } = agent;
  const decisions = conversation.decisions.bind(conversation);
  conversation.decisions = (...args) => {
    if (isEnding && agent.records.filter(({ type }) => type === 'chat_request').length === 1) agent.reply('no, the other one');
    return decisions(...args);
  };
  expect(await agent.send('go')).toMatchObject({ how: 'complete', text: 'right', cycles: 2 });
  expect(request(1)).toContain('no, the other one');
});

it('a reply is refused before a turn, after a turn, and when the turn has just ended', async () => {
  const taken: boolean[] = [];
  const emitter: Emitter = {
    emit: async (event) => {
      if (event.type === 'agent.turn.end') taken.push(agent.reply('too late'));
      return { event: makeEvent(event, { id: 'e', now: 0 }), heard: [] };
    },
  };
  const { agent, request } = await start([{ text: 'done' }], { emitter });
  expect(agent.reply('too early')).toBe(false);
  expect(await agent.send('go')).toMatchObject({ how: 'complete' });
  expect(taken).toEqual([false]);
  expect(agent.reply('too late')).toBe(false);
  await agent.send('go on');
  expect(request(1)).not.toContain('too');
});

it('the words of a reply just before a stop are in the next request', async () => {
  const { agent, request } = await start([
    {
      text: 'one two three',
      between: (n) => {
        if (n !== 2) return;
        expect(agent.reply('not that')).toBe(true);
        agent.stop();
      },
    },
    { text: 'right' },
  ]);
  expect(await agent.send('go')).toMatchObject({ how: 'stopped' });
  expect(agent.cutOff).toBe(false);
  await agent.send('go on');
  expect(request(1)).toMatch(/one.*not that.*go on/su);
});
