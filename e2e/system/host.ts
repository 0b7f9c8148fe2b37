/**
 * Runs a host: the process that runs an agent's loop and speaks MCP to a gateway, over stdio or HTTP. The host follows the
 * storm's orders over IPC, and records its sent and received frames. `claude.mjs`, `codex.mjs` … in the storm's folder import
 * this file, so that the host process has the name of a real program.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { Journal, now } from './journal.ts';
import type { ClientLine } from './history.ts';
import type { Answered, HostOptions, Order, Report } from './orders.ts';
import { isRefusal } from './checker/frames.ts';

/** The maximum time of a call on a busy machine. */
const PATIENCE_MS = 45_000;

const options = JSON.parse(process.env['SYSTEM_HOST'] ?? '{}') as HostOptions;
const tap = new Journal<ClientLine>(options.tap);
const report = (line: Report): void => void process.send?.(line);
tap.write({
  t: now(),
  kind: 'session',
  form: 'mcp',
  window: options.window,
  agent: options.agent,
  client: options.client,
  ...(options.conversation === undefined ? {} : { conversation: options.conversation }),
  pid: process.pid,
});

/** The connection to one gateway process. */
type Link = {
  send(frame: object): Promise<void>;
  close(): void;
  /** Stops reading for `ms`, or for the rest of the connection if `ms` is missing. */
  deaf(ms?: number): Promise<void>;
  readonly gone: Promise<void>;
  readonly pid?: number;
};

let link: Link | undefined;
let nextId = 1;
let session: string | undefined;
const waiting = new Map<number, (line: string | undefined) => void>();

function received(line: string): void {
  tap.write({ t: now(), kind: 'received', line });
  try {
    const { id, method } = JSON.parse(line) as { id?: number; method?: string };
    if (id === undefined || method !== undefined) return;
    waiting.get(id)?.(line);
    waiting.delete(id);
  } catch {
    report({ kind: 'problem', text: `${options.window}: a frame is no JSON: ${line.slice(0, 200)}` });
  }
}

function lost(): void {
  for (const waiter of waiting.values()) waiter(undefined);
  waiting.clear();
}

function overStdio(env: Record<string, string>): Link {
  const child: ChildProcess = spawn(process.execPath, options.gateway, {
    cwd: options.cwd,
    env: { ...process.env, ...env, SYSTEM_HOST: '' },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  const pid = child.pid ?? 0;
  tap.write({ t: now(), kind: 'gateway', pid });
  report({ kind: 'gateway', pid });
  child.stdin?.on('error', () => {});
  child.stderr?.setEncoding('utf8').on('data', (text: string) => tap.write({ t: now(), kind: 'stderr', text }));
  // The last output of a killed gateway may lack its line break. Such output is not a frame.
  let rest = '';
  child.stdout?.setEncoding('utf8').on('data', (text: string) => {
    const lines = (rest + text).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) received(line);
  });
  const gone = new Promise<void>((resolve) =>
    child.once('close', (_code, signal) => {
      tap.write({ t: now(), kind: 'gateway_ended', signal });
      report({ kind: 'gateway_ended', pid, signal });
      lost();
      resolve();
    }),
  );
  return {
    pid,
    gone,
    send: async (frame) => void child.stdin?.write(`${JSON.stringify(frame)}\n`),
    close: () => void child.stdin?.end(),
    deaf: async (ms) => {
      tap.write({ t: now(), kind: 'deaf', how: ms === undefined ? 'never' : 'late' });
      if (ms === undefined) return void child.stdout?.destroy();
      child.stdout?.pause();
      await sleep(ms);
      tap.write({ t: now(), kind: 'hears' });
      child.stdout?.resume();
    },
  };
}

function overHttp(url: string): Link {
  const { promise: gone, resolve } = Promise.withResolvers<void>();
  const over = new AbortController();
  const end = (): void => {
    over.abort();
    lost();
    resolve();
  };
  return {
    gone,
    close: end,
    deaf: async () => {
      tap.write({ t: now(), kind: 'deaf', how: 'never' });
      end();
    },
    async send(frame) {
      const headers = {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        ...(session === undefined ? {} : { 'mcp-session-id': session }),
      };
      try {
        const answer = await fetch(url, { method: 'POST', headers, body: JSON.stringify(frame), signal: over.signal });
        session ??= answer.headers.get('mcp-session-id') ?? undefined;
        const isStream = answer.headers.get('content-type')?.startsWith('text/event-stream') === true;
        const text = await answer.text();
        if (isStream) for (const line of text.split('\n')) if (line.startsWith('data: {')) received(line.slice(6));
        if (!isStream && text.startsWith('{')) received(text);
        if (!answer.ok) end();
      } catch {
        end();
      }
    },
  };
}

/** Sends a request. Resolves with the answer's line, or with undefined if no answer arrived. */
async function request(
  method: string,
  params: object,
  about: { tool?: string; call?: string } = {},
): Promise<string | undefined> {
  const id = nextId++;
  return (await begin(id, method, params, about)).answer;
}

async function begin(
  id: number,
  method: string,
  params: object,
  about: { tool?: string; call?: string },
): Promise<{ answer: Promise<string | undefined> }> {
  const on = link;
  const answer = new Promise<string | undefined>((resolve) => waiting.set(id, resolve));
  tap.write({ t: now(), kind: 'sent', id, method, ...about });
  if (on === undefined) return { answer: Promise.resolve(undefined) };
  void on.send({ jsonrpc: '2.0', id, method, params });
  const timeout = new AbortController();
  const late = sleep(PATIENCE_MS, 'late' as const, { signal: timeout.signal }).catch(() => undefined);
  const bounded = Promise.race([answer, on.gone.then(() => undefined), late]).then((got) => {
    timeout.abort();
    waiting.delete(id);
    if (got !== 'late') return got;
    tap.write({ t: now(), kind: 'unanswered', method, ms: PATIENCE_MS });
    return undefined;
  });
  return { answer: bounded };
}

/** The tools' names for the client. A gateway of several servers puts the server's name before the tool's name. */
let names: readonly string[] = [];
const nameOf = (tool: string): string => names.find((name) => name === tool) ?? names.find((name) => name.endsWith(tool)) ?? tool;

async function connect(order: Extract<Order, { do: 'connect' }>): Promise<boolean> {
  const before = link;
  link = undefined;
  session = undefined;
  if (before !== undefined) tap.write({ t: now(), kind: 'closing' });
  before?.close();
  await before?.gone;
  if (order.pid !== undefined) tap.write({ t: now(), kind: 'gateway', pid: order.pid, shared: true });
  if (order.conversation !== undefined) tap.write({ t: now(), kind: 'renamed', conversation: order.conversation });
  link = order.url === undefined ? overStdio(order.env) : overHttp(order.url);
  const clientInfo = { name: options.client, version: '1.0.0' };
  const greeted = await request('initialize', { protocolVersion: '2025-06-18', capabilities: {}, clientInfo });
  if (greeted === undefined) return false;
  await link?.send({ jsonrpc: '2.0', method: 'notifications/initialized' });
  const listed = await request('tools/list', {});
  if (listed === undefined) return false;
  names = (JSON.parse(listed) as { result?: { tools?: { name: string }[] } }).result?.tools?.map(({ name }) => name) ?? [];
  return true;
}

async function callOne(
  order: Extract<Order, { do: 'call' }>,
  { call, tool, delayMs }: (typeof order.calls)[number],
): Promise<Answered> {
  const id = nextId++;
  const params = { name: nameOf(tool), arguments: { call, delayMs } };
  const { answer } = await begin(id, 'tools/call', params, { tool, call });
  const on = link;
  const cancel = (): void => {
    if (on === undefined || on !== link) return;
    tap.write({ t: now(), kind: 'cancelled', id });
    void on.send({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: id } });
  };
  if (order.cancelAfterMs !== undefined) {
    // A client that cancels a request stops waiting. An answer may be in flight.
    const first = await Promise.race([answer, sleep(order.cancelAfterMs, 'cancelled' as const)]);
    if (first === 'cancelled') {
      cancel();
      waiting.get(id)?.(undefined);
      return 'plain';
    }
  }
  const line = await answer;
  // opencode cancels each request some time after its answer.
  if (line !== undefined && options.client === 'opencode') setTimeout(cancel, order.lateMs);
  const answered = line === undefined ? 'gone' : lastTextOf(line);
  if (order.crossAfterMs !== undefined && answered === 'told') {
    await sleep(order.crossAfterMs);
    cancel();
  }
  return answered;
}

