// The HTTP API in your own program, and its typed client for other programs. `earpiece serve` runs the same API with the console.
import assert from 'node:assert/strict';
import { openEarpiece } from 'earpiece';
import { ApiError, createClient } from 'earpiece/client';
import { createServer } from 'earpiece/server';

await using ear = await openEarpiece({ db: 'memory:' });
const server = createServer({ earpiece: ear });
const { url } = await server.listen({ port: 0 });

// A token for a CI job, which may only queue and cannot read.
const { token } = await server.tokens.create({ kind: 'send', name: 'ci', project: ear.project });
const ci = createClient({ url, token });
const { id } = await ci.queue({ to: `${ear.project}/coder`, kind: 'ci.failed', level: 'error', message: 'CI failed on main' });
const refused = await ci.notifications({ log: `${ear.project}/coder` }).catch((error: unknown) => error);
console.log(refused instanceof ApiError ? refused.code : refused);

// The agent may run in another process with the same database. Here, the agent runs in this process.
console.log((await ear.conversation('coder').toolResult({ id: 'call_1', content: 'deployed' })).text);

const { token: all } = await server.tokens.create({ kind: 'project', name: 'me', project: ear.project });
const { receipt } = await createClient({ url, token: all }).receipt(id, { until: 'delivered', withinMs: 5_000 });
console.log(receipt);
assert.equal(receipt, 'delivered');
await server.stop();

// Output:
// forbidden
// deployed
//
// [ep k7f3] 1 notification, automatic, no human typed this; genuine only with this mark
// ci error: CI failed on main
// [/ep k7f3]
// delivered
