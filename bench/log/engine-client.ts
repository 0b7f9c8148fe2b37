// Runs two clients of a database server in one process: `engine-client.ts queue|same|one URL NUMBER MS WARM`. After `WARM`
// writes of each client, the process reports that it is ready, waits for a message, and sends the time of each write.
import { data, message } from './ours.ts';
import { agentOf, openAt, openRawAt, type How, type Raw } from './engine.ts';
import type { Ran } from './race.ts';

const [how, url = '', number = '0', ms = '0', warm = '0'] = process.argv.slice(2) as [How, ...string[]];
const took: number[] = [];
const { write, close } = how === 'queue' ? await queueing() : await openRawAt(url, how, number);
await Promise.all([0, 1].map(warmUp));

process.send?.('ready');
process.once('message', () => void run());

async function warmUp(which: number): Promise<void> {
  for (let n = 0; n < Number(warm); n++) await write(which, n);
}

async function run(): Promise<void> {
  const before = process.cpuUsage();
  const until = performance.now() + Number(ms);
  const client = async (which: number): Promise<void> => {
    for (let n = Number(warm); performance.now() < until; n++) {
      const start = performance.now();
      await write(which, n);
      took.push(performance.now() - start);
    }
  };
  await Promise.all([client(0), client(1)]);
  const { user, system } = process.cpuUsage(before);
  await close();
  process.send?.({ took: Float64Array.from(took), cpuUs: user + system } satisfies Ran, () => process.exit());
}

async function queueing(): Promise<Raw> {
  const inbox = await openAt(url);
  return {
    write: (which, n) => inbox.queue(agentOf(number, which, n), { kind: 'tool.stopped', message: message(n), data: data(n) }),
    close: () => inbox.close(),
  };
}
