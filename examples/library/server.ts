// The HTTP API inside of a program of yours, and its typed client, which is all that another program needs. `earpiece serve`
// is the same with the console.
import assert from 'node:assert/strict';
import { openEarpiece } from 'earpiece';
import { ApiError, createClient } from 'earpiece/client';
import { createServer } from 'earpiece/server';

await using ear = await openEarpiece({ db: 'memory:' });
const server = createServer({ inbox: ear, emitter: ear.bus, project: 'shop', version: '1.0.0' });
const { url } = await server.listen({ port: 0 });

// What may queue and nothing else: for a CI job, say.
const { token } = await server.tokens.create({ kind: 'send', name: 'ci', project: 'shop' });
const ci = createClient({ url, token });
const { id } = await ci.queue({ to: 'shop/coder', kind: 'ci.failed', level: 'error', message: 'CI failed on main' });
const refused = await ci.notifications({ log: 'shop/coder' }).catch((error: unknown) => error);
console.log(refused instanceof ApiError ? refused.code : refused);

// The agent is in this very process; it may as well be in another one, with the same database.
const result = { type: 'tool_call_response', id: 'call_1', content: 'deployed', is_error: false };
console.log((await ear.conversation('shop/coder').carry(result, { at: 'tool_result' })).text);

const { token: all } = await server.tokens.create({ kind: 'project', name: 'me', project: 'shop' });
const { receipt } = await createClient({ url, token: all }).receipt(id, { until: 'delivered', waitS: 5 });
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
