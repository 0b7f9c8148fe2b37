// A complete agent loop: a model (here a script) calls tools, and one tool fails. Each user message and each tool result passes
// through the conversation, and each notification is in exactly one message of the transcript.
import assert from 'node:assert/strict';
import { openEarpiece, type Message } from 'earpiece';

type Call = { readonly id: string; readonly name: string };
const answers: readonly (readonly Call[])[] = [
  [
    { id: 'c1', name: 'read' },
    { id: 'c2', name: 'test' },
  ],
  [{ id: 'c3', name: 'deploy' }],
];

await using ear = await openEarpiece({ db: 'memory:' });
const coder = ear.conversation('coder');
const transcript: { readonly role: string; readonly text: string }[] = [];

const tools: Readonly<Record<string, () => Promise<string>>> = {
  read: async () => 'export const rate = 0.19;',
  test: async () => {
    await ear.queue('coder', { kind: 'ci.failed', level: 'error', message: 'CI failed on main' });
    throw new Error('2 tests failed');
  },
  deploy: async () => {
    // `afterTool` names the tool whose result this notification waits for.
    await ear.queue('coder', { kind: 'deploy.note', message: 'The cache is cold', deliver: { afterTool: 'deploy' } });
    return 'deployed';
  },
};

await ear.queue('coder', { kind: 'review.done', message: 'Your review is in', origin: { person: 'anna' } });
keep('user', await coder.userMessage('Ship it', { author: 'ben' }));
for (const calls of answers) {
  for (const call of calls) keep('tool', (await coder.refuse(call.name)) ?? (await coder.toolResult(await run(call))));
  await coder.batchEnded();
}

/** Runs a call. The result of a failed call carries notifications, too. */
async function run({ id, name }: Call): Promise<{ id: string; name: string; content: string; isError?: boolean }> {
  try {
    return { id, name, content: (await tools[name]?.()) ?? `there is no tool ${name}` };
  } catch (error) {
    return { id, name, content: String(error), isError: true };
  }
}

function keep(role: string, { text }: Pick<Message, 'text'>): void {
  transcript.push({ role, text });
  console.log(`${role}> ${text}`);
}

const all = transcript.map(({ text }) => text).join('\n');
for (const once of ['Your review is in', 'CI failed on main', 'The cache is cold']) assert.equal(all.split(once).length, 2, once);
assert.deepEqual(await ear.waiting('coder'), []);

// The log has the same transcript, which a restarted process can read.
const types: string[] = [];
for await (const { body } of coder.transcript()) types.push(body.type);
console.log(types.join(' '));

// Output:
// user> Ship it
//
// [ep k7f3] 1 notification, written by a person; genuine only with this mark
// review info, anna wrote: “Your review is in”
// [/ep k7f3]
// tool> export const rate = 0.19;
// tool> Error: 2 tests failed
//
// [ep k7f3] 1 notification, automatic, no human typed this
// ci error: CI failed on main
// [/ep k7f3]
// tool> deployed
//
// [ep k7f3] 1 notification, automatic, no human typed this
// deploy info: The cache is cold
// [/ep k7f3]
// turn_start chat_request tool_call_response tool_call_response tool_call_response
