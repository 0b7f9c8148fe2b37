import { spawn, type ChildProcess } from 'node:child_process';
import { endGroup } from './process-group.ts';

/** The command of a stdio server. `env` is added to this process's environment. The value undefined removes a variable. */
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
  /** Called when the server's stdin accepts more again. */
  readonly drain: () => void;
  /** Called when the process could not be started. */
  readonly failed: (error: NodeJS.ErrnoException) => void;
  readonly exited: (code: number | null, signal: NodeJS.Signals | null) => void;
  /** Called when the process has exited and no other process keeps its output open. */
  readonly closed: () => void;
};

/**
 * Runs a server's process in a separate process group. If the process cannot be started, either the constructor throws or
 * `failed` is called. The process may start before its link exists, so that the server starts as early as possible. The events
 * before `listen` are kept for the link.
 */
export class Spawned {
  readonly child: ChildProcess;
  readonly startedAt = performance.now();
  #events: SpawnedEvents | undefined;
  readonly #unsent: ((events: SpawnedEvents) => void)[] = [];

  constructor({ command, args = [], env, cwd }: Command) {
    const child: ChildProcess = spawn(command, [...args], {
      detached: true,
      stdio: ['pipe', 'pipe', 'pipe'],
      env: { ...process.env, ...env },
      ...(cwd !== undefined && { cwd }),
    });
    this.child = child;
    // Without free file descriptors, the child has no streams, and only `error` is emitted.
    child.stdin?.on('error', () => {}); // If the process has ended, `close` reports the end.
    child.stdin?.on('drain', () => this.#tell((events) => events.drain()));
    child.stdout?.on('data', (chunk: Buffer) => this.#tell((events) => events.stdout(chunk)));
    child.stdout?.on('end', () => this.#tell((events) => events.stdoutEnd()));
    child.stderr?.on('data', (chunk: Buffer) => this.#tell((events) => events.stderr(chunk)));
    child.once('error', (error: NodeJS.ErrnoException) => this.#tell((events) => events.failed(error)));
    child.once('exit', (code, signal) => this.#tell((events) => events.exited(code, signal)));
    child.once('close', () => this.#tell((events) => events.closed()));
  }

  /** Sets the listener, once. The listener gets all earlier events at once, in their order. */
  listen(events: SpawnedEvents): void {
    this.#events = events;
    for (const tell of this.#unsent.splice(0)) tell(events);
  }

  /** Ends a process that no link uses. */
  async end(): Promise<void> {
    if (this.child.pid === undefined) return;
    this.child.stdin?.end();
    await endGroup(this.child.pid, 0);
    this.child.stdout?.destroy();
    this.child.stderr?.destroy();
  }

  #tell(tell: (events: SpawnedEvents) => void): void {
    if (this.#events === undefined) this.#unsent.push(tell);
    else tell(this.#events);
  }
}
