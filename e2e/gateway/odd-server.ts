/**
 * Runs an MCP server on stdio that answers with bytes that no library would print.
 *
 * The effect of a call depends on the name of the tool:
 *
 * - `odd`: returns the oddity with the number `arguments.n`, into which the unchanged id of the request is inserted.
 * - `pid`: returns the server's process id, and the process id of a helper that the server has started.
 * - `later`: answers when the tool `release` is called.
 * - `forge`: first answers the requests of `arguments.ids`, which the server has not received.
 * - `crash`: ends the process with code 3.
 * - `half`: writes half of the answer and ends the process with code 3.
 * - `unended`: writes the answer without a line ending and ends the process with code 3.
 * - `note`: sends a progress notification and then the answer.
 * - `ask`: asks the client for its roots, and returns the client's answer.
 *
 * With ODD_HOLD, the server sends nothing until the named file exists. With ODD_HOLD_LIST, the server does not answer tools/list
 * until the named file exists. With ODD_SHRUG, the server answers `{}` to unknown methods. ODD_INSTRUCTIONS is the text of the
 * server's instructions.
 *
 * The server writes each line that it receives to the file ODD_LOG. With ODD_STUBBORN, the server ignores SIGTERM and the end of
 * its stdin.
 */
import { spawn } from 'node:child_process';
import { appendFileSync, existsSync, watch } from 'node:fs';
import { dirname } from 'node:path';

import { ODDITIES } from './oddities.ts';

const stubborn = process.env.ODD_STUBBORN !== undefined;
let helper: number | undefined;
let waiting: string | undefined;
let rest = '';

if (stubborn) {
  process.on('SIGTERM', () => {});
  setInterval(() => {}, 60_000);
}
process.stdin.setEncoding('utf8');
process.stdin.on('data', (chunk: string) => {
  const lines = (rest + chunk).split('\n');
  rest = lines.pop()!;
  for (const line of lines) {
    if (process.env.ODD_LOG !== undefined) appendFileSync(process.env.ODD_LOG, `${line}\n`);
    const hold = process.env.ODD_HOLD ?? (line.includes('"tools/list"') ? process.env.ODD_HOLD_LIST : undefined);
    if (hold === undefined) answer(line);
    else void appears(hold).then(() => answer(line));
  }
});

function appears(file: string): Promise<void> {
  return new Promise((resolve) => {
    const look = (): void => {
      if (!existsSync(file)) return;
      watcher.close();
      resolve();
    };
    const watcher = watch(dirname(file), look);
    look();
  });
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}

function text(id: string, value: string): void {
  say(`{"jsonrpc":"2.0","id":${id},"result":{"content":[{"type":"text","text":${JSON.stringify(value)}}]}}`);
}

function answer(line: string): void {
  let message: { method?: string; params?: { name?: string; arguments?: { n?: number; ids?: unknown[] } }; result?: unknown };
  try {
    message = JSON.parse(line) as typeof message;
  } catch {
    return say(`you said: ${line}`);
  }
  const id = /"id"\s*:\s*("(?:[^"\\]|\\.)*"|[-\d.eE+]+)/.exec(line)?.[1] ?? 'null';
  if (message.method === undefined) return text(waiting ?? 'null', JSON.stringify(message.result));
  if (message.method === 'initialize') {
    const said = process.env.ODD_INSTRUCTIONS;
    const instructions = said === undefined ? '' : `,"instructions":${JSON.stringify(said)}`;
    return say(
      `{"jsonrpc":"2.0","id":${id},"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"odd","version":"1.0"},"future":1.0${instructions}}}`,
    );
  }
  if (message.method === 'tools/list')
    return say(`{"jsonrpc":"2.0","id":${id},"result":{"tools":[{"name":"odd","inputSchema":{"type":"object"},"x":1.0}]}}`);
  if (message.method === 'ping') return say(`{"jsonrpc":"2.0","id":${id},"result":{}}`);
  if (message.method !== 'tools/call') {
    if (process.env.ODD_SHRUG !== undefined && id !== 'null') say(`{"jsonrpc":"2.0","id":${id},"result":{}}`);
    return;
  }
  switch (message.params?.name) {
    case 'odd':
      return say(ODDITIES[message.params.arguments?.n ?? 0]!.replace('ID', id));
    case 'pid':
      helper ??= spawn(process.execPath, ['-e', 'process.on("SIGTERM",()=>{});setInterval(()=>{},1e3)'], {
        stdio: 'ignore',
      }).pid!;
      return text(id, JSON.stringify({ pid: process.pid, helper }));
    case 'later':
      waiting = id;
      return;
    case 'release':
      text(waiting!, 'late');
      return text(id, 'released');
    case 'note':
      say(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1.0,"progress":1e400}}`);
      return text(id, 'noted');
    case 'ask':
      waiting = id;
      return say('{"jsonrpc":"2.0","id":"from-server-\\u0041","method":"roots/list"}');
    case 'forge':
      for (const other of message.params.arguments?.ids ?? []) text(JSON.stringify(other), 'forged');
      return text(id, 'done');
    case 'crash':
      process.exit(3);
      return;
    case 'half':
    case 'unended': {
      const whole = `{"jsonrpc":"2.0","id":${id},"result":{"content":[{"type":"text","text":"whole"}]}}`;
      const bytes = message.params.name === 'half' ? whole.slice(0, whole.length / 2) : whole;
      return void process.stdout.write(bytes, () => process.exit(3));
    }
    case undefined:
    default:
      return text(id, `no tool ${message.params?.name}`);
  }
}
