// Offers the configured servers' tools as <server>_<tool>. This file is an extension of pi, which itself has no MCP client.
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js';
import type { McpServer } from './client.ts';

/** The part of pi's extension API that this file uses. */
interface Pi {
  registerTool(tool: {
    readonly name: string;
    readonly label: string;
    readonly description: string;
    readonly parameters: unknown;
    execute(id: string, args: Record<string, unknown>, signal?: AbortSignal): Promise<{ content: unknown; details: unknown }>;
  }): void;
  on(event: 'session_shutdown', handler: () => Promise<void>): void;
}

export default async function offerMcpTools(pi: Pi): Promise<void> {
  const servers = JSON.parse(process.env['EARPIECE_PI_MCP'] ?? '{}') as Record<string, McpServer>;
  const clients: Client[] = [];
  for (const [name, server] of Object.entries(servers)) {
    const client = new Client({ name: 'pi-mcp', version: '1.0.0' });
    await client.connect(transportOf(server));
    clients.push(client);
    for (const tool of (await client.listTools()).tools)
      pi.registerTool({
        name: `${name}_${tool.name}`,
        label: tool.name,
        description: tool.description ?? tool.name,
        parameters: tool.inputSchema,
        async execute(_id, args, signal) {
          const result = (await client.callTool(
            { name: tool.name, arguments: args },
            undefined,
            signal && { signal },
          )) as CallToolResult;
          if (result.isError) throw new Error(result.content.map((block) => ('text' in block ? block.text : '')).join('\n'));
          return {
            content: result.content.filter(({ type }) => type === 'text' || type === 'image'),
            details: result.structuredContent ?? {},
          };
        },
      });
  }
  pi.on('session_shutdown', async () => {
    await Promise.allSettled(clients.map((client) => client.close()));
  });
}

function transportOf(server: McpServer) {
  if ('url' in server)
    return new StreamableHTTPClientTransport(new URL(server.url), { requestInit: { headers: server.headers ?? {} } });
  const { PATH = '', HOME = '' } = process.env;
  return new StdioClientTransport({
    command: server.command,
    args: [...(server.args ?? [])],
    env: { PATH, HOME, ...server.env },
    stderr: 'ignore',
  });
}
