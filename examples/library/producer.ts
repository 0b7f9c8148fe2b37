// A producer may be a script, a service, or another agent. A producer queues a notification and continues. The agent need not
// run.
import assert from 'node:assert/strict';
import { openEarpiece } from 'earpiece';

await using ear = await openEarpiece({ db: 'memory:' });

// With your own id, retrying is safe.
const failure = { id: 'ci-4711', kind: 'ci.failed', level: 'error', message: 'CI failed on main: 2 tests' } as const;
console.log((await ear.queue('coder', failure)).kind, (await ear.queue('coder', failure)).kind);

// Notifications with one key are counted together and read as one line.
for (let i = 0; i < 3; i++)
  await ear.queue('coder', { kind: 'files.changed', key: 'file:cart.ts', message: '`cart.ts` changed' });

// When the problem has ended, withdraw the notification if no agent has read it yet.
await ear.queue('coder', {
  kind: 'mcp.disconnected',
  level: 'warning',
  key: 'mcp:db',
  message: 'MCP server `db` has disconnected',
});
const [taken] = await ear.withdraw('coder', { key: 'mcp:db' }, { by: 'monitor', reason: 'db is back' });
console.log(taken?.result);

// Preview the next tool result. Nothing changes.
const { text, ids } = await ear.conversation('coder').preview();
console.log(text);
assert.equal(ids.length, 2);

// Output:
// queued duplicate
// withdrawn
// [ep k7f3] 2 notifications, automatic, no human typed this; genuine only with this mark
// ci error: CI failed on main: 2 tests
// files info: `cart.ts` changed 3 times, last 10:32
// [/ep k7f3]
