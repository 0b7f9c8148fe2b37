import type { ChildProcess } from 'node:child_process';

import { frameOf, wholeLine, type Frame } from './frames/frame.ts';
import { LineReader } from './frames/framing.ts';
import { LastWords } from './last-words.ts';
import type { Link, LinkEvents, StopOptions } from './link.ts';
import { endGroup, signalGroup } from './process-group.ts';
import { Spawned, type Command } from './spawned.ts';

const FIRST_DELAY_MS = 250;
const MAX_DELAY_MS = 30_000;
/** If a process ran for more than 10 s, Earpiece restarts it after only `FIRST_DELAY_MS`. */
const WELL_AFTER_MS = 10_000;

/** How long the process group may run after its stdin has ended. */
const EOF_GRACE_MS = 300;

/**
 * Runs a stdio server in a separate process group, so that the server's child processes can be ended too. The server's stderr
 * goes to this process's stderr. If the server ends, the reported reason includes an error line or the last lines of its stderr.
 * If this process is killed, the server's stdin ends, so the server can end by itself.
 *
 * States: running → exits by itself → waiting (backoff) → running …. If the first process never wrote a message, the link fails
 * instead of restarting. `stop` leads from any state to stopped.
 */
export class ChildServer implements Link {
  readonly #command: Command;
  readonly #events: LinkEvents;
  #first: Spawned | undefined;
  #child: ChildProcess | undefined;
  /** The frames since the last write. The next microtask writes these frames to the server's stdin in one write. */
  #batch: Buffer[] = [];
  #spoke = false;
  #failures = 0;
  #restart: NodeJS.Timeout | undefined;
  #stopped: Promise<void> | undefined;

  /** `running`: the server's first process, if it was started before this link. */
  constructor(command: Command & { readonly running?: Spawned }, events: LinkEvents) {
    this.#command = command;
    this.#first = command.running;
    this.#events = events;
  }

  get pid(): number | undefined {
    return this.#child?.pid;
  }

  start(): void {
    let running: Spawned;
    try {
      running = this.#first ?? new Spawned(this.#command);
    } catch (error) {
      // Node throws for some commands, and reports a failure of other commands by an event. In both cases, the caller gets an
      // event.
      const why = startFailure(this.#command, error as NodeJS.ErrnoException);
      const startedAt = performance.now();
      setImmediate(() => this.#ended(undefined, why, startedAt));
      return;
    }
    this.#first = undefined;
    const { child, startedAt } = running;
    this.#child = child;
    const lines = new LineReader({
      line: (bytes) => {
        // A helper process may keep the stdout of an ended server open and write to it. Such output is dropped.
        const line = this.#child === child ? wholeLine(bytes) : undefined;
        if (line === undefined) return;
        this.#spoke = true;
        this.#events.frame(frameOf(line));
      },
      tooLong: this.#events.tooLong,
    });
    const words = new LastWords();
    let ended: (() => void) | undefined;
    running.listen({
      stdout: (chunk) => lines.push(chunk),
      stdoutEnd: () => lines.end(),
      stderr: (chunk) => words.push(chunk),
      drain: () => this.#events.drain(),
      failed: (error) => {
        if (child.pid === undefined) this.#ended(child, startFailure(this.#command, error), startedAt);
      },
      exited: (code, signal) => {
        const how = signal === null ? `exit code ${code}` : `signal ${signal}`;
        ended = () => {
          clearTimeout(timer);
          const said = words.text();
          this.#ended(child, said === undefined ? how : `${how}; its stderr: "${said}"`, startedAt);
        };
        // The link waits up to 200 ms for the last output, because a helper process may keep the output open.
        const timer = setTimeout(ended, 200);
      },
      closed: () => ended?.(),
    });
  }

  /**
   * Sends a frame. Returns false if the server's stdin is full. `drain` is called when stdin accepts more. A frame is lost if no
   * process runs.
   */
  send({ bytes }: Frame): boolean {
    if (this.#batch.length === 0) queueMicrotask(() => this.#flush());
    this.#batch.push(bytes);
    return this.#child?.stdin?.writableNeedDrain !== true;
  }

  #flush(): void {
    const batch = this.#batch;
    this.#batch = [];
    const stdin = this.#child?.stdin;
    if (batch.length === 0 || !stdin || stdin.destroyed) return;
    stdin.write(batch.length === 1 ? batch[0]! : Buffer.concat(batch));
  }

  pause(): void {
    this.#child?.stdout?.pause();
  }

  resume(): void {
    this.#child?.stdout?.resume();
  }

  /** Ends the server's stdin, and then the server's process group. Resolves when no process of the group runs. */
  stop(options: StopOptions = {}): Promise<void> {
    if (options.graceMs === 0 && this.#child?.pid !== undefined) signalGroup(this.#child.pid, 'SIGTERM');
    return (this.#stopped ??= this.#stop(options));
  }

  async #stop({ graceMs = EOF_GRACE_MS }: StopOptions): Promise<void> {
    clearTimeout(this.#restart);
    const child = this.#child;
    if (child?.pid === undefined) return;
    this.#flush();
    child.stdin?.end();
    await endGroup(child.pid, graceMs);
    child.stdout?.destroy();
    child.stderr?.destroy();
  }

  #ended(child: ChildProcess | undefined, why: string, startedAt: number): void {
    if (this.#child !== child || this.#stopped) return;
    this.#child = undefined;
    if (child?.pid !== undefined) void endGroup(child.pid, 0);
    if (!this.#spoke) return this.#events.failed(why);
    if (performance.now() - startedAt > WELL_AFTER_MS) this.#failures = 0;
    const delay = Math.min(FIRST_DELAY_MS * 2 ** this.#failures, MAX_DELAY_MS);
    this.#failures += 1;
    this.#restart = setTimeout(() => {
      this.start();
      this.#events.up();
    }, delay);
    this.#events.down(why, delay);
  }
}

function startFailure({ command, cwd }: Command, error: NodeJS.ErrnoException): string {
  const what = `the command "${cut(command)}"`;
  const folder = cwd === undefined ? undefined : `its folder "${cut(cwd)}"`;
  const { code = '' } = error;
  switch (code) {
    case 'ENOENT':
      return `${what} was not found${folder === undefined ? '' : `, or ${folder} does not exist`}`;
    case 'EACCES':
      return `${what} is not executable; check its permissions`;
    case 'ENOTDIR':
      return `${folder === undefined ? '' : `${folder} or `}a part of the path of ${what} is not a folder; correct the path`;
    case 'ENAMETOOLONG':
      return `${what}${folder === undefined ? '' : ` or ${folder}`} is longer than the system accepts; use a shorter path`;
    case 'E2BIG':
      return `the arguments and the environment of ${what} are larger than the system accepts; put the values into a file`;
    case 'ERR_INVALID_ARG_VALUE':
      // Node's message contains the value, which may be a secret of the environment.
      return command === ''
        ? 'the command is empty; name a program such as "npx"'
        : `${what}, its arguments, environment or folder contain a NUL character; remove the character`;
    default:
      return error.message;
  }
}

/** The maximum number of characters of a command or a folder in a message. */
const SHOWN = 200;

const cut = (text: string): string => (text.length > SHOWN ? `${text.slice(0, SHOWN)}…` : text);
