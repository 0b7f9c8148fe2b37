/**
 * Queues notifications from another process: `producer.ts <address> <count> <everyMs>`. After each return of `queue`, the program
 * prints one JSON line with the time of the return, in ms of the machine's monotonic clock.
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
