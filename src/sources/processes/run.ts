/**
 * Runs a command so that its caller sees no difference. The command gets this process's stdin, and its output is forwarded at
 * once. The command gets a terminal if all three streams are terminals and the optional `@lydell/node-pty` is installed.
 * Otherwise the command gets pipes, so it may omit its colours.
 */
import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { accessSync, closeSync, constants as fs, statSync } from 'node:fs';
import { constants } from 'node:os';
import { delimiter, join, resolve } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import type * as NodePty from '@lydell/node-pty';
import { send } from '../../handles/sessions.ts';
import { endWithCaller } from './ending.ts';
import type { Outcome } from './outcome.ts';
import { makePipes } from './pipes.ts';

export type RunOptions = {
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  readonly stdout: Writable;
  readonly stderr: Writable;
  /** Called with bytes when they arrive. In a terminal, all bytes come from `stdout`. */
  readonly wrote: (stream: 'stdout' | 'stderr', chunk: Buffer) => void;
  readonly timeoutMs?: number | undefined;
  /** Whether the command ends when this process gets SIGTERM or SIGHUP, or loses its terminal. Default false. */
  readonly endsWithCaller?: boolean;
  /** Called before the start if only the missing `@lydell/node-pty` prevents a terminal. */
  readonly withoutTerminal?: (() => void) | undefined;
  /**
   * Called when the command has started. `signal` sends a signal to the command. In a terminal, `type` types into the command.
   */
  readonly started?: (signal: (name: NodeJS.Signals) => void, type?: (keys: Uint8Array | string) => void) => void;
  /**
   * Called in a terminal when a person presses keys. If the function returns `held`, the keys are not typed, and the caller of
   * `run` may type the keys later.
   */
  readonly keyPressed?: ((keys: Buffer) => 'held' | void) | undefined;
};

/** The time between SIGTERM, which is sent after the time limit, and SIGKILL. */
const GRACE_MS = 5_000;
/**
 * After the command's end, its streams count as ended once they are silent for this time. Processes that the command has left
 * running may keep the streams open.
 */
const SILENCE_MS = 200;

/** Runs the command, and never rejects. */
export async function run(options: RunOptions): Promise<Outcome> {
  const problem = cannotStart(options);
  if (problem !== undefined) return problem;
  const terminal = everyStreamIsTerminal(options);
  const pty = terminal ? await loadPty() : undefined;
  if (terminal && pty === undefined) options.withoutTerminal?.();
  return pty === undefined ? behindPipes(options) : behindTerminal(options, pty);
}

async function behindPipes(options: RunOptions): Promise<Outcome> {
  // In a terminal, the command stays in the process group that gets Ctrl+C and Ctrl+Z. Without a terminal, the command gets a
  // separate process group, so that its children can be ended, too.
  const terminal = process.stdin.isTTY || process.stdout.isTTY || process.stderr.isTTY;
  const pipes = makePipes(2);
  let child: ChildProcess;
  try {
    child = spawn(options.command, options.args, {
      cwd: options.cwd,
      env: options.env,
      stdio: ['inherit', pipes?.[0]?.write ?? 'pipe', pipes?.[1]?.write ?? 'pipe'],
      detached: !terminal,
    });
  } catch (error) {
    pipes?.forEach(({ read }) => read.destroy());
    return notStarted(options.command, error);
  } finally {
    pipes?.forEach(({ write }) => closeSync(write));
  }
  const exited = new Promise<Exit | Error>((resolve) => {
    child.once('error', resolve);
    child.once('exit', (code, signal) => resolve({ code, signal }));
  });
  const { pid } = child;
  const [stdout, stderr] = [pipes?.[0]?.read ?? child.stdout, pipes?.[1]?.read ?? child.stderr];
  if (pid === undefined || stdout === null || stderr === null) {
    pipes?.forEach(({ read }) => read.destroy());
    return notStarted(options.command, await exited);
  }
  const group = terminal ? pid : -pid;
  const signal = (name: NodeJS.Signals): void => {
    // For Ctrl+C, the terminal has already sent SIGINT to both processes.
    if (terminal && name === 'SIGINT') return;
    send(group, name);
  };
  let wroteAt = performance.now();
  let readerClosed = false;
  const tee = (from: Readable, to: Writable, stream: 'stdout' | 'stderr'): Promise<void> =>
    passOn(
      from,
      to,
      (chunk) => {
        wroteAt = performance.now();
        options.wrote(stream, chunk);
      },
      () => void (readerClosed = true),
    );
  const ending = options.endsWithCaller ? endWithCaller({ signal, isGone: () => isGone(group) }) : undefined;
  const closed = Promise.all([tee(stdout, options.stdout, 'stdout'), tee(stderr, options.stderr, 'stderr')]);
  options.started?.(signal);
  const timer = endAfter(options.timeoutMs, (name) => send(group, name));
  const exit = await exited;
  timer.stop();
  if (exit instanceof Error) return notStarted(options.command, exit);
  while (!(await within(closed, SILENCE_MS))) {
    // After this process was suspended, timers fire before pending input is read, so the input must be read first.
    await new Promise(setImmediate);
    if (performance.now() - wroteAt >= SILENCE_MS && !stdout.isPaused() && !stderr.isPaused()) break;
  }
  stdout.destroy();
  stderr.destroy();
  await ending?.settled();
  ending?.release();
  return { ...outcomeOf(exit, timer.over()), ...(readerClosed ? { readerClosed } : {}) };
}

