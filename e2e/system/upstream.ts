/**
 * Runs a wrapped MCP server over stdio. The server records each call before it answers, and each answer before it is sent.
 *
 * Run: node upstream.ts <folder of the taps> <name>
 */
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { Journal, now } from './journal.ts';
import type { UpstreamLine } from './history.ts';
import { TOOLS } from './tools.ts';

type Request = {
  readonly id?: number | string;
  readonly method: string;
  readonly params?: {
    readonly protocolVersion?: string;
    readonly name?: string;
    readonly arguments?: { readonly call?: string; readonly delayMs?: number };
  };
};

const [folder = '.', name = 'files'] = process.argv.slice(2);
const tap = new Journal<UpstreamLine>(join(folder, `upstream-${name}-${process.pid}-${Math.round(now())}.jsonl`));
tap.write({ t: now(), kind: 'started', pid: process.pid });

const say = (line: string): void => void process.stdout.write(`${line}\n`);
const answer = (id: number | string, result: object): void => say(JSON.stringify({ jsonrpc: '2.0', id, result }));
process.stdout.on('error', () => process.exit(0));

const lines = createInterface({ input: process.stdin });
lines.on('close', () => process.exit(0));
lines.on('line', (line) => {
  const { id, method, params } = JSON.parse(line) as Request;
  if (id === undefined) return;
  if (method === 'initialize')
    return answer(id, {
      protocolVersion: params?.protocolVersion,
      capabilities: { tools: {} },
      serverInfo: { name, version: '1' },
    });
  if (method === 'tools/list') return answer(id, { tools: TOOLS.map(({ listed }) => listed) });
  if (method !== 'tools/call') return answer(id, {});
  const { call = '', delayMs = 0 } = params?.arguments ?? {};
  const tool = TOOLS.find(({ listed }) => listed.name === params?.name);
  tap.write({ t: now(), kind: 'call', call });
  setTimeout(() => {
    const result = tool?.result(call) ?? '{"content":[],"isError":true}';
    const out = `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":${result}}`;
    tap.write({ t: now(), kind: 'answered', call, line: out });
    say(out);
  }, delayMs);
});
