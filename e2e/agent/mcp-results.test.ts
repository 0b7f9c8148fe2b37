/** Tests the texts that the model reads from the results of a real MCP server. */
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { mcpTools, type McpTools } from '../../src/agent/mcp-tools.ts';
import { proves } from '../verifies.ts';

const folder = join(mkdtempSync(join(tmpdir(), 'earpiece-results-')), 'results');
let tools: McpTools;
beforeAll(async () => {
  tools = await mcpTools(
    [{ kind: 'stdio', name: 'results', command: process.execPath, args: [join(import.meta.dirname, 'results-server.ts')] }],
    { maxChars: 2_000, folder },
  );
});
afterAll(async () => {
  await tools.close();
  rmSync(join(folder, '..'), { recursive: true, force: true });
});

async function read(name: string): Promise<string> {
  const tool = tools.tools.find((each) => each.name.endsWith(name));
  if (tool === undefined) throw new Error(`no tool ${name}`);
  const call = { id: 'c1', signal: new AbortController().signal, batch: [], progress: () => {} };
  return (await tool.execute({}, call)).content;
}
const pathIn = (content: string): string => /(\/\S+\.(txt|png))/u.exec(content)?.[1] ?? '';

it('a long text is cut in the middle, and a file that only the user can read contains the whole text', async () => {
  proves('agent:mcp-results');
  const content = await read('long');
  expect(content.length).toBeLessThan(2_400);
  expect(content).toMatch(
    /^BEGIN x+\n\[… 2,998,010 of 3,000,010 characters are left out here; the whole text is in \S+ …\]\nx+ END$/u,
  );
  const path = pathIn(content);
  expect(readFileSync(path, 'utf8')).toHaveLength(3_000_010);
  expect(statSync(path).mode & 0o777).toBe(0o600);
  expect(statSync(folder).mode & 0o777).toBe(0o700);
});

it('structured content reaches the model, but is left out if the result has the same content as text', async () => {
  proves('agent:mcp-results');
  expect(await read('structure')).toBe('{"total":7}');
  expect(await read('both')).toBe('the total is 7');
});

it('a picture becomes a file, and the model reads its type and size', async () => {
  proves('agent:mcp-results');
  const content = await read('picture');
  expect(content).toMatch(/^\[image image\/png, 9 bytes: \S+\.png\]$/u);
  expect(readFileSync(pathIn(content), 'utf8')).toBe('a picture');
});
