/**
 * Queues one notification after the other into a log until stdin ends, and prints each id that the store acknowledged. Run: node
 * contracts/producer.ts <db> <log> <name>
 */
import type { LogKey } from '../src/core/address.ts';
import { openStore } from '../src/stores/open.ts';
import { queued } from '../src/stores/contract/drafts.ts';

const [db = '', log = '', name = ''] = process.argv.slice(2);
const store = await openStore(db);
let stopped = false;
process.stdin.on('end', () => (stopped = true)).resume();
for (let i = 0; !stopped; i++) {
  const id = `${name}-${i}`;
  const appended = await store.append(log as LogKey, [queued(id)]);
  if (appended.kind === 'appended') process.stdout.write(`${id}\n`);
  await new Promise(setImmediate);
}
await store.close();
