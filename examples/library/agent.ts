// An agent in a few lines: any AI SDK model, your tools, and a log from which the agent continues after a restart. Notifications
// arrive with the results of its tools.
import assert from 'node:assert/strict';
import { MockLanguageModelV4 } from 'ai/test';
import { openEarpiece } from 'earpiece';
import { createAgent, type Tool } from 'earpiece/agent';

await using ear = await openEarpiece({ db: 'memory:' });

const deploy: Tool = {
  name: 'deploy',
  description: 'Deploys the shop',
  inputSchema: { type: 'object', properties: {} },
  async execute() {
    await ear.queue('deployer', { kind: 'ci.failed', level: 'error', message: 'CI failed on main: 3 tests' });
    return { content: 'deployed' };
  },
};

// A mock in place of `anthropic('…')` or `openai('…')`: a model that calls the tool once and then answers.
const model = new MockLanguageModelV4({
  doStream: async ({ prompt }) => ({
    stream: ReadableStream.from(prompt.some(({ role }) => role === 'tool') ? answer() : call()),
  }),
});

await using agent = await createAgent({ model, earpiece: ear, address: 'deployer', tools: [deploy] });
const events = agent.events();
const watching = (async () => {
  for await (const event of events) {
    if (event.type === 'tool_started') console.log(`calls ${event.name}`);
    if (event.type === 'delivered') console.log(`reads ${event.text}`);
    if (event.type === 'turn_ended') console.log(`ended ${event.how} after ${event.cycles} requests`);
  }
})();

const { text } = await agent.send('Deploy it');
console.log(`says ${text}`);
events.close();
await watching;

const last = JSON.stringify(model.doStreamCalls.at(-1)?.prompt);
assert.equal(last.split('CI failed on main').length - 1, 1);

type Part = Awaited<ReturnType<typeof model.doStream>>['stream'] extends ReadableStream<infer P> ? P : never;

function* call(): Generator<Part> {
  yield { type: 'tool-call', toolCallId: 'call_1', toolName: 'deploy', input: '{}' };
  yield finish('tool-calls');
}

function* answer(): Generator<Part> {
  yield { type: 'text-start', id: 't' };
  yield { type: 'text-delta', id: 't', delta: 'Deployed, but the tests fail on main.' };
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
// calls deploy
// reads [ep k7f3] 1 notification, automatic, no human typed this; genuine only with this mark
// ci error: CI failed on main: 3 tests
// [/ep k7f3]
// ended complete after 2 requests
// says Deployed, but the tests fail on main.
