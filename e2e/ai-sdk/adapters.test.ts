/** Tests several adapters of one agent in one process. */
import { expect, it } from 'vitest';
import { z } from 'zod';
import { aiSdk } from '../../src/ai-sdk/index.ts';
import { aiSdk as publicAdapter } from '../../src/entries/ai-sdk.ts';
import { openEarpiece } from '../../src/index.ts';
import { proves } from '../verifies.ts';
import { ADDRESS, call, Desk, MAJORS, text } from './stage.ts';

it.each(MAJORS)('AI SDK %i: while a turn runs, another adapter of the same agent refuses a second turn', async (major) => {
  await using desk = await Desk.start(major, 'openai-chat', [{ says: [text('Well.')] }, { says: [text('Then.')] }]);
  const other = aiSdk(desk.inbox, ADDRESS);
  const options = () => ({ ...desk.options({}), messages: [{ role: 'user' as const, content: 'Hm?' }] });
  const first = desk.ear.run(desk.sdk.streamText, options());
  expect(() => other.run(desk.sdk.streamText, options())).toThrow(/shop\/coder#main is running/u);
  // A conversation with another address has its own turn.
  await aiSdk(desk.inbox, `${ADDRESS}#c2`).run(desk.sdk.streamText, options());
  await first;
  await other.run(desk.sdk.streamText, options());
});

it.each(MAJORS)('AI SDK %i: one adapter wraps the tools, and another adapter runs the agent', async (major) => {
  proves('ai-sdk:receipts');
  await using desk = await Desk.start(major, 'openai-chat', [{ says: [call('call_1', 'read')] }, { says: [text('Done.')] }]);
  const { sdk, inbox } = desk;
  const read = sdk.tool({
    inputSchema: z.object({}),
    execute: async () => {
      await desk.queue('FIRST the build is red');
      return 'cart.ts';
    },
  });
  const agent = new sdk.ToolLoopAgent({ model: desk.model, tools: aiSdk(inbox, ADDRESS).tools({ read }), maxRetries: 0 });
  desk.ask('Why?');
  await aiSdk(inbox, ADDRESS).run(agent, { messages: desk.messages });
  expect(await desk.receipts()).toEqual({ FIRST: 'delivered' });
  desk.check(['FIRST']);
});

it.each(MAJORS)('AI SDK %i: an agent with tools that no adapter wraps causes a line that says so', async (major) => {
  await using desk = await Desk.start(major, 'openai-chat', [{ says: [text('Well.')] }]);
  const { sdk, inbox } = desk;
  const lines: string[] = [];
  const ear = aiSdk(inbox, ADDRESS, { onTrouble: (line) => void lines.push(line) });
  const read = sdk.tool({ inputSchema: z.object({}), execute: async () => 'cart.ts' });
  for (const tools of [{ read }, ear.tools({ read }), {}])
    await ear.run(new sdk.ToolLoopAgent({ model: desk.model, tools }), { prompt: 'Hm?' });
  expect(lines).toEqual([
    'earpiece: shop/coder#main has an agent with tools that carry no notifications and are never refused: read; wrap them with tools() of the adapter',
  ]);
});

it.each(MAJORS)('AI SDK %i: after close(), an agent continues without notifications, and a line says so', async (major) => {
  await using desk = await Desk.start(major, 'openai-chat', [{ says: [text('Well.')] }]);
  const closed = await openEarpiece({ db: 'memory:' });
  const lines: string[] = [];
  const coder = publicAdapter(closed, ADDRESS, { onTrouble: (line) => void lines.push(line) });
  await closed.close();
  desk.ask('Hm?');
  expect(await coder.run(desk.sdk.streamText, desk.options({}))).toMatchObject({ text: 'Well.' });
  expect(lines).toEqual(['earpiece: shop/coder#main gets no notifications: this Earpiece is closed: call openEarpiece() again']);
});
