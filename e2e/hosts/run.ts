import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Hooks, Launch, McpServer } from './clients/client.ts';
import { clients } from './clients/index.ts';
import { asList, type JsonObject } from '../model/json.ts';
import { startMock } from '../model/mock.ts';
import { binaryOf, requireInstalled, type ClientName } from './pins.ts';
import { end, guarded, processesOf, type Running } from './processes.ts';
import type { Call, NativeCall, Script } from '../model/script.ts';
import { startTap, type Egress, type Recorded, type TapOptions } from '../model/tap.ts';

export interface RunOptions {
  /** The prompt, whose text does not matter, because the script decides. */
  readonly prompt?: string;
  readonly script: Script;
  readonly mcpServers?: Readonly<Record<string, McpServer>>;
  /** Whether Claude Code also uses the servers of its settings and plugins. Default: false. */
  readonly ownServers?: boolean;
  readonly hooks?: Hooks;
  readonly settings?: JsonObject;
  /** Arguments that are added to the command line. */
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly stdin?: string;
  /** The home of an earlier run. Default: a new, empty home. */
  readonly home?: string;
  /** Whether to resume the newest session of that home. The script then starts after the prompt of this run. */
  readonly resume?: boolean;
  readonly timeoutMs?: number;
  /**
   * The time after the client's end until its remaining processes count as leftovers. The default is 10 s, because a busy machine
   * ends processes slowly.
   */
  readonly graceMs?: number;
  /** Milliseconds between the chunks of the model's answers. */
  readonly latency?: number;
  /** The run waits for this function after it has written the client's settings and before it starts the client. */
  readonly onPrepared?: (home: string) => void | Promise<void>;
  /** The model waits for this function before it answers with the calls of a step. */
  readonly onToolStep?: (event: ToolStep) => void | Promise<void>;
  /** May answer or abort a request to the model instead of passing it on. */
  readonly onRequest?: TapOptions['onRequest'];
}

export interface ToolStep {
  /** The index of the step in the script. */
  readonly step: number;
  readonly home: string;
  /** Sends a signal to the client's process group. */
  readonly kill: (signal?: NodeJS.Signals) => void;
}

/** The result of a run. Disposal removes its home. */
export interface Run extends Disposable {
  readonly client: ClientName;
  readonly exitCode: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly timedOut: boolean;
  readonly stdout: string;
  readonly stderr: string;
  /** The conversation: requests to the model that offer tools, in order. */
  readonly main: readonly Recorded[];
  /** All requests, including side requests. */
  readonly all: readonly Recorded[];
  readonly egress: readonly Egress[];
  /** Processes that still ran after `graceMs`. The harness has ended them. */
  readonly leftovers: readonly Running[];
  readonly home: string;
  /** A file inside `home` with the bytes of each request, as JSON lines. */
  readonly log: string;
}

/**
 * Runs a real CLI against the scripted model, with its own HOME, a fresh environment and dummy keys. The model is on 127.0.0.1,
 * and a proxy catches requests to other machines. No process of the CLI survives the call. An error of `onToolStep` ends the
 * run, and the call throws this error.
 */
export async function run(client: ClientName, options: RunOptions): Promise<Run> {
  requireInstalled(client);
  const home = makeHome(client, options.home);
  const dispose = (): void => fs.rmSync(home, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
  const failures: unknown[] = [];
  try {
    const seen = await runIn(home, client, options, (failure) => void failures.push(failure));
    if (failures.length) throw failures[0];
    return { client, home, ...seen, [Symbol.dispose]: dispose };
  } catch (error) {
    dispose();
    throw error;
  }
}

async function runIn(
  home: string,
  client: ClientName,
  options: RunOptions,
  onFailure: (failure: unknown) => void,
): Promise<Omit<Run, 'client' | 'home' | keyof Disposable>> {
  let child: ChildProcess | undefined;
  const kill = (signal: NodeJS.Signals = 'SIGTERM'): void => {
    if (child?.pid) end(-child.pid, signal);
  };
  const killAll = (): void => {
    kill('SIGKILL');
    for (const { pid } of processesOf(home)) end(pid, 'SIGKILL');
  };

  await using mock = await startMock({
    script: options.script.map(({ calls, ...step }) => ({ ...step, calls: calls?.map((call) => native(call, client)) ?? [] })),
    onToolStep: async (step) => {
      try {
        await options.onToolStep?.({ step, home, kill });
      } catch (failure) {
        onFailure(failure);
        killAll();
      }
    },
    ...(options.resume ? { from: RESUMED } : {}),
    latency: options.latency ?? 0,
  });
  const log = path.join(home, 'requests.jsonl');
  await using tap = await startTap({ upstream: mock.url, log, onRequest: options.onRequest });
  const launch = clients[client].prepare({
    home,
    url: tap.url,
    prompt: options.prompt ?? (options.resume ? RESUMED : 'Please do the steps'),
    resume: options.resume ?? false,
    mcpServers: options.mcpServers ?? {},
    ownServers: options.ownServers ?? false,
    hooks: options.hooks ?? {},
    settings: options.settings ?? {},
  });

  await options.onPrepared?.(home);
  const ended = await guarded(killAll, async () => {
    child = spawn(binaryOf(client), [...launch.args, ...(options.args ?? [])], {
      cwd: path.join(home, 'work'),
      env: environment(home, tap.url, launch, options.env),
      detached: true,
      stdio: 'pipe',
    });
    const result = await watch(child, kill, options);
    const leftovers = await waitForEnd(home, options.graceMs ?? 10_000);
    killAll();
    await waitForEnd(home, 10_000);
    return { ...result, leftovers };
  });
  const posts = tap.requests.filter(({ method, body }) => method === 'POST' && body);
  return {
    ...ended,
    main: posts.filter(({ body }) => asList(body?.['tools'])?.length),
    all: posts,
    egress: tap.egress,
    log,
  };
}

const RESUMED = 'Go on with the steps';

const homeMark = '.earpiece-hosts';

export function makeHome(client: ClientName, earlier: string | undefined): string {
  if (earlier !== undefined && !fs.existsSync(path.join(earlier, homeMark)))
    throw new Error(`${earlier} is not the home of an earlier run: give the \`home\` of a run that is not disposed, or none`);
  const home = earlier ?? fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), `earpiece-${client}-`)));
  fs.writeFileSync(path.join(home, homeMark), '');
  for (const folder of ['work', 'tmp', '.config', '.cache', '.local/share', '.local/state'])
    fs.mkdirSync(path.join(home, folder), { recursive: true });
  return home;
}

