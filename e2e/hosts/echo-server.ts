// Runs a stdio MCP server for the self-test. Each tool adds its own block, "<MARK>-<n>". `sum` also declares an outputSchema and
// returns structuredContent. In some clients, the model then does not read the text blocks.
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { z } from 'zod';

let calls = 0;
const mark = () => ({ type: 'text' as const, text: `${process.env['MARK'] ?? 'MARK'}-${++calls}` });

const server = new McpServer({ name: 'echo', version: '1.0.0' });
server.registerTool(
  'echo',
  { description: 'Echo the text back', inputSchema: { text: z.string() }, annotations: { readOnlyHint: true } },
  ({ text }) => ({ content: [{ type: 'text', text }, mark()] }),
);
server.registerTool(
  'sum',
  {
    description: 'Add two numbers',
    inputSchema: { a: z.number(), b: z.number() },
    outputSchema: { sum: z.number() },
    annotations: { readOnlyHint: true },
  },
  ({ a, b }) => {
    const result = { sum: a + b };
    return { content: [{ type: 'text', text: JSON.stringify(result) }, mark()], structuredContent: result };
  },
);
process.stdin.on('end', () => process.exit(0));
await server.connect(new StdioServerTransport());
