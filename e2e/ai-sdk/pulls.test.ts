/** Tests notifications beyond the budget: the model reads them with the tool `get_notifications`. */
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { aiSdk } from '../../src/ai-sdk/index.ts';
import { find } from '../model/find.ts';
import { proves } from '../verifies.ts';
import { ADDRESS, BOTH, call, Desk, MAJORS, text } from './stage.ts';

/** More notifications than a message lists by default. */
const WORDS = Array.from({ length: 14 }, (_, n) => `comment-${n}.`);

describe.each(BOTH)('AI SDK %i, %s', (major, api) => {
  it('with pulls, the model reads the notifications that a message only counted, each once', async () => {
    proves('ai-sdk:pulls');
    await using desk = await Desk.start(major, api, [
      { says: [call('call_1', 'get_notifications')] },
      { says: [text('I have read all.')] },
    ]);
    const ear = aiSdk(desk.inbox, ADDRESS, { pulls: true });
    for (const word of WORDS) await desk.queue(`${word} on your pull request`);
    desk.ask('Hm?');
    await ear.run(desk.sdk.streamText, desk.options({}));
    desk.check(WORDS);
    expect(find(desk.requests, 'more: ')).toMatchObject({ first: 0 });
    expect(JSON.stringify(desk.messages)).toMatch(/\d more: \d ci \(info\); read with get_notifications/u);
    expect(new Set(Object.values(await desk.receipts()))).toEqual(new Set(['delivered', 'read']));
  });
});

it.each(MAJORS)('AI SDK %i: an agent has the tool through tools(), and the gate lets the tool through', async (major) => {
  await using desk: Desk = await Desk.start(major, 'openai-chat', [
    { says: [call('call_1', 'write')] },
    { says: [call('call_2', 'get_notifications'), call('call_3', 'write')] },
    { says: [text('I wait.')] },
  ]);
  const { sdk, inbox } = desk;
  const ear = aiSdk(inbox, ADDRESS, { pulls: true });
  let ran = 0;
  const write = sdk.tool({ inputSchema: z.object({}), execute: async () => `ran ${++ran}` });
  const agent = new sdk.ToolLoopAgent({ model: desk.model, tools: ear.tools({ write }), maxRetries: 0 });
  await desk.queue('HOLD on', { action: 'pause' });
  desk.ask('Write it.');
  await ear.run(agent, { messages: desk.messages });
  expect(ran).toBe(0);
  const pulled = JSON.stringify(desk.messages.findLast(({ role }) => role === 'tool'));
  expect(pulled).toContain('"action":"pause"');
  expect(pulled).toContain('this call was not made');
});

it('a tool of the program with the name get_notifications is refused', async () => {
  await using desk = await Desk.start(7, 'openai-chat', []);
  const ear = aiSdk(desk.inbox, ADDRESS, { pulls: true });
  const own = desk.sdk.tool({ inputSchema: z.object({}), execute: async () => 'mine' });
  expect(() => ear.tools({ get_notifications: own })).toThrow(
    'tools: with pulls: true, get_notifications is a tool of Earpiece; rename your tool, or leave out pulls',
  );
  // The result of tools() may be passed to run.
  expect(Object.keys(ear.tools(ear.tools({ own })))).toEqual(['own', 'get_notifications']);
});

it.each(MAJORS)('AI SDK %i: if the result of get_notifications is not kept, its notifications are open again', async (major) => {
  proves('ai-sdk:receipts');
  await using desk: Desk = await Desk.start(major, 'openai-chat', [
    { says: [call('call_1', 'get_notifications'), call('call_2', 'stops')] },
  ]);
  const { sdk, inbox } = desk;
  const ear = aiSdk(inbox, ADDRESS, { pulls: true });
  const stopped = new AbortController();
  const stops = sdk.tool({
    inputSchema: z.object({}),
    execute: async (): Promise<string> => {
      stopped.abort();
      return new Promise(() => {});
    },
  });
  for (const word of WORDS) await desk.queue(`${word} on your pull request`);
  desk.ask('Hm?');
  await ear.run(sdk.streamText, { ...desk.options({ stops }), abortSignal: stopped.signal });
  expect((await ear.conversation.pull({ mark: false })).notifications).toHaveLength(4);
});
