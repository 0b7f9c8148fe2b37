// The MCP gateway in your own program: notifications arrive with the results of the tools behind the gateway.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { openEarpiece } from 'earpiece';
import { inboxRider, startGateway } from 'earpiece/gateway';

await using ear = await openEarpiece({ db: 'memory:' });
const shop = {
  kind: 'stdio',
  name: 'shop',
  command: process.execPath,
  args: [join(import.meta.dirname, 'shop-server.ts')],
} as const;
const rider = inboxRider({ earpiece: ear, agent: 'coder', shared: true });
const gateway = await startGateway({ front: { kind: 'http', port: 0 }, upstreams: [shop], rider });

const { id } = await ear.queue('coder', { kind: 'ci.failed', level: 'error', message: 'CI failed on main: 2 tests' });

// Any MCP client can connect, such as a coding agent's client.
const client = new Client({ name: 'my-agent', version: '1.0.0' });
await client.connect(new StreamableHTTPClientTransport(new URL(gateway.url ?? '')));
const { content } = await client.callTool({ name: 'list_orders', arguments: {} });
for (const block of content) console.log(block.type === 'text' ? block.text : block.type);

const { receipt } = await ear.receipt(id, { until: 'delivered', withinMs: 10_000 });
console.log(receipt);
assert.equal(receipt, 'delivered');
await client.close();
await gateway.close();
await rider.idle();

// Output:
// 3 open orders
// [ep k7f3] 1 notification, automatic, no human typed this; genuine only with this mark
// ci error: CI failed on main: 2 tests
// [/ep k7f3]
// delivered
