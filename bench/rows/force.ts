import path from 'node:path';
import { createAgent, type Agent } from '../../src/agent/agent.ts';
import { DEFAULT_POLICY } from '../../src/core/policy.ts';
import { Inbox } from '../../src/inbox/index.ts';
import { memoryStore, openSqliteStore } from '../../src/stores/index.ts';
import { modelOf } from '../../e2e/agent/apis.ts';
import { elsewhere } from '../../e2e/agent/elsewhere.ts';
import { startModel, type Model } from '../../e2e/model/server.ts';
import { percentile } from '../rounds.ts';
import type { Row } from '../row.ts';

const CRITICAL = { kind: 'user.stop', level: 'critical', message: 'stop that' } as const;

export const row: Row = {
  name: 'force',
  what: 'from the call of queue with a critical to the closed socket of the model’s stream, as the model’s server sees it',
  bar: [
    { figure: 'same process p99', is: '<=', value: 5 },
    { figure: 'another process p99', is: '<=', value: 50 },
  ],
  async run({ quick, folder }) {
    const times = quick ? 30 : 300;
    const here = new Inbox({ store: memoryStore(), policies: { policy: () => DEFAULT_POLICY } });
    const inProcess = await measure(here, times, async (to) => {
      const began = process.hrtime.bigint();
      await here.queue(to, CRITICAL);
      return began;
    });
    const db = path.join(folder, 'force.db');
    await using other = await elsewhere(db);
    const shared = new Inbox({ store: await openSqliteStore({ path: db }), policies: { policy: () => DEFAULT_POLICY } });
    const across = await measure(shared, times, (to) => other.queue(to, CRITICAL));
    const figures = (name: string, took: readonly number[]) => ({
      [`${name} p50`]: { value: percentile(took, 50), unit: 'ms' as const },
      [`${name} p99`]: { value: percentile(took, 99), unit: 'ms' as const },
      [`${name} max`]: { value: percentile(took, 100), unit: 'ms' as const },
    });
    return { figures: { ...figures('same process', inProcess), ...figures('another process', across) } };
  },
};

/** Each turn's first answer is cut off in the middle, its second ends it. `queue` gives when it began. */
async function measure(inbox: Inbox, times: number, queue: (to: string) => Promise<bigint>): Promise<number[]> {
  const took: number[] = [];
  let agent: Agent | undefined;
  await using model: Model = await startModel((_request, n) =>
    n % 2 === 1
      ? { says: [{ kind: 'text', text: 'I stop' }] }
      : {
          says: [{ kind: 'text', text: 'I will delete all of it' }],
          at: [
            {
              part: 0,
              delta: 2,
              do: async ({ cutOff }) => {
                const began = await queue(agent?.address ?? '');
                const ended = await cutOff;
                if (ended !== undefined) took.push(Number(ended - began) / 1e6);
              },
            },
          ],
        },
  );
  for (let i = 0; i < times; i++) {
    // Another conversation now and then: requests grow with it, and are not what is measured.
    if (i % 20 === 0) {
      await agent?.close();
      const address = `shop/coder#talk-${i}`;
      agent = await createAgent({ model: await modelOf('anthropic', model.url), earpiece: inbox, address, maxRetries: 0 });
    }
    await agent?.send('clean up');
  }
  await agent?.close();
  await inbox.close();
  if (took.length < times) throw new Error(`only ${took.length} of ${times} answers were cut off`);
  return took;
}
