/**
 * Runs a small MCP server over stdio that writes a JSON line into the file `CALL_LOG` for each call. `echo {text, delayMs?,
 * held?}` answers after the delay, or with `held` when the method `release` is called. `fail {text}` answers with `isError`.
 * `ALSO` names one more tool, which works like `echo`.
 */
import { appendFileSync } from 'node:fs';
import { createInterface } from 'node:readline';

type Frame = {
  id?: number | string;
  method: string;
  params?: { protocolVersion?: string; name?: string; arguments?: { text?: string; delayMs?: number; held?: boolean } };
};

const log = process.env['CALL_LOG'];
const also = process.env['ALSO'];
const say = (frame: object): void => void process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...frame })}\n`);
const tool = (name: string): object => ({
  name,
  description: name,
  inputSchema: {
    type: 'object',
    properties: { text: { type: 'string' }, delayMs: { type: 'number' }, held: { type: 'boolean' } },
  },
});
const held: (() => void)[] = [];

createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line) as Frame;
  if (id === undefined) return;
  switch (method) {
    case 'initialize':
      return say({
        id,
        result: {
          protocolVersion: params?.protocolVersion,
          capabilities: { tools: {} },
          serverInfo: { name: 'echo', version: '1' },
          ...(process.env['INSTRUCTIONS'] === undefined ? {} : { instructions: process.env['INSTRUCTIONS'] }),
        },
      });
    case 'tools/list':
      return say({ id, result: { tools: [tool('echo'), tool('fail'), ...(also === undefined ? [] : [tool(also)])] } });
    case 'tools/call': {
      const { text = '', delayMs = 0, held: holds = false } = params?.arguments ?? {};
      if (log !== undefined) appendFileSync(log, `${JSON.stringify({ tool: params?.name, text })}\n`);
      const answer = (): void =>
        say({ id, result: { content: [{ type: 'text', text }], ...(params?.name === 'fail' ? { isError: true } : {}) } });
      if (holds) held.push(answer);
      else if (delayMs > 0) setTimeout(answer, delayMs);
      else answer();
      return;
    }
    case 'release':
      for (const answer of held.splice(0)) answer();
      return say({ id, result: {} });
    default:
      say({ id, result: {} });
  }
});
