/** Starts `earpiece chat` and `earpiece run` as a person or a program does, with a scripted model over HTTP. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { spawn as spawnPty, type IPty } from '@lydell/node-pty';
import { openScreen, type Screen } from '../../src/handles/screen.ts';
import { Shell } from '../cli/shell.ts';
import { CLI } from '../built.ts';
import type { Answer } from '../model/answer.ts';
import type { JsonObject } from '../model/json.ts';
import { inOrder, startModel, type Model, type Request, type Step } from '../model/server.ts';
import { textsOf } from '../model/texts.ts';

export const CODER = 'shop/coder';

export class ChatStage extends Shell {
  readonly model: Model;
  readonly #terminals: Terminal[] = [];

  private constructor(model: Model, toml: string) {
    super(toml);
    this.model = model;
  }

  /**
   * Starts a stage whose model gives the n-th request the n-th step, and later requests the last step. A function in place of
   * `steps` chooses the step itself.
   */
  static async open(steps: readonly Step[] | ((request: Request, n: number) => Step), toml = ''): Promise<ChatStage> {
    return new ChatStage(await startModel(typeof steps === 'function' ? steps : inOrder(steps)), toml);
  }

  override env(more: Record<string, string> = {}): Record<string, string> {
    return super.env({
      EARPIECE_ADDRESS: CODER,
      EARPIECE_AGENT_MODEL: 'openai:gpt-5',
      OPENAI_BASE_URL: `${this.model.url}/v1`,
      OPENAI_API_KEY: 'dummy',
      ...more,
    });
  }

  /** Resolves with the process id in this file when a process has written it. */
  async pid(file: string): Promise<number> {
    const path = join(this.folder, file);
    for (;;) {
      const said = existsSync(path) ? readFileSync(path, 'utf8') : '';
      if (said.endsWith('\n')) return Number(said);
      await sleep(10);
    }
  }

  /** Queues a notification for the agent in another process. */
  async send(...args: readonly string[]): Promise<void> {
    await this.says(['send', '--to', CODER, ...args], { env: { EARPIECE_ADDRESS: '' } });
  }

  async terminal(args: readonly string[], { columns = 100, rows = 30 } = {}): Promise<Terminal> {
    const pty = spawnPty(process.execPath, [CLI, ...args], {
      name: 'xterm-256color',
      cols: columns,
      rows,
      cwd: this.folder,
      env: this.env(),
      encoding: null,
    });
    const terminal = new Terminal(pty, await openScreen(rows, columns));
    this.#terminals.push(terminal);
    return terminal;
  }

  override async [Symbol.asyncDispose](): Promise<void> {
    for (const terminal of this.#terminals) await terminal.kill();
    await this.model[Symbol.asyncDispose]();
    await super[Symbol.asyncDispose]();
  }
}

const LONGEST_MS = 40_000;

/** A terminal in which the test acts as the person. */
export class Terminal {
  readonly pid: number;
  readonly ended: Promise<number>;
  /** The output, including control sequences. */
  raw = '';
  readonly #pty: IPty;
  readonly #screen: Screen;
  #over = false;
  /**
   * Whether the screen is half drawn: the program has asked the terminal to hold the screen, and the remaining output has not
   * arrived.
   */
  #held = false;
  #changed: (() => void)[] = [];

  constructor(pty: IPty, screen: Screen) {
    this.#pty = pty;
    this.#screen = screen;
    this.pid = pty.pid;
    // Without an encoding, the data are bytes, although their type is a text.
    pty.onData((data) => {
      const bytes = data as unknown as Buffer;
      this.raw += bytes.toString('latin1');
      const held = this.raw.lastIndexOf('\u001b[?2026h') > this.raw.lastIndexOf('\u001b[?2026l');
      void screen.write(bytes).then(() => {
        this.#held = held;
        this.#wake();
      });
    });
    this.ended = new Promise((resolve) => {
      pty.onExit(({ exitCode, signal }) => {
        this.#over = true;
        void screen.flushed().then(() => {
          this.#wake();
          resolve(signal ? 128 + signal : exitCode);
        });
      });
    });
  }

  type(keys: string): void {
    this.#pty.write(keys);
  }

  resize(columns: number, rows: number): void {
    this.#pty.resize(columns, rows);
  }

  /** The scrolled-off lines and the current screen. */
  get all(): string {
    return this.#screen.all();
  }

  get text(): string {
    return this.#screen.text();
  }

  async shows(what: string | RegExp): Promise<void> {
    await this.until((all) => (typeof what === 'string' ? all.includes(what) : what.test(all)), String(what));
  }

  async until(holds: (all: string) => boolean, what = String(holds)): Promise<void> {
    const deadline = setTimeout(() => this.#wake(), LONGEST_MS);
    const since = performance.now();
    try {
      while (this.#held || !holds(this.all)) {
        if (this.#over) throw new Error(`the program ended and never showed ${what}:\n${this.all}`);
        if (performance.now() - since >= LONGEST_MS) throw new Error(`the screen does not show ${what}:\n${this.all}`);
        await new Promise<void>((resolve) => this.#changed.push(resolve));
      }
    } finally {
      clearTimeout(deadline);
    }
  }

  async kill(): Promise<void> {
    if (!this.#over) this.#pty.kill('SIGKILL');
    await this.ended;
    this.#screen.dispose();
  }

  #wake(): void {
    for (const resolve of this.#changed.splice(0)) resolve();
  }
}

export const text = (said: string): Answer[number] => ({ kind: 'text', text: said });
export const call = (id: string, name: string, args: JsonObject): Answer[number] => ({ kind: 'call', id, name, args });

/**
 * Stops an answer at a place until the test releases the answer. `reached` resolves when the answer has arrived at that place.
 */
export class Hold {
  readonly #reached = Promise.withResolvers<void>();
  readonly #go = Promise.withResolvers<void>();
  readonly reached = this.#reached.promise;

  readonly stop = async (): Promise<void> => {
    this.#reached.resolve();
    await this.#go.promise;
  };

  letGo(): void {
    this.#go.resolve();
  }
}

/** Returns all texts that the model reads in a request, in order. */
export const readIn = (request: Request | undefined): string =>
  request === undefined
    ? ''
    : textsOf(request)
        .map(({ text }) => text)
        .join('\n');

export const count = (all: string, part: string): number => all.split(part).length - 1;

/** Whether a process runs. Returns false for a process that has ended, even if its exit code was not read. */
export const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    const stat = existsSync('/proc') ? readFileSync(`/proc/${pid}/stat`, 'utf8') : '';
    return !/\) Z /u.test(stat);
  } catch {
    return false;
  }
};
