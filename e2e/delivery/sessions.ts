/** Starts sessions of a coding agent, each a real host process with a real gateway below. */
import { spawn, type ChildProcess } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { isAlive, systemProcesses } from '../../src/inbox/index.ts';
import type { Owner } from '../../src/core/records.ts';
import { CLI } from '../built.ts';
import { Stage, textOf, type ToolResult } from './stage.ts';

export const ECHO = join(import.meta.dirname, 'echo-server.ts');

export class Sessions extends Stage {
  readonly #sessions: Session[] = [];

  constructor() {
    super();
    writeFileSync(
      join(this.folder, 'claude.mjs'),
      stripTypeScriptTypes(readFileSync(join(import.meta.dirname, 'host.ts'), 'utf8')),
    );
  }

  override env(more: Record<string, string> = {}): Record<string, string> {
    return super.env({ EARPIECE_ADDRESS: 'shop/claude-code', ...more });
  }

  /**
   * Starts a session. `as` is the session's id in its environment. With `tool`, a tool of this host starts another host, which
   * owns the gateway.
   */
  async session(as?: string, options: { readonly tool?: boolean; readonly cwd?: string } = {}): Promise<Session> {
    const session = new Session(this, as, options);
    this.#sessions.push(session);
    await session.connect();
    return session;
  }

  override async [Symbol.asyncDispose](): Promise<void> {
    for (const session of this.#sessions) await session.end();
    await super[Symbol.asyncDispose]();
  }
}

export class Session {
  readonly host: ChildProcess;
  readonly owner: Owner;
  readonly #exited: Promise<unknown>;
  readonly #waiting = new Map<number, (frame: { result?: unknown; error?: { message: string } }) => void>();
  #gateways: Owner[] = [];
  #wake: () => void = () => {};
  #next = 1;
  #stderr = '';

  constructor(stage: Sessions, as: string | undefined, { tool = false, cwd = stage.folder }: { tool?: boolean; cwd?: string }) {
    const gateway = [CLI, 'gateway', '--', process.execPath, ECHO];
    this.host = spawn(process.execPath, [join(stage.folder, 'claude.mjs'), ...(tool ? ['--tool'] : []), ...gateway], {
      cwd,
      env: stage.env({
        CALL_LOG: join(stage.folder, 'calls.jsonl'),
        ...(as === undefined ? {} : { CLAUDE_CODE_SESSION_ID: as }),
      }),
      stdio: 'pipe',
    });
    this.owner = ownerOf(this.host.pid as number);
    this.#exited = new Promise((resolve) => this.host.once('close', resolve));
    this.host.stdin?.on('error', () => {});
    createInterface({ input: this.host.stdout as NodeJS.ReadableStream }).on('line', (line) => {
      const frame = JSON.parse(line) as { id?: number; result?: unknown };
      if (frame.id !== undefined) this.#waiting.get(frame.id)?.(frame);
    });
    createInterface({ input: this.host.stderr as NodeJS.ReadableStream }).on('line', (line) => {
      this.#stderr += `${line}\n`;
      const [, pid] = /^gateway (\d+)$/.exec(line) ?? [];
      if (pid !== undefined) this.#gateways.push(ownerOf(Number(pid)));
      this.#wake();
    });
  }

  async connect(): Promise<void> {
    const clientInfo = { name: 'claude-code', version: '2' };
    await this.#request('initialize', { protocolVersion: '2025-11-25', capabilities: {}, clientInfo });
    this.#send({ method: 'notifications/initialized' });
    await this.#request('tools/list', {});
  }

  async call(name = 'echo', args: object = { text: 'hi' }): Promise<{ readonly text: string; readonly refused: boolean }> {
    const result = (await this.#request('tools/call', { name, arguments: args })) as ToolResult;
    return { text: textOf(result), refused: result.isError === true };
  }

  /** Ends the host normally: the host closes the stdin of its servers. */
  async end(): Promise<void> {
    this.host.stdin?.end();
    await this.#exited;
  }

  async kill(): Promise<void> {
    const gateway = this.#gateways.at(-1);
    this.host.kill('SIGKILL');
    await this.#exited;
    // The gateway notices the end of its stdin. The gateway is not a child of this process, so its end cannot be awaited.
    while (gateway !== undefined && isAlive(gateway)) await new Promise((resolve) => setTimeout(resolve, 5));
  }

  /** Kills the gateway. Resolves when the host has started another gateway and the session is connected to it. */
  async killGateway(): Promise<void> {
    const gateways = this.#gateways.length;
    process.kill((this.#gateways.at(-1) as Owner).pid, 'SIGKILL');
    while (this.#gateways.length === gateways) await new Promise<void>((resolve) => (this.#wake = resolve));
    await this.connect();
  }

  #request(method: string, params: object): Promise<unknown> {
    const id = this.#next++;
    this.#send({ id, method, params });
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, ({ result, error }) => (error === undefined ? resolve(result) : reject(new Error(error.message))));
      void this.#exited.then(() => reject(new Error(`the host has ended before it answered ${method}\n${this.#stderr}`)));
    });
  }

  #send(frame: object): void {
    this.host.stdin?.write(`${JSON.stringify({ jsonrpc: '2.0', ...frame })}\n`);
  }
}

function ownerOf(pid: number): Owner {
  return { machine: systemProcesses.machine, pid, startedAt: systemProcesses.get(pid)?.startedAt ?? 'unknown' };
}
