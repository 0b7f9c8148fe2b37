/**
 * Waits for a line on stdin, then appends `count` records to a log in a database file. Prints `ready` first and the result last.
 * Run: `node appender.ts <path> <log> <name> <count>`.
 */
import { once } from 'node:events';
import { said } from '../../src/stores/contract/drafts.ts';
import type { LogKey } from '../../src/core/address.ts';
import { openSqliteStore } from '../../src/stores/index.ts';

const [path = '', log = '', name = '', count = '0'] = process.argv.slice(2);
const store = await openSqliteStore({ path, busyMs: 20_000 });
process.stdout.write('ready\n');
await once(process.stdin, 'data');
const took: number[] = [];
for (let i = 0; i < Number(count); i++) {
  const started = performance.now();
  await store.append(log as LogKey, [said(`${name}-${i}`)]);
  took.push(performance.now() - started);
}
// The third-longest time is reported, because the machine, and not the store, causes the longest delays.
process.stdout.write(`${JSON.stringify({ lateMs: took.toSorted((a, b) => b - a)[2] })}\n`);
await store.close();
process.stdin.destroy();
