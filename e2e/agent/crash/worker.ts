// Runs one life of an agent that will be killed: `worker.ts DATABASE URL API [the last message]`. The process begins or
// continues the talk, and prints `done` when the turn has ended. EARPIECE_FAULT kills the process at a fault point.
import { createAgent } from '../../../src/agent/agent.ts';
import { DEFAULT_POLICY } from '../../../src/core/policy.ts';
import { Inbox } from '../../../src/inbox/index.ts';
import { armFaultsFromEnv } from '../../../src/stores/fault-env.ts';
import { openSqliteStore } from '../../../src/stores/index.ts';
import { modelOf, THINKING, type Api } from '../apis.ts';
import { ADDRESS, CRASH_POLICY } from './story.ts';

const [db = '', url = '', api = '', last] = process.argv.slice(2);
armFaultsFromEnv();
const inbox = new Inbox({
  store: await openSqliteStore({ path: db }),
  policies: { policy: () => ({ ...DEFAULT_POLICY, ...CRASH_POLICY }) },
  timeZone: 'UTC',
});
const agent = await createAgent({
  model: await modelOf(api as Api, url),
  earpiece: inbox,
  address: ADDRESS,
  system: 'You are brief.',
  providerOptions: THINKING,
  // A request that the kill interrupts must not be repeated by this process.
  maxRetries: 0,
  tools: [
    {
      name: 'work',
      description: 'Works.',
      inputSchema: { type: 'object', properties: { at: { type: 'number' } } },
      execute: async (args, { id }) => {
        // The calls take different times, so results may be recorded in another order than the calls.
        await new Promise((resolve) => setTimeout(resolve, id.length % 3));
        if (id.endsWith('7')) throw new Error(`${id} failed`);
        return { content: `${id} is done with ${JSON.stringify(args)}` };
      },
    },
  ],
});
const begun = agent.records.some((record) => record.type === 'chat_request');
const result = begun ? await agent.resume() : await agent.send('Do all of it.');
if (result && result.how !== 'complete') throw new Error(`${result.how}: ${result.error}`);
if (last !== undefined) {
  const ended = await agent.send(last);
  if (ended.how !== 'complete') throw new Error(`${ended.how}: ${ended.error}`);
}
process.stdout.write('done\n');
await agent.close();
await inbox.close();