async function behindTerminal(options: RunOptions, { spawn: spawnPty }: typeof NodePty): Promise<Outcome> {
  const { stdin, stdout } = process;
  let pty: NodePty.IPty;
  try {
    pty = spawnPty(options.command, [...options.args], {
      name: options.env['TERM'] ?? 'xterm-256color',
      rows: stdout.rows,
      cols: stdout.columns,
      cwd: options.cwd,
      env: options.env,
      encoding: null,
    });
  } catch (error) {
    return notStarted(options.command, error);
  }
  let isOpen = true;
  const resize = (): void => {
    if (isOpen) pty.resize(stdout.columns, stdout.rows);
  };
  const type = (keys: Uint8Array | string): void => {
    if (isOpen) pty.write(keys as string);
  };
  const typed = (bytes: Buffer): void => {
    if (options.keyPressed?.(bytes) !== 'held') type(bytes);
  };
  // From here on, keys go to the command, whose terminal turns Ctrl+C into a signal.
  stdin.setRawMode(true).on('data', typed).resume();
  // Node's raw mode still writes \r before each \n, but the command's terminal has already added the \r. `setRawMode(false)`
  // restores every setting of the terminal.
  spawnSync('stty', ['-opost'], { stdio: ['inherit', 'ignore', 'ignore'] });
  stdout.on('resize', resize);
  // After this process has lost its terminal, the command may still write, and its output is still read for the report. The
  // streams then keep the listeners, because they can report another error later.
  let isLost = false;
  const lost = (): void => {
    isLost = true;
    if (isOpen) pty.resume();
  };
  stdin.on('error', lost);
  stdout.on('error', lost);
  const reading = pty.onData((data) => {
    // With `encoding: null`, the data are buffers, although the declared type is `string`.
    const chunk = data as unknown as Buffer;
    options.wrote('stdout', chunk);
    if (isLost || options.stdout.write(chunk)) return;
    pty.pause();
    options.stdout.once('drain', () => pty.resume());
  });
  const signal = (name: NodeJS.Signals): void => send(-pty.pid, name);
  const hangUp = (): void => {
    if (!isOpen) return;
    isOpen = false;
    // The declared type lacks this method, which closes this side of the terminal.
    (pty as NodePty.IPty & { readonly destroy: () => void }).destroy();
  };
  const ending = options.endsWithCaller ? endWithCaller({ signal, isGone: () => isGone(-pty.pid), hangUp }) : undefined;
  options.started?.(signal, type);
  const timer = endAfter(options.timeoutMs, signal);
  const ended = await new Promise<{ exitCode: number; signal?: number }>((resolve) => pty.onExit(resolve));
  isOpen = false;
  timer.stop();
  await ending?.settled();
  reading.dispose();
  stdout.off('resize', resize);
  stdin.off('data', typed).setRawMode(false).pause();
  ending?.release();
  if (!isLost) {
    stdin.off('error', lost);
    stdout.off('error', lost);
  }
  return outcomeOf({ code: ended.signal ? null : ended.exitCode, signal: nameOfSignal(ended.signal) }, timer.over());
}

type Exit = { readonly code: number | null; readonly signal: string | null };

