// Runs an agent on one machine of a fleet: `agent.ts DATABASE MODEL ADDRESS [MESSAGE]`. The agent continues a turn that another
// process began, or sends the message. The program prints `open` and the result of the turn, and runs until its input ends.
import { createAgent } from '../../src/agent/agent.ts';
import { DEFAULT_POLICY } from '../../src/core/policy.ts';
import { Inbox } from '../../src/inbox/index.ts';
import { openStore } from '../../src/stores/open.ts';
import { modelOf } from '../agent/apis.ts';

const [db = '', url = '', address = '', message] = process.argv.slice(2);
const say = (line: string): boolean => process.stdout.write(`${line}\n`);
const inbox = new Inbox({ store: await openStore(db), policies: { policy: () => DEFAULT_POLICY }, timeZone: 'UTC' });
const agent = await createAgent({
  model: await modelOf('openai-chat', url),
  earpiece: inbox,
  address,
  maxRetries: 0,
  tools: [
    {
      name: 'work',
      description: 'Works.',
      inputSchema: { type: 'object', properties: {} },
      execute: (_args, { id }) => Promise.resolve({ content: `${id} is done` }),
    },
  ],
});
say('open');
const result = agent.cutOff ? await agent.resume() : message === undefined ? undefined : await agent.send(message);
if (result !== undefined) say(`${result.how} ${result.text}${result.how === 'failed' ? String(result.error) : ''}`);
await new Promise((resolve) => process.stdin.once('end', resolve).resume());
await agent.close();
await inbox.close();
