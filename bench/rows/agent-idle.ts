import { createAgent, type Agent } from '../../src/agent/index.ts';
import { toolCaller } from '../agent/model.ts';
import { collectGarbage } from '../rounds.ts';
import { openInbox } from '../log/ours.ts';
import type { Row } from '../row.ts';

export const row: Row = {
  name: 'agent-idle',
  what: 'memory of an open, idle agent beyond the first, one process, SQLite',
  bar: [{ figure: 'each', is: '<=', value: 65_536 }],
  async run({ quick, folder }) {
    const many = quick ? 50 : 500;
    const inbox = await openInbox(folder);
    const agents: Agent[] = [];
    const open = async (n: number): Promise<void> => {
      agents.push(await createAgent({ model: toolCaller(0), earpiece: inbox, address: `bench/agent#${n}` }));
    };
    const held = (): number => {
      collectGarbage();
      const { heapUsed, external } = process.memoryUsage();
      return heapUsed + external;
    };
    for (let n = 0; n < 10; n++) await open(n);
    const before = held();
    for (let n = 10; n < 10 + many; n++) await open(n);
    const each = (held() - before) / many;
    for (const agent of agents) await agent.close();
    await inbox.close();
    return { figures: { each: { value: Math.round(each), unit: 'bytes' } } };
  },
};
