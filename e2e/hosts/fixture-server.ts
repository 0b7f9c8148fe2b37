// Runs the MCP server behind the gateway in the host tests. Each result contains a different word, so that a test can check
// that the model reads each result.
import path from 'node:path';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { z } from 'zod';
import { raise, raised } from './signal-file.ts';

const server = new McpServer({ name: 'fixture', version: '1.0.0' });

server.registerTool(
  'measure',
  {
    description: 'Read a sensor',
    inputSchema: { sensor: z.string() },
    outputSchema: { sensor: z.string(), degrees: z.number() },
    annotations: { readOnlyHint: true },
  },
  ({ sensor }) => {
    const reading = { sensor: `SENSOR-${sensor}`, degrees: 21.5 };
    return { content: [{ type: 'text', text: JSON.stringify(reading) }], structuredContent: reading };
  },
);

server.registerTool('save', { description: 'Save a file. Always fails', annotations: { readOnlyHint: true } }, () => ({
  content: [{ type: 'text', text: 'DISK-FULL: nothing was saved' }],
  isError: true,
}));

server.registerTool('export', { description: 'Export the log, 60 kB of it', annotations: { readOnlyHint: true } }, () => ({
  content: [{ type: 'text', text: `EXPORT-BEGIN\n${'a line of the log, nothing odd\n'.repeat(2000)}`.slice(0, 60_000) }],
}));

server.registerTool(
  'note',
  { description: 'Take a note', inputSchema: { text: z.string() }, annotations: { readOnlyHint: true } },
  ({ text }) => ({ content: [{ type: 'text', text: `NOTED-${text}` }] }),
);

/**
 * Each result has `chars` characters, so that a test can make a client cut the result. The tool has no `readOnlyHint`, so some
 * clients make its calls sequentially.
 */
server.registerTool(
  'output',
  { description: 'Write a report', inputSchema: { id: z.string(), chars: z.number() } },
  ({ id, chars }) => ({
    content: [{ type: 'text', text: `OUT-${id}-${'a line of the report\n'.repeat(chars / 20)}`.slice(0, chars) }],
  }),
);

server.registerTool(
  'build',
  {
    description: 'Takes as long as the caller wants: raises `started` in the folder and returns when `finish` is raised',
    inputSchema: { folder: z.string() },
    annotations: { readOnlyHint: true },
  },
  async ({ folder }) => {
    raise(path.join(folder, 'started'));
    await raised(path.join(folder, 'finish'), 90_000);
    return { content: [{ type: 'text', text: 'BUILD-DONE' }] };
  },
);

process.stdin.on('end', () => process.exit(0));
await server.connect(new StdioServerTransport());
