// A producer: a script, a service, another agent. It queues and goes on; nothing has to run on the agent's side.
import assert from 'node:assert/strict';
import { openEarpiece } from 'earpiece';

await using ear = await openEarpiece({ db: 'memory:' });
const to = 'shop/coder';

// Your own id makes it safe to send again, after a timeout or a restart.
const failure = { id: 'ci-4711', kind: 'ci.failed', level: 'error', message: 'CI failed on main: 2 tests' } as const;
console.log((await ear.queue(to, failure)).kind, (await ear.queue(to, failure)).kind);

// With a key, what is about one thing is counted and read as one line.
for (let i = 0; i < 3; i++) await ear.queue(to, { kind: 'files.changed', key: 'file:cart.ts', message: '`cart.ts` changed' });

// A state that is over is taken back, if nobody has read it yet.
await ear.queue(to, { kind: 'mcp.disconnected', level: 'warning', key: 'mcp:db', message: 'MCP server `db` has disconnected' });
const [taken] = await ear.withdraw(to, { key: 'mcp:db' }, { by: 'monitor', reason: 'db is back' });
console.log(taken?.result);

// What the next tool result would take along, without taking it.
const { view } = await ear.conversation(to).preview({ at: 'tool_result' });
console.log(view?.text);
assert.equal(view?.items.length, 2);

// Output:
// queued duplicate
// withdrawn
// [ep k7f3] 2 notifications, automatic, no human typed this; genuine only with this mark
// ci error: CI failed on main: 2 tests
// files info: `cart.ts` changed 3 times, last 10:32
// [/ep k7f3]
