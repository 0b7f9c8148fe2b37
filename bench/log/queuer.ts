// Queues notifications at intervals, like real events: `queuer.ts FOLDER TIMES`. Each notification contains the time at which
// `queue` was called.
import { setTimeout as sleep } from 'node:timers/promises';
import { AGENT, openInbox } from './ours.ts';

const [folder = '', times = '0'] = process.argv.slice(2);
await using inbox = await openInbox(folder);
for (let i = 0; i < Number(times); i++) {
  await sleep(Math.random() * 12);
  await inbox.queue(AGENT, { kind: 'timer.fired', message: `number ${i}`, data: { since: String(process.hrtime.bigint()) } });
}
