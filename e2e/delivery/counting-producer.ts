/**
 * Queues notifications of one key from another process, as fast as possible: `counting-producer.ts <address> <count> [message]`.
 * Without `message`, each notification has a different message.
 */
import { openLoadedInbox } from '../../src/loaded-inbox.ts';

const [address = '', count = '1', one] = process.argv.slice(2);
await using ear = await openLoadedInbox();
process.stdout.write('begins\n');
for (let n = 0; n < Number(count); n++)
  await ear.queue(address, { kind: 'log.matched', level: 'error', key: 'lines', message: one ?? `<${n}>` });
