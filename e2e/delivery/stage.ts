/** Makes a stage for the whole product: a separate database, gateways as child processes, producers as other processes. */
import { spawn, type ChildProcess } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { openLoadedInbox, type LoadedInbox } from '../../src/loaded-inbox.ts';
import { CLI } from '../built.ts';
import { COMPILED } from '../compiled.ts';

const ECHO = join(import.meta.dirname, 'echo-server.ts');

export type ToolResult = {
  content: { type: string; text: string }[];
  isError?: boolean;
  notification?: string;
  _meta?: Record<string, unknown>;
};

/** The environment of a person's shell, without the `EARPIECE_ADDRESS` of an agent. */
export const PERSON = { env: { EARPIECE_ADDRESS: '' } } as const;

export class Stage implements AsyncDisposable {
  readonly folder = mkdtempSync(join(tmpdir(), 'earpiece-stage-'));
  readonly db = join(this.folder, 'earpiece.db');
  /** The entry file of its commands and gateways. */
  readonly entry: string = CLI;
  readonly #started: (Disposable | AsyncDisposable)[] = [];

  /** Returns the environment of the stage, with only `PATH` from the machine's user. */
  env(more: Record<string, string> = {}): Record<string, string> {
    return {
      PATH: process.env['PATH'] ?? '',
      ...COMPILED,
      HOME: this.folder,
      XDG_STATE_HOME: join(this.folder, 'state'),
      XDG_CONFIG_HOME: join(this.folder, 'config'),
      EARPIECE_DB: this.db,
      EARPIECE_ADDRESS: 'shop/coder#main',
      ...more,
    };
  }

  /** Writes the configuration of the project `shop`, which then owns this folder. */
  config(toml: string): void {
    writeFileSync(join(this.folder, 'earpiece.toml'), `project = "shop"\n${toml}`);
  }

  /** Writes a file in the home of the user, which is also the project's folder. */
  home(path: string, content: string): void {
    mkdirSync(dirname(join(this.folder, path)), { recursive: true });
    writeFileSync(join(this.folder, path), content);
  }

  async open(): Promise<LoadedInbox> {
    const ear = await openLoadedInbox({ db: this.db, cwd: this.folder, env: this.env() });
    this.#started.push(ear);
    return ear;
  }

  /** Starts a gateway in front of the echo server, or with `configured` in front of the configured servers. */
  async gateway(
    options: { args?: readonly string[]; env?: Record<string, string>; client?: string; configured?: boolean } = {},
  ): Promise<GatewayClient> {
    const client = new GatewayClient(this, options.args ?? [], options.env ?? {}, { configured: options.configured });
    this.#started.push(client);
    await client.connect(options.client ?? 'raw');
    return client;
  }

  /** Returns the calls that reached the upstream servers. */
  calls(): { tool: string; text: string }[] {
    const file = join(this.folder, 'calls.jsonl');
    return existsSync(file)
      ? readFileSync(file, 'utf8')
          .trimEnd()
          .split('\n')
          .map((line) => JSON.parse(line) as { tool: string; text: string })
      : [];
  }

  /** Runs one command line of the product to its end. */
  async run(
    args: readonly string[],
    options: { env?: Record<string, string>; input?: string; cwd?: string } = {},
  ): Promise<{ code: number | null; stdout: string; stderr: string }> {
    const child = spawn(process.execPath, [this.entry, ...args], {
      cwd: options.cwd ?? this.folder,
      env: this.env(options.env),
      stdio: 'pipe',
    });
    let stdout = '';
    let stderr = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text));
    child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
    child.stdin.on('error', () => {}).end(options.input ?? '');
    const code = await new Promise<number | null>((resolve) => child.once('close', resolve));
    return { code, stdout, stderr };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const started of this.#started.toReversed())
      await (Symbol.asyncDispose in started ? started[Symbol.asyncDispose]() : started[Symbol.dispose]());
    rmSync(this.folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 50 });
  }
}

/** A client of a separate gateway. The gateway serves the echo server unless `args` or the configuration name other servers. */
export class GatewayClient implements AsyncDisposable {
  readonly process: ChildProcess;
  readonly exited: Promise<NodeJS.Signals | number | null>;
  stderr = '';
  #next = 1;
  #waiting = new Map<number, { resolve(result: unknown): void; reject(error: Error): void }>();

  constructor(
    stage: Stage,
    args: readonly string[],
    env: Record<string, string>,
    options: { readonly configured?: boolean | undefined } = {},
  ) {
    const own = ['--', '--servers', '--url'].some((word) => args.includes(word)) || options.configured === true;
    const server = own ? [] : ['--', process.execPath, ECHO];
    this.process = spawn(process.execPath, [stage.entry, 'gateway', ...args, ...server], {
      cwd: stage.folder,
      env: stage.env({ CALL_LOG: join(stage.folder, 'calls.jsonl'), ...env }),
      stdio: ['pipe', 'pipe', 'pipe'],
    });
    this.process.stderr?.setEncoding('utf8').on('data', (text: string) => (this.stderr += text));
    this.process.stdin?.on('error', () => {});
    createInterface({ input: this.process.stdout as NodeJS.ReadableStream }).on('line', (line) => {
      const { id, result, error } = JSON.parse(line) as { id?: number; result?: unknown; error?: { message: string } };
      const waiter = id === undefined ? undefined : this.#waiting.get(id);
      if (id === undefined || waiter === undefined) return;
      this.#waiting.delete(id);
      if (error) waiter.reject(new Error(error.message));
      else waiter.resolve(result);
    });
    this.exited = new Promise((resolve) => {
      this.process.once('exit', (code, signal) => {
        for (const waiter of this.#waiting.values())
          waiter.reject(new Error(`the gateway has ended (${signal ?? code})\n${this.stderr}`));
        this.#waiting.clear();
        resolve(signal ?? code);
      });
    });
  }

  async connect(name: string): Promise<void> {
    await this.request('initialize', { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name, version: '1' } });
    this.send({ method: 'notifications/initialized' });
  }

  send(frame: object): void {
    this.process.stdin?.write(`${JSON.stringify({ jsonrpc: '2.0', ...frame })}\n`);
  }

  begin(method: string, params: object): { id: number; answer: Promise<unknown> } {
    const id = this.#next++;
    const answer = new Promise<unknown>((resolve, reject) => this.#waiting.set(id, { resolve, reject }));
    this.send({ id, method, params });
    return { id, answer };
  }

  request(method: string, params: object): Promise<unknown> {
    return this.begin(method, params).answer;
  }

  async call(name: string, args: object = {}): Promise<ToolResult> {
    return (await this.request('tools/call', { name, arguments: args })) as ToolResult;
  }

  cancel(id: number): void {
    this.send({ method: 'notifications/cancelled', params: { requestId: id } });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.process.stdin?.end();
    const timer = setTimeout(() => this.process.kill('SIGKILL'), 5_000);
    await this.exited;
    clearTimeout(timer);
  }
}

export const textOf = (result: ToolResult): string => result.content.map((block) => block.text).join('\n');
