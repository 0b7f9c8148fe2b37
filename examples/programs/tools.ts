// The tools of an agent in your own program: files that the agent reads, the agent's own notifications, and a background tool
// that runs one fixed command.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MockLanguageModelV4 } from 'ai/test';
import { openEarpiece } from 'earpiece';
import { createAgent, fileTools, handleRegistry, openModel, ownTools, processTool, type Agent } from 'earpiece/agent';
import { filesSource } from 'earpiece/sources';

using cleanup = new DisposableStack();
const root = mkdtempSync(join(tmpdir(), 'earpiece-'));
cleanup.defer(() => rmSync(root, { recursive: true }));
writeFileSync(join(root, 'cart.ts'), 'export const rate = 0.19;\n');
await using ear = await openEarpiece({ db: 'memory:', cwd: root });

const script = [
  calls('read_file', { path: 'cart.ts' }),
  calls('tests', { file: 'cart.test.ts' }),
  calls('get_notifications', {}),
  says('All tests pass.'),
];
const mock = new MockLanguageModelV4({ doStream: async () => ({ stream: ReadableStream.from(script.shift() ?? says('?')) }) });
// #region model
// `openModel` takes the key from the environment: EARPIECE_EXAMPLE_MODEL=openai:gpt-5 OPENAI_API_KEY=… node tools.ts
const name = process.env['EARPIECE_EXAMPLE_MODEL'];
const model = name === undefined ? mock : await openModel(name, process.env);
// #endregion

// #region tools
// If another program changes a file after the agent has read it, the agent is notified.
const files = filesSource({ earpiece: ear, subject: 'coder', root });
await files.start();

// The model chooses the file, and your program chooses the command. The shell does not read the name of the file as a command.
const tests = processTool({
  name: 'tests',
  description: 'Runs the tests of one file.',
  parameters: { properties: { file: { type: 'string' } }, required: ['file'] },
  check: ({ file }) => (typeof file === 'string' ? undefined : 'file must be the path of a test'),
  commandOf: ({ file }) => ({ command: 'echo "3 tests passed in $FILE"', cwd: root, env: { FILE: file as string } }),
});
await using handles = handleRegistry({ earpiece: ear, address: 'coder', folder: join(root, 'handles'), tools: [tests] });

const agent: Agent = await createAgent({
  model,
  earpiece: ear,
  address: 'coder',
  tools: [...fileTools({ root, files }), ...ownTools({ agent: () => agent }), ...handles.tools],
  onTurnEnd: (turn) => handles.endOfTurn(turn),
});
// #endregion
const events = agent.events();
const watching = (async () => {
  for await (const event of events) if (event.type === 'tool_ended') console.log(`${event.name}> ${event.content.trim()}`);
})();

const { text } = await agent.send('Do the tests pass?');
console.log(text);
assert.equal(script.length, 0);
events.close();
await watching;
await agent.close();
await files.stop();

type Part = Awaited<ReturnType<MockLanguageModelV4['doStream']>>['stream'] extends ReadableStream<infer P> ? P : never;

function* calls(toolName: string, input: object): Generator<Part> {
  yield { type: 'tool-call', toolCallId: `call_${toolName}`, toolName, input: JSON.stringify(input) };
  yield finish('tool-calls');
}

function* says(answer: string): Generator<Part> {
  yield { type: 'text-start', id: 't' };
  yield { type: 'text-delta', id: 't', delta: answer };
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
// read_file> export const rate = 0.19;
// tests> 3 tests passed in cart.test.ts
// [exit code 0]
// get_notifications> {"success":true,"count":0,"notifications":[]}
// All tests pass.
