import { afterEach, beforeEach, expect, it } from 'vitest';
import { DEFAULT_POLICY } from '../core/policy.ts';
import type { Draft } from '../core/records.ts';
import { Inbox } from '../inbox/index.ts';
import { memoryStore } from '../stores/index.ts';
import { createAgent, type Agent } from './agent.ts';
import { scriptedModel, type ScriptedModel } from './scripted-model.ts';

let inbox: Inbox;
beforeEach(() => {
  inbox = new Inbox({ store: memoryStore(), policies: { policy: () => DEFAULT_POLICY }, timeZone: 'UTC' });
});
afterEach(() => inbox.close());

/** Makes an agent that continues after another process, whose log ends with these records. */
async function after(...records: readonly Draft[]): Promise<{ agent: Agent; model: ScriptedModel }> {
  const model = scriptedModel([{ text: 'going on' }]);
  await inbox
    .conversation('shop/coder#main')
    .record([{ type: 'turn_start' }, { type: 'chat_request', content: 'go' }, ...records]);
  return { agent: await createAgent({ model, earpiece: inbox, address: 'shop/coder' }), model };
}

it('continues a turn whose request has no answer: sends the same request again', async () => {
  const { agent, model } = await after();
  expect(await agent.resume()).toMatchObject({ how: 'complete', text: 'going on' });
  expect(model.requests[0]?.prompt.map(({ role }) => role)).toEqual(['user']);
  await agent.close();
});

it('continues after a partial answer: the request says so and carries the open notifications', async () => {
  const { agent, model } = await after({ type: 'chat_response', message: 'I was about', truncated: true });
  await inbox.queue('shop/coder', { kind: 'user.stop', message: 'not that' });
  expect(await agent.resume()).toMatchObject({ how: 'complete' });
  expect(model.requests[0]?.prompt.map(({ role }) => role)).toEqual(['user', 'assistant', 'user', 'system']);
  expect(JSON.stringify(model.requests[0]?.prompt)).toMatch(/The program ended while you answered.*not that/s);
  await agent.close();
});

it.each<[string, Draft]>([
  ['that was answered', { type: 'chat_response', message: 'done' }],
  ['that a person stopped', { type: 'agent_stopped' }],
])('does not continue a turn %s', async (_, last) => {
  const { agent, model } = await after(last);
  expect(await agent.resume()).toBeUndefined();
  expect(model.requests).toEqual([]);
  await agent.close();
});
