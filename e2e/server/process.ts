/** Runs `earpiece serve` in a separate process. */
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { CLI } from '../built.ts';

export type Served = { readonly url: string; readonly login: string; readonly pid: number };

export class ServerProcess implements AsyncDisposable {
  readonly ready: Promise<Served>;
  readonly ended: Promise<{ readonly code: number | null; readonly signal: NodeJS.Signals | null }>;
  readonly #child;
  stderr = '';

  constructor(args: readonly string[], at: { readonly cwd: string; readonly env: Record<string, string> }) {
    this.#child = spawn(process.execPath, [CLI, 'serve', '--json', ...args], { ...at, stdio: ['ignore', 'pipe', 'pipe'] });
    this.#child.stderr.setEncoding('utf8').on('data', (text: string) => (this.stderr += text));
    this.ended = new Promise((resolve) => this.#child.once('close', (code, signal) => resolve({ code, signal })));
    this.ready = new Promise((resolve, reject) => {
      createInterface({ input: this.#child.stdout }).once('line', (line) => resolve(JSON.parse(line) as Served));
      void this.ended.then(({ code }) => reject(new Error(`the server ended with ${code}: ${this.stderr}`)));
    });
    // This handler prevents an unhandled rejection. A caller that awaits `ready` still gets the error.
    this.ready.catch(() => undefined);
  }

  kill(signal: NodeJS.Signals = 'SIGKILL'): void {
    this.#child.kill(signal);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.kill();
    await this.ended;
  }
}
