import { spawn, type ChildProcess } from 'node:child_process';
import http from 'node:http';
import net from 'node:net';
import type { Target } from './target.ts';

/** An MCP client that only sends frames and waits for their answers. */
export type Client = {
  /** The process id of the started command. If the command is a gateway, this id is not the wrapped server's id. */
  readonly pid: number;
  /** Makes one tool call, and returns the answer's unchanged text. */
  readonly call: () => Promise<string>;
  /** Makes `times` tool calls, `inFlight` at a time. Throws if an answer is not a result with content. */
  readonly calls: (times: number, inFlight: number) => Promise<void>;
  readonly close: () => Promise<void>;
};

type Where = { readonly cwd?: string; readonly env?: NodeJS.ProcessEnv };

/** Starts `command`, and connects to its stdin and stdout. */
export async function stdioClient(command: readonly string[], { call }: Target, where: Where = {}): Promise<Client> {
  const { child, ended } = start(command, where, 'pipe');
  const { stdin, stdout } = child;
  if (!stdin || !stdout) throw new Error(`${command[0]} has no stdin or stdout`);
  const waiting = new Map<number, { resolve: (line: string) => void; reject: (error: Error) => void }>();
  let rest = '';
  stdout.setEncoding('utf8');
  stdout.on('data', (chunk: string) => {
    const lines = (rest + chunk).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) {
      const { id } = JSON.parse(line) as { id?: number };
      if (id === undefined) continue;
      waiting.get(id)?.resolve(line);
      waiting.delete(id);
    }
  });
  // `close` is used instead of `exit`, because all output has been read at `close`.
  child.on('close', () => {
    for (const { reject } of waiting.values()) reject(ended());
  });
  const ask = (id: number, method: string, params: object): Promise<string> =>
    new Promise((resolve, reject) => {
      waiting.set(id, { resolve, reject });
      stdin.write(`${requestOf(id, method, params)}\n`);
    });

  let next = 1;
  await inTime(ask(next++, 'initialize', hello), 'initialize');
  stdin.write(`${JSON.stringify({ jsonrpc: '2.0', method: 'notifications/initialized' })}\n`);
  await inTime(ask(next++, 'tools/list', {}), 'tools/list');
  const one = async (): Promise<string> => checked(await ask(next++, 'tools/call', call));
  return {
    pid: child.pid ?? 0,
    call: one,
    calls: (times, inFlight) => inParallel(times, inFlight, one),
    close: () => stop(child),
  };
}

/** Starts `command`, waits until it listens on `port`, and sends streamable HTTP to the path `/mcp`. */
export async function httpClient(
  command: readonly string[],
  { call }: Target,
  port: number,
  { inFlight, ...where }: Where & { readonly inFlight: number },
): Promise<Client> {
  const { child, ended } = start(command, where, 'ignore');
  const agent = new http.Agent({ keepAlive: true, maxSockets: inFlight });
  let session: Record<string, string> = {};
  const post = (body: string): Promise<{ headers: http.IncomingHttpHeaders; text: string }> =>
    new Promise((resolve, reject) => {
      const request = http.request(
        {
          host: '127.0.0.1',
          port,
          path: '/mcp',
          method: 'POST',
          agent,
          headers: {
            'content-type': 'application/json',
            accept: 'application/json, text/event-stream',
            'content-length': Buffer.byteLength(body),
            ...session,
          },
        },
        (response) => {
          const chunks: Buffer[] = [];
          response.on('data', (chunk: Buffer) => chunks.push(chunk));
          response.on('error', reject);
          response.on('end', () => {
            const text = Buffer.concat(chunks).toString();
            if ((response.statusCode ?? 500) >= 400) reject(new Error(`HTTP ${response.statusCode}: ${text.slice(0, 300)}`));
            else resolve({ headers: response.headers, text });
          });
        },
      );
      request.on('error', reject);
      request.end(body);
    });

  await listening(port, { child, ended });
  let next = 1;
  const { headers: answered } = await inTime(post(requestOf(next++, 'initialize', hello)), 'initialize');
  const id = answered['mcp-session-id'];
  session = { 'mcp-protocol-version': hello.protocolVersion, ...(typeof id === 'string' ? { 'mcp-session-id': id } : {}) };
  await post(JSON.stringify({ jsonrpc: '2.0', method: 'notifications/initialized' }));
  const one = async (): Promise<string> => checked((await post(requestOf(next++, 'tools/call', call))).text);
  return {
    pid: child.pid ?? 0,
    call: one,
    calls: (times, width) => inParallel(times, width, one),
    close: async () => {
      agent.destroy();
      await stop(child);
    },
  };
}

export async function freePort(): Promise<number> {
  const listener = net.createServer();
  await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve));
  const { port } = listener.address() as net.AddressInfo;
  await new Promise((resolve) => listener.close(resolve));
  return port;
}

const hello = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'bench', version: '1.0.0' } };
const requestOf = (id: number, method: string, params: object): string => JSON.stringify({ jsonrpc: '2.0', id, method, params });

/** Checks an answer with two text searches instead of a parse, because more work in the client would hide the gateway's work. */
function checked(answer: string): string {
  if (!answer.includes('"content"') || answer.includes('"isError":true'))
    throw new Error(`a tool call gave ${answer.slice(0, 300)}`);
  return answer;
}

async function inParallel(times: number, inFlight: number, call: () => Promise<unknown>): Promise<void> {
  let left = times;
  const one = async (): Promise<void> => {
    while (left-- > 0) await call();
  };
  // All calls share one timer, which detects a gateway that hangs. A timer for each call would slow the calls.
  await inTime(Promise.all(Array.from({ length: inFlight }, one)), `${times} tool calls`);
}

const PATIENCE_MS = 30_000;

async function inTime<T>(work: Promise<T>, what: string): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`${what}: no answer in ${PATIENCE_MS / 1000} s`)), PATIENCE_MS);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}

type Started = {
  readonly child: ChildProcess;
  /** Makes an error that says how the process ended, with the end of its output. */ readonly ended: () => Error;
};

function start(command: readonly string[], { cwd, env }: Where, stdio: 'pipe' | 'ignore'): Started {
  const [program = '', ...args] = command;
  const child = spawn(program, args, {
    stdio: [stdio, stdio, 'pipe'],
    ...(cwd === undefined ? {} : { cwd }),
    env: { ...process.env, ...env },
  });
  let said = '';
  child.stderr?.setEncoding('utf8').on('data', (chunk: string) => (said = (said + chunk).slice(-2000)));
  return {
    child,
    ended: () => new Error(`${command.join(' ')} ended with ${child.exitCode ?? child.signalCode}: ${said.trim()}`),
  };
}

async function listening(port: number, { child, ended }: Started): Promise<void> {
  const until = performance.now() + 20_000;
  while (performance.now() < until) {
    if (child.exitCode !== null) throw ended();
    const open = await new Promise<boolean>((resolve) => {
      const socket = net.connect(port, '127.0.0.1');
      socket.on('connect', () => (socket.destroy(), resolve(true)));
      socket.on('error', () => resolve(false));
    });
    if (open) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error(`nothing listens on 127.0.0.1:${port} after 20 s`);
}

/** Ends a child by closing its stdin. If the child has no stdin or is still running after 1 s, a signal ends the child. */
async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = new Promise((resolve) => child.once('exit', resolve));
  child.stdin?.end();
  const late = setTimeout(() => child.kill('SIGTERM'), child.stdin ? 1000 : 0);
  const tooLate = setTimeout(() => child.kill('SIGKILL'), 5000);
  await ended;
  clearTimeout(late);
  clearTimeout(tooLate);
}
