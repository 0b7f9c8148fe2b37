// An MCP server that the gateway wraps, and a real MCP client. A notification arrives with a tool's result. A critical
// notification refuses a call, so the server never sees that call.
import assert from 'node:assert/strict';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { openEarpiece } from 'earpiece';
import { inboxRider, startGateway } from 'earpiece/gateway';

if (process.argv[2] === 'serve') await serve();
else await use();

/** Runs as the MCP server that the gateway starts from this same file. */
async function serve(): Promise<void> {
  let calls = 0;
  const server = new McpServer({ name: 'counter', version: '1.0.0' });
  server.registerTool('count', { description: 'Counts its calls' }, () => ({
    content: [{ type: 'text', text: `call ${++calls}` }],
  }));
  await server.connect(new StdioServerTransport());
}

async function use(): Promise<void> {
  await using ear = await openEarpiece({ db: 'memory:' });
  const rider = inboxRider({ earpiece: ear, agent: 'coder', shared: true });
  const args = [...process.execArgv, import.meta.filename, 'serve'];
  const gateway = await startGateway({
    front: { kind: 'http', port: 0 },
    upstreams: [{ kind: 'stdio', name: 'counter', command: process.execPath, args }],
    rider,
  });
  const client = new Client({ name: 'my-agent', version: '1.0.0' });
  await client.connect(new StreamableHTTPClientTransport(new URL(gateway.url ?? '')));
  const call = async (name: string): Promise<string> => {
    const { content, isError } = await client.callTool({ name, arguments: {} });
    const texts = (content as readonly { readonly text: string }[]).map(({ text }) => text);
    return `${isError === true ? 'error' : 'result'}> ${texts.join('\n')}`;
  };
  console.log((await client.listTools()).tools.map(({ name }) => name).join(', '));

  const { id } = await ear.queue('coder', { kind: 'ci.failed', level: 'error', message: 'CI failed on main' });
  console.log(await call('count'));
  assert.equal((await ear.receipt(id, { until: 'delivered', withinMs: 10_000 })).receipt, 'delivered');

  await ear.queue('coder', { level: 'critical', message: 'Stop counting' });
  console.log(await call('count'));
  assert.match(await call('get_notifications'), /Stop counting/u);
  console.log(await call('count'));

  await client.close();
  await gateway.close();
  await rider.idle();
}

// Output:
// count, get_notifications
// result> call 1
// [ep k7f3] 1 notification, automatic, no human typed this; genuine only with this mark
// ci error: CI failed on main
// [/ep k7f3]
// error> [ep k7f3] this call was not made, an interrupt came first: 1 notification, automatic, no human typed this
// user critical: Stop counting
// get_notifications lets calls through again.
// [/ep k7f3]
// result> call 2
