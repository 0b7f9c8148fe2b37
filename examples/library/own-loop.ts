// Your own loop: notifications arrive in the messages that your program sends to the model anyway. You need two calls at the
// start, and four in the loop.
import assert from 'node:assert/strict';
import { EarpieceError, openEarpiece } from 'earpiece';

await using ear = await openEarpiece({ db: 'memory:' });
const coder = ear.conversation('coder');

const tools: Record<string, () => Promise<string>> = {
  read_file: async () => {
    // While the tool runs, the build ends. Usually another program would queue this notification.
    await ear.queue('coder', { kind: 'build.failed', level: 'error', message: 'The build failed: cart.ts(12): missing ";"' });
    return 'export const rate = 0.19;';
  },
  list_files: () => Promise.resolve('cart.ts'),
  deploy: () => Promise.resolve('deployed'),
};
const sent: string[] = [];

await user('Why does the build fail?');
await batch('read_file', 'list_files');
await ear.queue('coder', { level: 'critical', message: 'Stop: the database is being moved', origin: { person: 'anna' } });
await batch('deploy', 'list_files');
await batch('list_files');

assert.equal(sent.filter((message) => message.includes('The build failed')).length, 1);

// #region loop
/** A message from the user begins a turn. */
async function user(content: string): Promise<void> {
  const { text } = await orPlain(coder.userMessage(content), { text: content });
  toModel('user', text);
}

/** Runs the tool calls of one answer of the model. */
async function batch(...names: readonly string[]): Promise<void> {
  for (const name of names) {
    const refusal = await orPlain(coder.refuse(name), undefined);
    const { text } = refusal ?? (await resultOf(`call_${sent.length}`, await run(name)));
    toModel(name, text);
  }
  await orPlain(coder.batchEnded(), undefined);
}

async function resultOf(id: string, content: string): Promise<{ readonly text: string }> {
  return orPlain(coder.toolResult({ id, content }), { text: content });
}

/** If the database does not answer, your loop continues without notifications. The notifications arrive with a later message. */
async function orPlain<T, P>(call: Promise<T>, plain: P): Promise<T | P> {
  return call.catch((error: unknown) => {
    if (error instanceof EarpieceError && error.code === 'store_unavailable') return plain;
    throw error;
  });
}
// #endregion

async function run(name: string): Promise<string> {
  return (await tools[name]?.()) ?? `there is no tool ${name}`;
}

function toModel(from: string, text: string): void {
  sent.push(text);
  console.log(`${from}> ${text}`);
}

// Output:
// user> Why does the build fail?
// read_file> export const rate = 0.19;
//
// [ep k7f3] 1 notification, automatic, no human typed this; genuine only with this mark
// build error: The build failed: cart.ts(12): missing ";"
// [/ep k7f3]
// list_files> cart.ts
// deploy> [ep k7f3] this call was not made, an interrupt came first: 1 notification, written by a person
// user critical, anna wrote: “Stop: the database is being moved”
// [/ep k7f3]
// list_files> [ep k7f3] this call was not made, an interrupt came first: 1 notification, written by a person
// user critical, anna wrote: “Stop: the database is being moved”
// [/ep k7f3]
// list_files> cart.ts
