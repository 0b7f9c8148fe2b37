/** Runs commands as in a person's shell in the project `shop`. Nothing marks the shell as an agent's. */
import { spawn, type ChildProcessByStdio } from 'node:child_process';
import type { Readable, Writable } from 'node:stream';
import { SOURCES } from '../built.ts';
import { Stage } from '../delivery/stage.ts';

export type Ran = { readonly code: number | null; readonly stdout: string; readonly stderr: string };

type Options = { readonly env?: Record<string, string>; readonly input?: string; readonly cwd?: string };

export class Shell extends Stage {
  constructor(toml = '') {
    super();
    this.config(toml);
  }

  override env(more: Record<string, string> = {}): Record<string, string> {
    return super.env({ EARPIECE_ADDRESS: '', ...more });
  }

  /** Runs one command line to its end. Output on stderr fails the test. */
  async says(args: readonly string[], options: Options = {}): Promise<string> {
    const { code, stdout, stderr } = await this.run(args, options);
    if (code !== 0 || stderr !== '') throw new Error(`earpiece ${args.join(' ')} ended with ${code}: ${stderr}`);
    return stdout;
  }

  /** Runs one command line with `--json`, and returns one value per line. */
  async json(args: readonly string[], options: Options = {}): Promise<Record<string, unknown>[]> {
    return parsed(await this.says(['--json', ...args], options));
  }

  /** Starts a command and does not wait for its end. */
  begin(args: readonly string[], { env }: Pick<Options, 'env'> = {}): Running {
    return new Running(spawn(process.execPath, [this.entry, ...args], { cwd: this.folder, env: this.env(env), stdio: 'pipe' }));
  }
}

/** Runs a command line from the sources, one file for each module. */
export class SourceShell extends Shell {
  override readonly entry = SOURCES;
}

export class Running {
  readonly process: ChildProcessByStdio<Writable, Readable, Readable>;
  readonly ended: Promise<Ran & { readonly signal: NodeJS.Signals | null }>;
  #stdout = '';
  #wake: () => void = () => {};

  constructor(child: ChildProcessByStdio<Writable, Readable, Readable>) {
    this.process = child;
    let stderr = '';
    child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      this.#stdout += text;
      this.#wake();
    });
    this.ended = new Promise((resolve) => {
      child.once('close', (code, signal) => {
        resolve({ code, signal, stdout: this.#stdout, stderr });
        this.#wake();
      });
    });
  }

  /** Returns a value of the JSON in the first line of the output. */
  value(name: string): unknown {
    return (JSON.parse(this.#stdout.slice(0, this.#stdout.indexOf('\n'))) as Record<string, unknown>)[name];
  }

  /** Resolves when the output contains this text. */
  async shows(text: string): Promise<void> {
    while (!this.#stdout.includes(text)) {
      if (this.process.exitCode !== null) throw new Error(`it ended with ${this.process.exitCode} and never showed ${text}`);
      await new Promise<void>((resolve) => (this.#wake = resolve));
    }
  }
}

export const parsed = (lines: string): Record<string, unknown>[] =>
  lines
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Record<string, unknown>);
