/**
 * Runs an MCP server whose tools return results that need special treatment for a model: long text, structured content, a
 * picture.
 */
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { z } from 'zod';

const server = new McpServer({ name: 'results', version: '1' });
const LONG = `BEGIN ${'x'.repeat(3_000_000)} END`;
server.registerTool('long', { inputSchema: {} }, () => ({ content: [{ type: 'text', text: LONG }] }));
server.registerTool('structure', { inputSchema: {}, outputSchema: { total: z.number() } }, () => ({
  content: [],
  structuredContent: { total: 7 },
}));
server.registerTool('both', { inputSchema: {}, outputSchema: { total: z.number() } }, () => ({
  content: [{ type: 'text', text: 'the total is 7' }],
  structuredContent: { total: 7 },
}));
server.registerTool('picture', { inputSchema: {} }, () => ({
  content: [{ type: 'image', mimeType: 'image/png', data: Buffer.from('a picture').toString('base64') }],
}));
await server.connect(new StdioServerTransport());
