// An agent of the AI SDK. A notification arrives with a tool's result. A critical notification aborts the answer, and the model
// is asked again in the same turn. A pause refuses the tool until a person lifts the pause.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { stepCountIs, streamText, tool, type ModelMessage } from 'ai';
import { MockLanguageModelV4 } from 'ai/test';
import { openEarpiece } from 'earpiece';
import { aiSdk } from 'earpiece/ai-sdk';
import { z } from 'zod';

await using ear = await openEarpiece({ db: 'memory:' });
const coder = aiSdk(ear, 'coder');

let reads = 0;
const tools = {
  read: tool({
    inputSchema: z.object({}),
    execute: async () => {
      if (++reads === 1) await ear.queue('coder', { kind: 'ci.failed', level: 'error', message: 'CI failed on main' });
      return 'DROP TABLE orders';
    },
  }),
};

const messages: ModelMessage[] = [{ role: 'user', content: 'What next?' }];
const first = await coder.run(streamText, { model: mock(), tools, messages, stopWhen: stepCountIs(5) });
console.log(`turn 1: ${first.text} (${first.interrupts} interrupt)`);

await ear.queue('coder', { action: 'pause', message: 'Wait for me', origin: { person: 'anna' } });
messages.push({ role: 'user', content: 'Read again' });
const second = await coder.run(streamText, { model: mock('again'), tools, messages, stopWhen: stepCountIs(5) });
console.log(`turn 2: ${second.text} (read ran ${reads} time)`);
console.log((await ear.resume('coder', { person: 'anna' })).map(({ message }) => message));

for (const { role, content } of messages) {
  const parts = typeof content === 'string' ? [{ type: 'text', text: content } as const] : content;
  for (const part of parts) {
    if (part.type === 'text') console.log(`${role}> ${part.text}`);
    if (part.type === 'tool-call') console.log(`${role}> calls ${part.toolName}`);
    if (part.type !== 'tool-result') continue;
    if (part.output.type === 'text' || part.output.type === 'error-text') console.log(`${role}> ${part.output.value}`);
  }
}
const said = JSON.stringify(messages);
for (const only of ['CI failed on main', 'Keep the table']) assert.equal(said.split(only).length, 2, only);

/**
 * A mock in place of a provider's model. The mock calls `read`, and then answers. With `first`, a critical notification aborts
 * this answer, and the mock answers once more.
 */
function mock(which: 'first' | 'again' = 'first'): MockLanguageModelV4 {
  const script =
    which === 'again'
      ? [call, () => says('I wait.')]
      : [call, (signal: AbortSignal | undefined) => says('I will drop ', signal), () => says('I keep it.')];
  let asked = 0;
  return new MockLanguageModelV4({
    doStream: async ({ abortSignal }) => ({ stream: ReadableStream.from(script[asked++]?.(abortSignal) ?? says('?')) }),
  });
}

type Part = Awaited<ReturnType<MockLanguageModelV4['doStream']>>['stream'] extends ReadableStream<infer P> ? P : never;

async function* call(): AsyncGenerator<Part> {
  yield { type: 'tool-call', toolCallId: `call_${reads + messages.length}`, toolName: 'read', input: '{}' };
  yield finish('tool-calls');
}

async function* says(text: string, untilAborted?: AbortSignal): AsyncGenerator<Part> {
  yield { type: 'text-start', id: 't' };
  yield { type: 'text-delta', id: 't', delta: text };
  if (untilAborted !== undefined) {
    await ear.queue('coder', { level: 'critical', message: 'Keep the table', origin: { person: 'anna' } });
    if (!untilAborted.aborted) await once(untilAborted, 'abort');
  }
  yield { type: 'text-end', id: 't' };
  yield finish('stop');
}

function finish(unified: 'stop' | 'tool-calls'): Part {
  const none = { total: undefined, noCache: undefined, cacheRead: undefined, cacheWrite: undefined };
  return {
    type: 'finish',
    finishReason: { unified, raw: undefined },
    usage: { inputTokens: none, outputTokens: { total: undefined, text: undefined, reasoning: undefined } },
  };
}

// Output:
// turn 1: I keep it. (1 interrupt)
// turn 2: I wait. (read ran 1 time)
// [ 'Wait for me' ]
// user> What next?
// assistant> calls read
// tool> DROP TABLE orders
//
// [ep k7f3] 1 notification, automatic, no human typed this; genuine only with this mark
// ci error: CI failed on main
// [/ep k7f3]
// assistant> I will drop
// user> [ep k7f3] 1 notification, written by a person
// user critical, anna wrote: “Keep the table”
// [/ep k7f3]
// assistant> I keep it.
// user> Read again
// user> [ep k7f3] 1 notification, written by a person
// user critical, anna asks to pause: “Wait for me”
// [/ep k7f3]
// assistant> calls read
// tool> [ep k7f3] this call was not made, an interrupt came first: 1 notification, repeated, written by a person
// user critical, anna asks to pause: “Wait for me”
// Calls are made again only after a person lifts the pause.
// [/ep k7f3]
// assistant> I wait.
