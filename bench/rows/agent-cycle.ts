import { isStepCount, jsonSchema, streamText, tool } from 'ai';
import { createAgent } from '../../src/agent/index.ts';
import { DEFAULT_POLICY } from '../../src/core/policy.ts';
import { Inbox } from '../../src/inbox/index.ts';
import { memoryStore } from '../../src/stores/index.ts';
import { versus } from '../rounds.ts';
import type { Row } from '../row.ts';
import { toolCaller } from '../agent/model.ts';

const CYCLES = 50;

export const row: Row = {
  name: 'agent-cycle',
  what: `a turn of ${CYCLES} tool calls with a model that answers at once, in our loop on a log in memory. The other side is streamText of the AI SDK, which keeps no log`,
  bar: [{ figure: 'ratio', is: '<=', value: 1.5 }],
  async run({ quick }) {
    let n = 0;
    const ours = async (): Promise<number> => {
      const inbox = new Inbox({ store: memoryStore(), policies: { policy: () => DEFAULT_POLICY } });
      const echo = {
        name: 'echo',
        description: 'echo',
        inputSchema: { type: 'object', properties: {} },
        execute: async () => ({ content: 'ok' }),
      };
      const agent = await createAgent({
        model: toolCaller(CYCLES),
        earpiece: inbox,
        address: `bench/agent#${n++}`,
        tools: [echo],
      });
      const start = performance.now();
      const { cycles, how } = await agent.send('go');
      const took = performance.now() - start;
      if (cycles !== CYCLES + 1) throw new Error(`the turn ended ${how} after ${cycles} cycles`);
      await agent.close();
      await inbox.close();
      return took / CYCLES;
    };
    const theirs = async (): Promise<number> => {
      const echo = tool({
        description: 'echo',
        inputSchema: jsonSchema({ type: 'object', properties: {} }),
        execute: async () => 'ok',
      });
      const start = performance.now();
      const result = streamText({ model: toolCaller(CYCLES), prompt: 'go', tools: { echo }, stopWhen: isStepCount(CYCLES + 1) });
      await result.consumeStream();
      const took = performance.now() - start;
      const steps = (await result.steps).length;
      if (steps !== CYCLES + 1) throw new Error(`their loop ended after ${steps} steps`);
      return took / CYCLES;
    };
    return versus({ ours, theirs, unit: 'ms', rounds: quick ? 3 : 15 });
  },
};
