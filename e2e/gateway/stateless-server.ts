/**
 * Runs a server of the stateless generation (2026-07-28) that also speaks the older generation.
 *
 *   node e2e/gateway/stateless-server.ts stdio
 *   node e2e/gateway/stateless-server.ts only            on stdio, and refuses the older generation
 *   node e2e/gateway/stateless-server.ts http [PORT]     prints its URL
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

import { toNodeHandler } from '@modelcontextprotocol/node';
import {
  acceptedContent,
  createMcpHandler,
  fromJsonSchema,
  inputRequired,
  McpServer,
  type ServerNotifier,
} from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { z } from 'zod';

const text = (value: string) => ({ content: [{ type: 'text' as const, text: value }] });

/** Over HTTP each request has its own server, so the handler announces changes. */
let notifier: ServerNotifier | undefined;

function makeServer(): McpServer {
  const server = new McpServer(
    { name: 'stateless', version: '1.0.0' },
    {
      capabilities: {
        tools: { listChanged: true },
        resources: { subscribe: true, listChanged: true },
        prompts: {},
        completions: {},
        logging: {},
      },
    },
  );
  server.registerTool(
    'sum',
    {
      description: 'Adds',
      inputSchema: z.object({ a: z.number(), b: z.number() }),
      outputSchema: z.strictObject({ sum: z.number() }),
    },
    ({ a, b }) => ({ ...text(String(a + b)), structuredContent: { sum: a + b } }),
  );
  server.registerTool('fail', { description: 'Fails' }, () => ({ ...text('no'), isError: true }));
  server.registerTool('slow', { description: 'Reports progress' }, async (ctx) => {
    const progressToken = ctx.mcpReq._meta?.progressToken;
    for (const progress of [1, 2]) {
      if (progressToken !== undefined)
        await ctx.mcpReq.notify({ method: 'notifications/progress', params: { progressToken, progress, total: 2 } });
      await sleep(20);
    }
    return text('slow');
  });
  server.registerTool('wait', { description: 'Waits until it is cancelled' }, async (ctx) => {
    await sleep(60_000, undefined, { signal: ctx.mcpReq.signal }).catch(() => {});
    return text('waited');
  });
  server.registerTool('confirm', { description: 'Asks first', inputSchema: z.object({ what: z.string() }) }, ({ what }, ctx) => {
    const schema = z.object({ sure: z.boolean() });
    const answer = acceptedContent(ctx.mcpReq.inputResponses, 'sure', schema);
    if (answer === undefined)
      return inputRequired({ inputRequests: { sure: inputRequired.elicit({ message: `${what}?`, requestedSchema: schema }) } });
    return text(`${what}: ${answer.sure}`);
  });
  const routed = fromJsonSchema<{ region: string }>({
    type: 'object',
    properties: { region: { type: 'string', 'x-mcp-header': 'Region' } },
    required: ['region'],
  } as never);
  server.registerTool('routed', { description: 'Wants an argument in a header', inputSchema: routed }, ({ region }) =>
    text(region),
  );
  server.registerTool('change', { description: 'Changes the list of tools and a resource' }, async () => {
    if (notifier) {
      notifier.toolsChanged();
      notifier.resourceUpdated('test://a');
    } else {
      server.sendToolListChanged();
      await server.server.sendResourceUpdated({ uri: 'test://a' });
    }
    return text('changed');
  });
  server.registerResource('a', 'test://a', { description: 'A' }, (uri) => ({ contents: [{ uri: uri.href, text: 'é 1.0' }] }));
  server.registerPrompt('p', { description: 'P', argsSchema: z.object({ x: z.string() }) }, ({ x }) => ({
    messages: [{ role: 'user', content: { type: 'text', text: x } }],
  }));
  return server;
}

const [, , mode, port = '0'] = process.argv;
if (mode === 'http') {
  const handler = createMcpHandler(makeServer);
  notifier = handler.notify;
  const http = createServer((request, response) => void toNodeHandler(handler)(request as never, response));
  http.listen(Number(port), '127.0.0.1', () => console.log(`http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp`));
} else serveStdio(makeServer, mode === 'only' ? { legacy: 'reject' } : {});
