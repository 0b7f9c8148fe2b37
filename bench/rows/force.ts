import { fork } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import type { LanguageModelV4 } from '@ai-sdk/provider';
import { createAgent, type Agent } from '../../src/agent/agent.ts';
import { DEFAULT_POLICY } from '../../src/core/policy.ts';
import { Inbox } from '../../src/inbox/index.ts';
import { memoryStore, openSqliteStore } from '../../src/stores/index.ts';
import { modelOf } from '../../e2e/agent/apis.ts';
import { cuttingModel } from '../agent/cut.ts';
import { percentile } from '../rounds.ts';
import type { Row } from '../row.ts';

const policies = { policy: () => DEFAULT_POLICY };

export const row: Row = {
  name: 'force',
  what: 'from the call of queue with a critical to the aborted request (same process), to the socket that the model’s server sees closed (another)',
  bar: [
    { figure: 'same process p99', is: '<=', value: 5 },
    { figure: 'another process p99', is: '<=', value: 50 },
  ],
  async run({ quick, folder }) {
    const times = quick ? 30 : 300;
    const figures = (name: string, took: readonly number[]) => ({
      [`${name} p50`]: { value: percentile(took, 50), unit: 'ms' as const },
      [`${name} p99`]: { value: percentile(took, 99), unit: 'ms' as const },
      [`${name} max`]: { value: percentile(took, 100), unit: 'ms' as const },
    });
    return {
      figures: {
        ...figures('same process', await inOneProcess(times)),
        ...figures('another process', await acrossProcesses(times, path.join(folder, 'force.db'))),
      },
    };
  },
};

/**
 * Measures in one process by observing the request itself. The model's server would notice the closed socket only when the
 * process is idle.
 */
async function inOneProcess(times: number): Promise<number[]> {
  const took: number[] = [];
  let to = '';
  let began = 0n;
  await using inbox = new Inbox({ store: memoryStore(), policies });
  const watching: typeof fetch = (input, init) => {
    init?.signal?.addEventListener('abort', () => took.push(Number(process.hrtime.bigint() - began) / 1e6));
    return fetch(input, init);
  };
  await using model = await cuttingModel(
    inbox,
    () => {
      began = process.hrtime.bigint();
      return to;
    },
    () => {},
  );
  await talk(inbox, await modelOf('anthropic', model.url, watching), times, async (address) => void (to = address));
  return counted(took, times);
}

/** Measures with the model's server in another process, so that the measurement does not include the agent's next steps. */
async function acrossProcesses(times: number, db: string): Promise<number[]> {
  await using inbox = new Inbox({ store: await openSqliteStore({ path: db }), policies });
  const other = fork(path.join(import.meta.dirname, '../agent/cutting-model.ts'), [db], { execArgv: [] });
  const [{ url }] = (await once(other, 'message')) as [{ url: string }];
  const took: number[] = [];
  let ready = (): void => {};
  other.on('message', (message: { ms?: number; ready?: true }) => {
    if (message.ms !== undefined) took.push(message.ms);
    else ready();
  });
  await talk(inbox, await modelOf('anthropic', url), times, async (address) => {
    const answered = new Promise<void>((resolve) => (ready = resolve));
    other.send(address);
    await answered;
  });
  other.disconnect();
  await once(other, 'exit');
  return counted(took, times);
}

/** Runs turns: the first answer of each turn is aborted in the middle, and the second answer ends the turn. */
async function talk(
  inbox: Inbox,
  model: LanguageModelV4,
  times: number,
  atNext: (address: string) => Promise<void>,
): Promise<void> {
  let agent: Agent | undefined;
  for (let i = 0; i < times; i++) {
    // Requests grow with the conversation, and this growth is not measured here. So a new conversation begins every 20 turns.
    if (i % 20 === 0) {
      await agent?.close();
      const address = `shop/coder#talk-${i}`;
      await atNext(address);
      agent = await createAgent({ model, earpiece: inbox, address, maxRetries: 0 });
    }
    await agent?.send('clean up');
  }
  await agent?.close();
}

function counted(took: readonly number[], times: number): number[] {
  if (took.length < times) throw new Error(`only ${took.length} of ${times} answers were cut off`);
  return [...took];
}
