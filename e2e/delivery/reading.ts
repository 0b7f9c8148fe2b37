/**
 * Opens the store in a thread, and waits for a line on stdin. Then begins a write, calls several reads without a
 * time limit, and prints the result of each read: the code of its error, or "read".
 */
import { once } from 'node:events';
import type { ConversationId, LogKey } from '../../src/core/address.ts';
import { EarpieceError } from '../../src/core/errors.ts';
import { openThreadStore } from '../../src/stores/thread/store.ts';

const LOG = 'shop/coder' as LogKey;
const MAIN = 'main' as ConversationId;
const store = await openThreadStore({ path: process.argv[2] ?? '', busyMs: 300 });
process.stdout.write('ready\n');
await once(process.stdin, 'data');
const written = store.append(LOG, [{ type: 'turn_start' }]);
const reads = {
  items: () => store.items(LOG, { kind: 'open' }),
  withheld: () => store.withheld(LOG, MAIN),
  secret: () => store.secret(),
};
const results = await Promise.all(
  Object.entries(reads).map(async ([name, read]) => {
    const result = await read().then(
      () => 'read',
      (error: unknown) => (error instanceof EarpieceError ? error.code : String(error)),
    );
    return [name, result] as const;
  }),
);
process.stdout.write(`${JSON.stringify(Object.fromEntries(results))}\n`);
await written;
await store.close();
