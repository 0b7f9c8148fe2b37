// Runs one of several processes that write into one file: `writer.ts queue|insert FOLDER NUMBER TIMES`. The process reports
// that it is ready, waits for a message, and sends the time that each write took.
import { AGENT, message, NO_LIMIT, openInbox } from './ours.ts';
import type { Ran } from './race.ts';
import { openRaw } from './raw.ts';

const [how, folder = '', number = '0', times = '0'] = process.argv.slice(2);
const took = new Float64Array(Number(times));
const write: (run: number) => unknown = how === 'queue' ? await queueing() : inserting();

process.send?.('ready');
process.once('message', () => void run());

async function run(): Promise<void> {
  const before = process.cpuUsage();
  for (let i = 0; i < took.length; i++) {
    const start = performance.now();
    const written = write(Number(number) * took.length + i);
    if (written instanceof Promise) await written;
    took[i] = performance.now() - start;
  }
  const { user, system } = process.cpuUsage(before);
  process.send?.({ took, cpuUs: user + system } satisfies Ran, () => process.exit());
}

async function queueing(): Promise<(run: number) => Promise<unknown>> {
  const inbox = await openInbox(folder, { policy: NO_LIMIT });
  return (run) => inbox.queue(AGENT, { kind: 'tool.stopped', message: message(run), data: { run } });
}

function inserting(): (run: number) => void {
  const raw = openRaw(folder, { busyMs: 60_000 });
  return (run) => raw.insert(JSON.stringify({ type: 'system_notification_queued', message: message(run), data: { run } }));
}
