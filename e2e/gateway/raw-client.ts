import { spawn, type ChildProcess } from 'node:child_process';
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import type { Entry, Script } from './scripted-rider.ts';

/** A time limit that only a failing test reaches, even on a busy machine. */
const PATIENCE_MS = 25_000;

const ROOT = join(import.meta.dirname, '..', '..');
export const PLAIN_GATEWAY = join(import.meta.dirname, 'plain-gateway.ts');
export const ODD_SERVER = join(import.meta.dirname, 'odd-server.ts');
export const EVERYTHING = [join(ROOT, 'node_modules/@modelcontextprotocol/server-everything/dist/index.js'), 'stdio'];
export const FILESYSTEM = [join(ROOT, 'node_modules/@modelcontextprotocol/server-filesystem/dist/index.js')];

/** Returns the arguments of `node` that start a gateway before a node script. */
export function behindGateway(server: readonly string[], options: readonly string[] = []): string[] {
  return [PLAIN_GATEWAY, ...options, '--', process.execPath, ...server];
}

/** A client that writes and reads raw lines. */
export class RawClient implements AsyncDisposable {
  readonly process: ChildProcess;
  readonly lines: string[] = [];
  readonly stderr: string[] = [];
  readonly exit: Promise<{ code: number | null; signal: NodeJS.Signals | null }>;
  #waiting: (() => void)[] = [];

  constructor(args: readonly string[], env: Record<string, string> = {}) {
    this.process = spawn(process.execPath, [...args], { stdio: ['pipe', 'pipe', 'pipe'], env: { ...process.env, ...env } });
    let rest = '';
    this.process.stdout!.setEncoding('utf8').on('data', (text: string) => {
      const parts = (rest + text).split('\n');
      rest = parts.pop()!;
      this.lines.push(...parts);
      this.#wake();
    });
    this.process.stderr!.setEncoding('utf8').on('data', (text: string) => {
      this.stderr.push(text);
      this.#wake();
    });
    this.process.stdin!.on('error', () => {});
    this.exit = new Promise((resolve) => {
      this.process.once('exit', (code, signal) => {
        resolve({ code, signal });
        this.#wake();
      });
    });
  }

  send(...frames: readonly string[]): void {
    this.process.stdin!.write(frames.map((frame) => `${frame}\n`).join(''));
  }

  /** Resolves with the first line that matches, even if the line was received earlier. */
  line(match: (line: string) => boolean, withinMs = PATIENCE_MS): Promise<string> {
    return this.#until(() => this.lines.find(match), withinMs, 'no such line');
  }

  answer(id: string | number): Promise<string> {
    return this.line((line) => line.includes(`"id":${typeof id === 'string' ? id : String(id)}`) && !line.includes('"method"'));
  }

  said(text: string): Promise<string> {
    return this.#until(
      () => (this.stderr.join('').includes(text) ? text : undefined),
      PATIENCE_MS,
      `"${text}" was not said on stderr`,
    );
  }

  async initialize(name = 'raw'): Promise<string> {
    this.send(
      `{"jsonrpc":"2.0","id":"init","method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"${name}","version":"1"}}}`,
    );
    const answer = await this.answer('"init"');
    this.send('{"jsonrpc":"2.0","method":"notifications/initialized"}');
    return answer;
  }

  end(): void {
    this.process.stdin!.end();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.end();
    const timer = setTimeout(() => this.process.kill('SIGKILL'), 5_000);
    await this.exit;
    clearTimeout(timer);
  }

  async #until<T>(find: () => T | undefined, withinMs: number, what: string): Promise<T> {
    const deadline = performance.now() + withinMs;
    for (;;) {
      const found = find();
      if (found !== undefined) return found;
      const left = deadline - performance.now();
      if (left <= 0 || this.process.exitCode !== null) {
        throw new Error(`${what}\nstdout:\n${this.lines.slice(-20).join('\n')}\nstderr:\n${this.stderr.join('')}`);
      }
      const timeout = new AbortController();
      await Promise.race([
        new Promise<void>((resolve) => this.#waiting.push(resolve)),
        sleep(left, undefined, { signal: timeout.signal }).catch(() => {}),
      ]);
      timeout.abort();
    }
  }

  #wake(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const resolve of waiting) resolve();
  }
}

/** A folder with the script and the log of a scripted rider in another process. */
export class ScriptFiles implements AsyncDisposable {
  readonly folder: string;

  private constructor(folder: string) {
    this.folder = folder;
    this.write({});
    writeFileSync(join(folder, 'log'), '');
  }

  static async make(): Promise<ScriptFiles> {
    return new ScriptFiles(await mkdtemp(join(tmpdir(), 'earpiece-gateway-')));
  }

  get options(): string[] {
    return ['--script', join(this.folder, 'script.json'), '--log', join(this.folder, 'log')];
  }

  /** Writes the script. The rename is one step, so the other process never reads half of the file. */
  write(script: Script): void {
    writeFileSync(join(this.folder, 'script.next'), JSON.stringify(script));
    renameSync(join(this.folder, 'script.next'), join(this.folder, 'script.json'));
  }

  entries(): Entry[] {
    const lines = readFileSync(join(this.folder, 'log'), 'utf8').split('\n').filter(Boolean);
    return lines.map((line) => JSON.parse(line) as Entry);
  }

  async until(match: (entry: Entry) => boolean, withinMs = PATIENCE_MS): Promise<Entry> {
    const deadline = performance.now() + withinMs;
    for (;;) {
      const found = this.entries().find(match);
      if (found !== undefined) return found;
      if (performance.now() > deadline) throw new Error(`no such entry in ${JSON.stringify(this.entries(), undefined, 1)}`);
      await sleep(10); // Another process writes the file, so there is no signal to wait for.
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await rm(this.folder, { recursive: true });
  }
}

/** A file that lists servers, for `plain-gateway --servers`. */
export class ServersFile implements AsyncDisposable {
  readonly path: string;
  readonly #folder: string;

  private constructor(folder: string, servers: readonly object[]) {
    this.#folder = folder;
    this.path = join(folder, 'servers.json');
    writeFileSync(this.path, JSON.stringify(servers));
  }

  static async make(servers: readonly object[]): Promise<ServersFile> {
    return new ServersFile(await mkdtemp(join(tmpdir(), 'earpiece-servers-')), servers);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await rm(this.#folder, { recursive: true });
  }
}

/** Whether the process exists and is not a zombie. */
export function alive(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch {
    return false;
  }
  try {
    return readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.startsWith('Z') === false;
  } catch {
    return process.platform !== 'linux';
  }
}

export async function untilDead(pid: number, withinMs = PATIENCE_MS): Promise<boolean> {
  const deadline = performance.now() + withinMs;
  while (alive(pid)) {
    if (performance.now() > deadline) return false;
    await sleep(10);
  }
  return true;
}
