// Runs a minimal MCP server over stdio, with one tool and immediate answers. The server uses no SDK, so that the figures show
// mostly the gateway's work.
let rest = '';
process.stdin.setEncoding('utf8');
process.stdin.on('data', (chunk: string) => {
  const lines = (rest + chunk).split('\n');
  rest = lines.pop() ?? '';
  let answers = '';
  for (const line of lines) if (line.trim() !== '') answers += answer(line);
  if (answers !== '') process.stdout.write(answers);
});

type Message = { id?: number | string; method?: string; params?: { protocolVersion?: string; arguments?: { path?: string } } };

function answer(line: string): string {
  const { id, method, params } = JSON.parse(line) as Message;
  if (id === undefined || method === undefined) return '';
  const result = resultOf(method, params);
  const body = result === undefined ? { error: { code: -32601, message: `no method ${method}` } } : { result };
  return `${JSON.stringify({ jsonrpc: '2.0', id, ...body })}\n`;
}

function resultOf(method: string, params: Message['params']): object | undefined {
  switch (method) {
    case 'initialize':
      return {
        protocolVersion: params?.protocolVersion ?? '2025-11-25',
        capabilities: { tools: {} },
        serverInfo: { name: 'bench', version: '1.0.0' },
      };
    case 'ping':
      return {};
    case 'tools/list':
      return {
        tools: [
          {
            name: 'read',
            description: 'Reads a file.',
            inputSchema: { type: 'object', properties: { path: { type: 'string' } }, required: ['path'] },
          },
        ],
      };
    case 'tools/call':
      return { content: [{ type: 'text', text: `${params?.arguments?.path}\n${FILE}` }], isError: false };
    default:
      return undefined;
  }
}

/** A typical result of a coding agent's tool: 2 KB of source text. */
const FILE = Array.from({ length: 40 }, (_, i) => `  ${i + 1}\tconst line${i} = await read("src/part-${i}.ts");`).join('\n');
