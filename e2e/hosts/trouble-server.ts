// Runs a stdio MCP server that starts slowly or dies: `node trouble-server.ts NAME [--after MS] [--listed FILE]`. The server
// stays silent for MS, and creates FILE when its list of tools has had time to arrive. `note` answers. `die` writes half of its
// answer and is killed.
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { raise } from './signal-file.ts';

type Request = { readonly id?: number | string; readonly method: string; readonly params?: { readonly name?: string } };

const { values, positionals } = parseArgs({
  options: { after: { type: 'string', default: '0' }, listed: { type: 'string' } },
  allowPositionals: true,
});
const name = positionals[0] ?? 'trouble';
const tool = (called: string) => ({ name: called, description: called, inputSchema: { type: 'object' } });

await sleep(Number(values.after));
for await (const line of createInterface({ input: process.stdin })) {
  const request = JSON.parse(line) as Request;
  if (request.id !== undefined) answer(request);
}

function answer({ id, method, params }: Request): void {
  const send = (more: object): void => void process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id, ...more })}\n`);
  switch (method) {
    case 'initialize':
      return send({
        result: { protocolVersion: '2025-06-18', capabilities: { tools: {} }, serverInfo: { name, version: '1.0.0' } },
      });
    case 'tools/list':
      send({ result: { tools: [tool('note'), tool('die')] } });
      // The client needs time to read the list, or to request it from the gateway.
      setTimeout(() => values.listed !== undefined && raise(values.listed), 1_000);
      return;
    case 'tools/call': {
      if (params?.name === 'note') return send({ result: { content: [{ type: 'text', text: `NOTED-${name}` }] } });
      const half = `{"jsonrpc":"2.0","id":${id},"result":{"content":[{"type":"text","text":"HALF`;
      process.stdout.write(half, () => process.kill(process.pid, 'SIGKILL'));
      return;
    }
    default:
      return send({ error: { code: -32601, message: `no such method: ${method}` } });
  }
}
