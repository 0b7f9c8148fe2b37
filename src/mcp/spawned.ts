import { spawn, type ChildProcess } from 'node:child_process';
import { endGroup } from './process-group.ts';

/** A stdio server: a command with its arguments. `env` is added to this process's environment; undefined removes a variable. */
export type Command = {
  readonly command: string;
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly cwd?: string;
};

export type SpawnedEvents = {
  readonly stdout: (chunk: Buffer) => void;
  readonly stdoutEnd: () => void;
  readonly stderr: (chunk: Buffer) => void;
  /** Its stdin accepts more again. */
  readonly drain: () => void;
  /** It could not be started. */
  readonly failed: (error: NodeJS.ErrnoException) => void;
  readonly exited: (code: number | null, signal: NodeJS.Signals | null) => void;
  /** It has exited, and so has every process that held its output. */
  readonly closed: () => void;
};

/**
 * The process of a server, in a separate process group. It may start long before anything listens to it. Its events until then
 * are kept, so that the server need not wait for the start of this process.
 */
export class Spawned {
  readonly child: ChildProcess;
  readonly startedAt = performance.now();
  #events: SpawnedEvents | undefined;
  readonly #unheard: ((events: SpawnedEvents) => void)[] = [];

  constructor({ command, args = [], env, cwd }: Command) {
    const child = spawn(command, [...args], {
      detached: true,
      stdio: ['pipe', 'pipe', 'pipe'],
      env: { ...process.env, ...env },
      ...(cwd !== undefined && { cwd }),
    });
    this.child = child;
    child.stdin.on('error', () => {}); // The process has ended, and its exit is reported elsewhere.
    child.stdin.on('drain', () => this.#tell((events) => events.drain()));
    child.stdout.on('data', (chunk: Buffer) => this.#tell((events) => events.stdout(chunk)));
    child.stdout.on('end', () => this.#tell((events) => events.stdoutEnd()));
    child.stderr.on('data', (chunk: Buffer) => this.#tell((events) => events.stderr(chunk)));
    child.once('error', (error: NodeJS.ErrnoException) => this.#tell((events) => events.failed(error)));
    child.once('exit', (code, signal) => this.#tell((events) => events.exited(code, signal)));
    child.once('close', () => this.#tell((events) => events.closed()));
  }

  /** Called once. Reports all earlier events at once, in their order. */
  hear(events: SpawnedEvents): void {
    this.#events = events;
    for (const tell of this.#unheard.splice(0)) tell(events);
  }

  /** Ends a process that no client uses. */
  async end(): Promise<void> {
    if (this.child.pid === undefined) return;
    this.child.stdin?.end();
    await endGroup(this.child.pid, 0);
    this.child.stdout?.destroy();
    this.child.stderr?.destroy();
  }

  #tell(tell: (events: SpawnedEvents) => void): void {
    if (this.#events === undefined) this.#unheard.push(tell);
    else tell(this.#events);
  }
}
