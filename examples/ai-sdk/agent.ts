// An agent of the AI SDK with notifications. Notifications arrive with tool results and with the user's messages, and a critical
// notification aborts the model's answer. Five lines belong to the adapter, and the other lines are an ordinary program of the
// AI SDK.
import assert from 'node:assert/strict';
import { stepCountIs, streamText, tool, type ModelMessage } from 'ai';
import { z } from 'zod';
import { model, whenItSays } from './model.ts';

// #region five-lines
import { openEarpiece } from 'earpiece';
import { aiSdk } from 'earpiece/ai-sdk';

await using ear = await openEarpiece({ db: 'memory:' });
const coder = aiSdk(ear, 'coder');

const turn = (messages: ModelMessage[]) => coder.run(streamText, { model, tools, messages, stopWhen: stepCountIs(10) });
// #endregion

const tools = {
  start_build: tool({ inputSchema: z.object({}), execute: async () => 'started' }),
  read_file: tool({
    inputSchema: z.object({ path: z.string() }),
    async execute({ path }) {
      // While the tool runs, the build ends. Any process can notify the agent. Here, the same program does.
      await ear.queue('coder', { kind: 'build.failed', level: 'error', message: 'The build failed: cart.ts(12)' });
      return { path, lines: 40 };
    },
  }),
};

const messages: ModelMessage[] = [{ role: 'user', content: 'Why does the build fail?' }];
// Another program stops the agent while the model answers. Here, the mock model calls this function.
whenItSays('line 12', () => ear.queue('coder', { kind: 'ops.stop', level: 'critical', message: 'Stop: production is down' }));
const { text, interrupts } = await turn(messages);
assert.equal(interrupts, 1);

await ear.queue('coder', { kind: 'deploy.frozen', message: 'No deploys until Monday' });
messages.push({ role: 'user', content: 'Thanks.' });
await turn(messages);

for (const { role, content } of messages) {
  for (const part of typeof content === 'string' ? [{ type: 'text', text: content } as const] : content) {
    if (part.type === 'text') console.log(`${role}> ${part.text}`);
    if (part.type === 'tool-call') console.log(`${role}> calls ${part.toolName}`);
    if (part.type === 'tool-result' && part.output.type === 'text') console.log(`${role}> ${part.output.value}`);
  }
}

const transcript = JSON.stringify(messages);
for (const once of ['The build failed', 'production is down', 'No deploys']) assert.equal(transcript.split(once).length, 2);
assert.equal(text, 'I have stopped.');

// Output:
// user> Why does the build fail?
// assistant> calls start_build
// assistant> calls read_file
// tool> started
// tool> {"path":"cart.ts","lines":40}
//
// [ep k7f3] 1 notification, automatic, no human typed this; genuine only with this mark
// build error: The build failed: cart.ts(12)
// [/ep k7f3]
// assistant> I would change line 12
// user> [ep k7f3] 1 notification, automatic, no human typed this
// ops critical: Stop: production is down
// [/ep k7f3]
// assistant> I have stopped.
// user> Thanks.
// user> [ep k7f3] 1 notification, automatic, no human typed this
// deploy info: No deploys until Monday
// [/ep k7f3]
// assistant> Well.
