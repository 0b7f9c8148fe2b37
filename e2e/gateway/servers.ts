import { spawn, type ChildProcess } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';

/**
 * Starts a server process that prints its URL as its first line. If the port is still in use, for example by a connection of an
 * earlier process, the start is tried again.
 */
export class HttpProcess implements AsyncDisposable {
  readonly url: string;
  readonly process: ChildProcess;
  readonly #exit: Promise<void>;

  private constructor(process: ChildProcess, url: string) {
    this.process = process;
    this.url = url;
    this.#exit = new Promise((resolve) => void process.once('exit', () => resolve()));
  }

  static async start(args: readonly string[], env: Record<string, string> = {}): Promise<HttpProcess> {
    for (;;) {
      try {
        return await HttpProcess.#start(args, env);
      } catch (error) {
        if (!String(error).includes('EADDRINUSE')) throw error;
        await sleep(100);
      }
    }
  }

  static #start(args: readonly string[], env: Record<string, string>): Promise<HttpProcess> {
    const child = spawn(process.execPath, [...args], { stdio: ['ignore', 'pipe', 'pipe'], env: { ...process.env, ...env } });
    return new Promise((resolve, reject) => {
      let said = '';
      let trouble = '';
      child.stderr.setEncoding('utf8').on('data', (text: string) => (trouble += text));
      child.stdout.setEncoding('utf8').on('data', (text: string) => {
        said += text;
        const url = /^(http\S+)\n/.exec(said)?.[1];
        if (url !== undefined) resolve(new HttpProcess(child, url));
      });
      child.once('exit', (code) => {
        // No code waits for the process after its start. If the process ends early, a later step fails, and only this line gives
        // the reason.
        if (code !== null && code !== 0 && said !== '')
          process.stderr.write(`${args.join(' ')} ended with ${code}: ${trouble}\n`);
        reject(new Error(`${args.join(' ')} ended with ${code}: ${said}${trouble}`));
      });
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.process.exitCode === null && this.process.signalCode === null) {
      this.process.kill('SIGTERM');
      await this.#exit;
    }
  }
}
