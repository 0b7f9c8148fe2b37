/**
 * Runs an MCP server on streamable HTTP that dies in the middle of an answer to `tools/call`. The server writes half of the
 * answer and kills its own process. The server prints its URL. The tool's name says which answer is cut: `json`, `sse`, or
 * `resumable` (an event stream with ids, which a client may resume).
 */
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

type Message = { readonly id?: unknown; readonly method?: string; readonly params?: { readonly name?: string } };

const http = createServer((request, response) => {
  if (request.method !== 'POST') return void response.writeHead(405).end();
  let body = '';
  request.setEncoding('utf8').on('data', (text: string) => (body += text));
  request.on('end', () => answer(JSON.parse(body) as Message, response));
});
http.listen(0, '127.0.0.1', () => console.log(`http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp`));

function answer({ id, method, params }: Message, response: ServerResponse): void {
  if (id === undefined) return void response.writeHead(202).end();
  const result =
    method === 'initialize'
      ? { protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo: { name: 'breaking', version: '1' } }
      : method === 'tools/call'
        ? { content: [{ type: 'text', text: 'whole' }] }
        : { tools: [] };
  const whole = JSON.stringify({ jsonrpc: '2.0', id, result });
  if (method !== 'tools/call')
    return void response
      .writeHead(200, { 'content-type': 'application/json', ...(method === 'initialize' && { 'mcp-session-id': 's' }) })
      .end(whole);
  const half = whole.slice(0, whole.length / 2);
  const events = params?.name !== 'json';
  response.writeHead(200, {
    'content-type': events ? 'text/event-stream' : 'application/json',
    ...(!events && { 'content-length': whole.length }),
  });
  const first = params?.name === 'resumable' ? 'id: 1\nretry: 10\ndata:\n\n' : '';
  response.write(events ? `${first}data: ${half}` : half, () => process.kill(process.pid, 'SIGKILL'));
}
