// Three sources that notify an agent. The agent starts a background command (a handle). Your program runs a command
// (`runAndTell`). A file changes after the agent has read it (`filesSource`).
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { MockLanguageModelV4 } from 'ai/test';
import { openEarpiece } from 'earpiece';
import { createAgent, handleRegistry, runTool } from 'earpiece/agent';
import { filesSource, runAndTell } from 'earpiece/sources';

using cleanup = new DisposableStack();
const root = mkdtempSync(join(tmpdir(), 'earpiece-'));
cleanup.defer(() => rmSync(root, { recursive: true }));
await using ear = await openEarpiece({ db: 'memory:', cwd: root });

// 1. A handle: the model starts the command with `background: true` and gets an id at once. The turn waits for the end of the
// command, and the next turn delivers the notification.
const build = { command: 'sleep 2; echo "cart rounds down"; exit 3', background: true, id: 'build' };
const script = [calls('run', build), says('It is building.'), says('The build failed.')];
const model = new MockLanguageModelV4({ doStream: async () => ({ stream: ReadableStream.from(script.shift() ?? says('?')) }) });
// #region handle
await using handles = handleRegistry({
  earpiece: ear,
  address: 'builder',
  folder: join(root, 'handles'),
  tools: [runTool({ onTurnEnd: 'await' })],
});
await using agent = await createAgent({
  model,
  earpiece: ear,
  address: 'builder',
  tools: handles.tools,
  onTurnEnd: (turn) => handles.endOfTurn(turn),
});
// #endregion
console.log((await agent.send('Build it')).text);
console.log((await agent.send('How did it end?')).text);
const last = JSON.stringify(model.doStreamCalls.at(-1)?.prompt);
console.log(/Background run[^\\]*\\?"[^\\]*\\?"[^\\]*/u.exec(last)?.[0].replaceAll('\\', ''));

// 2. A command that ends with an error.
const stdout = new PassThrough().resume();
const command = { command: 'sh', args: ['-c', 'echo 2 tests failed; exit 1'], name: 'tests', stdout };
const { exitCode, telling } = await runAndTell({ earpiece: ear, subject: 'coder', ...command });
console.log(exitCode, telling.kind);

// 3. A file that changes after the agent has read it.
const files = filesSource({ earpiece: ear, subject: 'coder', root });
writeFileSync(join(root, 'cart.ts'), 'one');
await files.start();
await files.noteRead('cart.ts');
writeFileSync(join(root, 'cart.ts'), 'two');
const types = ['system_notification_queued'] as const;
for await (const _queued of ear.watch({ of: 'coder', types, after: 0, signal: AbortSignal.timeout(20_000) }))
  if ((await ear.waiting('coder')).length === 2) break;
await files.stop();

const { text } = await ear.conversation('coder').toolResult({ id: 'c1', content: 'ok' });
console.log(text);
assert.match(text, /cart\.ts/u);

type Part = Awaited<ReturnType<MockLanguageModelV4['doStream']>>['stream'] extends ReadableStream<infer P> ? P : never;

function* calls(toolName: string, input: object): Generator<Part> {
  yield { type: 'tool-call', toolCallId: 'c1', toolName, input: JSON.stringify(input) };
  yield finish('tool-calls');
}

function* says(text: string): Generator<Part> {
  yield { type: 'text-start', id: 't' };
  yield { type: 'text-delta', id: 't', delta: text };
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
// It is building.
// The build failed.
// Background run "build" failed with exit code 3: cart rounds down
// 1 told
// ok
//
// [ep k7f3] 2 notifications, automatic, no human typed this; genuine only with this mark
// process error: tests failed with exit code 1 after 42 ms: 2 tests failed
//     | 2 tests failed
// file warning: file_changed: cart.ts
// [/ep k7f3]
