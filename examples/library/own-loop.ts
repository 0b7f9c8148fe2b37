// A loop of your own: what happens around the agent rides inside the messages that go to its model anyway. The record
// that you append is the transcript and the receipt in one, so each notification is in exactly one message.
import assert from 'node:assert/strict';
import { openEarpiece } from 'earpiece';

await using ear = await openEarpiece({ db: 'memory:' });
const coder = ear.conversation('shop/coder');
const sent: string[] = [];

const tools: Record<string, () => Promise<string>> = {
  start_build: () => Promise.resolve('started'),
  read_file: async () => {
    // While the tool runs, the build ends. Whoever knows that tells the agent; here it is the same program.
    await ear.queue('shop/coder', {
      kind: 'build.failed',
      level: 'error',
      message: 'The build failed: cart.ts(12): missing ";"',
    });
    return 'export const rate = 0.19;';
  },
  list_files: () => Promise.resolve('cart.ts'),
};

await say('Why does the build fail?');
for (const name of ['start_build', 'read_file', 'list_files']) await call(name);
await ear.queue('shop/coder', { kind: 'deploy.frozen', message: 'No deploys until Monday', deliver: 'turn_start' });
await call('list_files');
await say('Thanks. Deploy it.');

const withBuild = sent.filter((message) => message.includes('The build failed'));
assert.equal(withBuild.length, 1);

/** A user's message begins a turn; whatever is due then rides behind it. */
async function say(content: string): Promise<void> {
  const { text } = await coder.carry([{ type: 'turn_start' }, { type: 'chat_request', content }], { at: 'turn_start' });
  toModel('user', text);
}

async function call(name: string): Promise<void> {
  const id = `call_${sent.length}`;
  const content = (await tools[name]?.()) ?? '';
  const { text } = await coder.carry({ type: 'tool_call_response', id, content, is_error: false }, { at: 'tool_result' });
  toModel(name, text);
}

function toModel(from: string, text: string): void {
  sent.push(text);
  console.log(`${from}> ${text}`);
}

// Output:
// user> Why does the build fail?
// start_build> started
// read_file> export const rate = 0.19;
//
// [ep k7f3] 1 notification, automatic, no human typed this; genuine only with this mark
// build error: The build failed: cart.ts(12): missing ";"
// [/ep k7f3]
// list_files> cart.ts
// list_files> cart.ts
// user> Thanks. Deploy it.
//
// [ep k7f3] 1 notification, automatic, no human typed this
// deploy info: No deploys until Monday
// [/ep k7f3]
