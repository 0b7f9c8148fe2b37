// Two clients of a database server in one process: `engine-client.ts queue|insert URL NUMBER MS`. After `WARM` writes, the process
// reports that it is ready, waits for a message, and sends the time of each write.
import { AGENT, data, message } from './ours.ts';
import { openAt, openRawAt } from './engine.ts';
import type { Ran } from './race.ts';

const [how, url = '', number = '0', ms = '0'] = process.argv.slice(2);
const body = JSON.stringify({ type: 'system_notification_queued', kind: 'tool.stopped', message: message(1), data: data(1) });
const took: number[] = [];
const { write, close } = how === 'queue' ? await queueing() : await openRawAt(url, number, body);
/** The number of writes of each client after which the code is compiled and the connections are open. */
const WARM = 300;
await Promise.all([0, 1].map(warm));

process.send?.('ready');
process.once('message', () => void run());

async function warm(which: number): Promise<void> {
  for (let n = 0; n < WARM; n++) await write(which, n);
}

async function run(): Promise<void> {
  const before = process.cpuUsage();
  const until = performance.now() + Number(ms);
  const client = async (which: number): Promise<void> => {
    for (let n = WARM; performance.now() < until; n++) {
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

async function queueing() {
  const inbox = await openAt(url);
  return {
    // Each client queues for a separate agent, and for the next agent after 500 notifications.
    write: (which: number, n: number): Promise<unknown> =>
      inbox.queue(`${AGENT}-${number}-${which}-${Math.floor(n / 500)}`, {
        kind: 'tool.stopped',
        message: message(n),
        data: data(n),
      }),
    close: () => inbox.close(),
  };
}