const outcomeOf = ({ code, signal }: Exit, timedOut: boolean): Outcome =>
  signal === null ? { kind: 'exited', code: code ?? 1, timedOut } : { kind: 'killed', signal, timedOut };

/**
 * Copies data as fast as `to` accepts the data. When `to` closes, `closed` is called, and `from` is closed too, as it would be
 * without Earpiece.
 */
function passOn(from: Readable, to: Writable, seen: (chunk: Buffer) => void, closed: () => void): Promise<void> {
  const gone = (): void => void from.destroy();
  const lost = (): void => {
    closed();
    gone();
  };
  const goOn = (): void => void from.resume();
  to.on('error', lost);
  from.on('data', (chunk: Buffer) => {
    seen(chunk);
    if (to.write(chunk)) return;
    from.pause();
    to.once('drain', goOn);
  });
  return new Promise((resolve) => {
    from.once('error', gone);
    from.once('close', () => {
      to.off('drain', goOn);
      // A standard stream keeps the listener, because it can report an error after the last write.
      if (to !== process.stdout && to !== process.stderr) to.off('error', lost);
      resolve();
    });
  });
}

function endAfter(
  ms: number | undefined,
  signal: (name: NodeJS.Signals) => void,
): { readonly stop: () => void; readonly over: () => boolean } {
  if (ms === undefined) return { stop: () => undefined, over: () => false };
  let over = false;
  let timer = setTimeout(() => {
    over = true;
    signal('SIGTERM');
    // A suspended process handles the signal only after it continues.
    signal('SIGCONT');
    timer = setTimeout(() => signal('SIGKILL'), GRACE_MS);
  }, ms);
  return { stop: () => clearTimeout(timer), over: () => over };
}

/** Returns the error that a shell would report before the start; undefined if the command can start. */
function cannotStart({ command, cwd, env }: RunOptions): Outcome | undefined {
  if (!isFolder(cwd)) return { kind: 'not_started', code: 126, reason: `${cwd} is not an existing folder` };
  const candidates = command.includes('/')
    ? [resolve(cwd, command)]
    : (env['PATH'] ?? '').split(delimiter).map((folder) => join(resolve(cwd, folder), command));
  const there = candidates.filter(isFile);
  if (there.some((file) => mayRun(file))) return undefined;
  return there.length > 0 || (command.includes('/') && isFolder(resolve(cwd, command)))
    ? { kind: 'not_started', code: 126, reason: 'the file cannot be executed' }
    : { kind: 'not_started', code: 127, reason: 'the command does not exist' };
}

function notStarted(command: string, error: unknown): Outcome {
  const { code, message } = error as NodeJS.ErrnoException;
  return code === 'ENOENT'
    ? { kind: 'not_started', code: 127, reason: `the command does not exist, or its interpreter does not exist` }
    : { kind: 'not_started', code: 126, reason: `${command}: ${code ?? message}` };
}

function mayRun(file: string): boolean {
  try {
    accessSync(file, fs.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** Whether a path is a file; false in a folder that this user may not read. */
function isFile(path: string): boolean {
  try {
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

function isFolder(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch {
    return false;
  }
}

const everyStreamIsTerminal = ({ stdout, stderr }: RunOptions): boolean =>
  stdout === process.stdout && stderr === process.stderr && process.stdin.isTTY && process.stdout.isTTY && process.stderr.isTTY;

async function loadPty(): Promise<typeof NodePty | undefined> {
  try {
    const loaded: typeof NodePty & { default?: typeof NodePty } = await import('@lydell/node-pty');
    return loaded.default ?? loaded;
  } catch {
    return undefined;
  }
}

/** Whether no process has this id; for a negative id, whether the process group is empty. */
function isGone(pid: number): boolean {
  try {
    return !process.kill(pid, 0);
  } catch {
    return true;
  }
}

function nameOfSignal(number: number | undefined): string | null {
  if (!number) return null;
  return Object.entries(constants.signals).find(([, value]) => value === number)?.[0] ?? `signal ${number}`;
}

async function within(promise: Promise<unknown>, ms: number): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<boolean>((resolve) => (timer = setTimeout(resolve, ms, false)));
  try {
    return await Promise.race([promise.then(() => true), late]);
  } finally {
    clearTimeout(timer);
  }
}
