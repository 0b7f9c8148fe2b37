/**
 * Another process that queues: `producer.ts <address> <count> <everyMs>` prints one JSON line for each notification after its
 * queue has returned, with that time by the machine's monotonic clock, in ms.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { openLoadedInbox } from '../../src/loaded-inbox.ts';

const [address = '', count = '1', everyMs = '0'] = process.argv.slice(2);
await using ear = await openLoadedInbox();
for (let i = 0; i < Number(count); i++) {
  const id = `p${process.pid}-${i}`;
  await ear.queue(address, { id, kind: `test.n${i}`, level: 'error', message: `<${id}>` });
  process.stdout.write(`${JSON.stringify({ id, at: Number(process.hrtime.bigint()) / 1e6 })}\n`);
  if (Number(everyMs) > 0) await pause(Number(everyMs));
}