export function native(call: Call, client: ClientName): NativeCall {
  if ('mcp' in call) return { ...clients[client].tool(call.mcp, call.tool), args: call.args ?? {} };
  return 'shell' in call ? clients[client].shell(call.shell) : call;
}

export function environment(home: string, proxy: string, launch: Launch, extra: RunOptions['env']): Record<string, string> {
  return {
    PATH: [path.dirname(process.execPath), '/usr/local/bin', '/usr/bin', '/bin'].join(path.delimiter),
    HOME: home,
    TMPDIR: path.join(home, 'tmp'),
    XDG_CONFIG_HOME: path.join(home, '.config'),
    XDG_CACHE_HOME: path.join(home, '.cache'),
    XDG_DATA_HOME: path.join(home, '.local/share'),
    XDG_STATE_HOME: path.join(home, '.local/state'),
    TERM: 'dumb',
    LANG: 'C.UTF-8',
    NO_COLOR: '1',
    SHELL: '/bin/bash',
    HTTP_PROXY: proxy,
    HTTPS_PROXY: proxy,
    http_proxy: proxy,
    https_proxy: proxy,
    NO_PROXY: '127.0.0.1,localhost',
    no_proxy: '127.0.0.1,localhost',
    ...launch.env,
    ...extra,
  };
}

/** The time to read the last output on a busy machine. A process that keeps the pipe open delays a test by this time. */
const PIPE_MS = 3_000;

/** The default time limit of a run. Even on a busy machine, only a hanging client takes this long. */
const HANGS_MS = 240_000;

type Ended = Pick<Run, 'exitCode' | 'signal' | 'timedOut' | 'stdout' | 'stderr'>;

async function watch(child: ChildProcess, kill: (signal: NodeJS.Signals) => void, options: RunOptions): Promise<Ended> {
  const output = { stdout: '', stderr: '' };
  child.stdout?.setEncoding('utf8').on('data', (data: string) => (output.stdout += data));
  child.stderr?.setEncoding('utf8').on('data', (data: string) => (output.stderr += data));
  child.stdin?.on('error', () => {}).end(options.stdin ?? '');

  let timedOut = false;
  let forced: NodeJS.Timeout | undefined;
  const timer = setTimeout(() => {
    timedOut = true;
    kill('SIGTERM');
    forced = setTimeout(() => kill('SIGKILL'), 2000);
  }, options.timeoutMs ?? HANGS_MS);
  try {
    const [exitCode, signal] = (await once(child, 'exit')) as [number | null, NodeJS.Signals | null];
    // The last output may still be in the pipe. A child of the client may keep the pipe open forever.
    await Promise.race([once(child, 'close'), sleep(PIPE_MS)]);
    return { exitCode, signal, timedOut, ...output };
  } finally {
    clearTimeout(timer);
    clearTimeout(forced);
  }
}

// No event reports the end of a process tree, so this function reads the process table.
async function waitForEnd(home: string, withinMs: number): Promise<readonly Running[]> {
  const until = performance.now() + withinMs;
  for (;;) {
    const left = processesOf(home);
    if (!left.length || performance.now() > until) return left;
    await sleep(50);
  }
}