function lastTextOf(line: string): Answered {
  const { result } = JSON.parse(line) as { result?: { content?: { text?: string }[] } };
  const text = result?.content?.at(-1)?.text ?? '';
  return isRefusal(text) ? 'refused' : /\n?\[ep \S+\] \d/.test(text) ? 'told' : 'plain';
}

async function call(order: Extract<Order, { do: 'call' }>): Promise<Answered[]> {
  if (order.gapMs === undefined) return Promise.all(order.calls.map((each) => callOne(order, each)));
  const answered: Answered[] = [];
  for (const each of order.calls) {
    answered.push(await callOne(order, each));
    await sleep(order.gapMs);
  }
  return answered;
}

/** Calls `get_notifications`. Returns the number of notifications, or `gone` if no answer arrived. */
async function pull(): Promise<number | 'gone'> {
  const line = await request('tools/call', { name: nameOf('get_notifications'), arguments: {} }, { tool: 'get_notifications' });
  if (line === undefined) return 'gone';
  const { result } = JSON.parse(line) as { result?: { content?: { text: string }[] } };
  try {
    const { count = 0, more = 0 } = JSON.parse(result?.content?.[0]?.text ?? '{}') as { count?: number; more?: number };
    return count + more;
  } catch {
    return 0;
  }
}

process.on('message', (order: Order) => {
  void (async () => {
    switch (order.do) {
      case 'connect':
        return report({ kind: 'did', n: order.n, ok: await connect(order) });
      case 'call':
        return report({ kind: 'did', n: order.n, ok: true, answered: await call(order) });
      case 'pull':
        return report({ kind: 'did', n: order.n, ok: true, pulled: await pull() });
      case 'deaf':
      case 'hangUp':
        await link?.deaf(order.do === 'deaf' ? order.ms : undefined);
        return report({ kind: 'did', n: order.n, ok: true });
      case 'end':
        tap.write({ t: now(), kind: 'over' });
        link?.close();
        await link?.gone;
        report({ kind: 'did', n: order.n, ok: true });
        process.disconnect();
        process.exit(0);
    }
  })();
});
process.on('disconnect', () => process.exit(0));
report({ kind: 'ready' });
