/** Runs an MCP server with one tool, which returns the server's environment. */
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';

const server = new McpServer({ name: 'env', version: '1' });
server.registerTool('env', { description: 'returns the environment' }, () => ({
  content: [{ type: 'text', text: JSON.stringify(process.env) }],
}));
await server.connect(new StdioServerTransport());
